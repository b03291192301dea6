// Results: one row a run, filtered by dataset and name, sorted by any column.

const chosen = { dataset: "", text: "", metrics: null };

function resultColumns() {
  const named = CORE.metrics.filter((each) => chosen.metrics.has(each.name));
  return [
    { label: "Dataset", value: (run) => CORE.datasets[run.dataset].name, cell: (run) => CORE.datasets[run.dataset].name },
    { label: "Method", head: true, value: runName, cell: (run) => el("button", { type: "button", class: "link", title: "Look at its questions", onclick: () => go("questions", { run: CORE.runs.indexOf(run) }) }, runName(run)) },
    ...named.map((each) => ({ label: each.label, numeric: true, hint: "Sort by " + each.label, value: (run) => (run.metrics[each.name] || [null])[0], cell: (run) => scoreCell(run, each.name) })),
    { label: "n", numeric: true, hint: "Questions in the mean / failed / excluded, of the first metric shown", value: (run) => ((named[0] && run.metrics[named[0].name]) || [0, 0, 0, null])[3], cell: (run) => countsCell(run, named[0]) },
    ...CORE.costs.map((label, at) => ({ label, numeric: true, value: (run) => run.costs[at][1], cell: (run) => run.costs[at][0] })).filter((_, at) => CORE.runs.some((run) => run.costs[at][1])),
    { label: "Status", value: (run) => run.status, cell: (run) => el("span", { class: run.ok ? null : "bad" }, run.status) },
  ];
}

function bestOf(name, dataset) {
  const peers = shownRuns().filter((run) => run.dataset === dataset && run.metrics[name] && run.metrics[name][0] !== null);
  if (peers.length < 2 || new Set(peers.map((run) => run.metrics[name][3])).size > 1) return null; // only equal questions compare
  return Math.max(...peers.map((run) => run.metrics[name][0]));
}

function scoreCell(run, name) {
  const found = run.metrics[name];
  if (!found || found[0] === null) return DASH;
  const [mean, low, high] = found;
  const half = low === null ? "" : " ±" + percent((high - low) / 2);
  return el("span", { class: mean === bestOf(name, run.dataset) ? "best" : null }, percent(mean), half && el("span", { class: "soft" }, half));
}

function countsCell(run, first) {
  const found = first && run.metrics[first.name];
  return found ? found.slice(3).map(count).join(" / ") : DASH;
}

function shownRuns() {
  const text = chosen.text.toLowerCase();
  return CORE.runs.filter((run) => (chosen.dataset === "" || run.dataset === Number(chosen.dataset)) && fullName(run).toLowerCase().includes(text));
}

function showResults() {
  chosen.metrics = chosen.metrics || new Set(CORE.metrics.map((each) => each.name));
  const panel = $("view-results"), place = el("div");
  function draw() {
    const runs = shownRuns(), columns = resultColumns();
    const table = sortable({ caption: count(runs.length) + " of " + count(CORE.runs.length) + " runs. Scores in percent, ± half the 95 % interval over questions; n: in the mean / failed / excluded. The best of a dataset is underlined where all scored equally many questions.", columns, rows: runs });
    place.replaceChildren(table.node, saveButton("Save as CSV", "results.csv", () => asCsv(columns, table.rows())));
    say(runs.length + " runs");
  }
  const datasets = [["", "all datasets"], ...CORE.datasets.map((each, at) => [at, each.name + " (" + count(each.questions) + " questions)"])];
  const boxes = CORE.metrics.map((each) => el("label", {}, el("input", { type: "checkbox", checked: chosen.metrics.has(each.name), onchange: (event) => { chosen.metrics[event.target.checked ? "add" : "delete"](each.name); draw(); } }), each.label));
  panel.replaceChildren(
    el("h2", {}, "Results"), ...CORE.notes.map((note) => el("p", { class: "soft" }, note)),
    el("div", { class: "controls" },
      choice("Dataset", datasets, chosen.dataset, (value) => { chosen.dataset = value; draw(); }),
      search("Name contains", chosen.text, (value) => { chosen.text = value; draw(); }),
      el("fieldset", {}, el("legend", {}, "Metrics"), el("div", { class: "choices" }, boxes))),
    place,
    ...[...new Set(CORE.runs.map((run) => run.note).filter(Boolean))].map((note) => el("p", { class: "soft" }, note)));
  draw();
}
