// Compare: two runs of one dataset, question by question.

async function showCompare(params) {
  const panel = $("view-compare");
  if (CORE.runs.length < 2) {
    panel.replaceChildren(el("h2", {}, "Compare"), el("p", {}, "Two runs are needed."));
    return;
  }
  const first = placeIn(params, "a", CORE.runs.length), rivals = groupedRuns((run, at) => run.dataset === CORE.runs[first].dataset && at !== first);
  const wanted = placeIn(params, "b", CORE.runs.length, -1), second = rivals.some(([at]) => at === wanted) ? wanted : (rivals[0] || [null])[0];
  const head = el("div", { class: "controls" }, choice("Run A", groupedRuns(), first, (value) => go("compare", { a: value, metric: params.get("metric") })));
  panel.replaceChildren(el("h2", {}, "Compare"), head);
  if (second === null) {
    panel.append(el("p", {}, "No other run of " + CORE.datasets[CORE.runs[first].dataset].name + " is in this report."));
    return;
  }
  const [a, b] = await Promise.all([loaded(first), loaded(second)]);
  const names = a.rows.metrics.filter((name) => b.rows.metrics.includes(name));
  const name = names.includes(params.get("metric")) ? params.get("metric") : names.find((each) => each === "recall@5") || names[0];
  head.append(
    choice("Run B", rivals, second, (value) => go("compare", { a: first, b: value, metric: name })),
    choice("Metric", names.map((each) => [each, metricLabel(each)]), name, (value) => go("compare", { a: first, b: second, metric: value })),
    el("button", { type: "button", onclick: () => go("compare", { a: second, b: first, metric: name }) }, "Swap A and B"));
  const rows = a.data.questions.map((_, q) => [q, valueOf(a, q, name), valueOf(b, q, name)]).filter(([, x, y]) => x !== null && y !== null && x !== undefined && y !== undefined);
  if (!rows.length) {
    panel.append(el("p", {}, "No question was scored in both runs."));
    return;
  }
  const detail = el("section", { class: "detail", "aria-label": "The chosen question in both runs" }), place = el("div");
  let selected = placeIn(params, "q", a.data.questions.length, null), table = null;
  const columns = [
    { label: "Question", head: true, value: ([q]) => a.data.questions[q].text, cell: ([q]) => el("button", { type: "button", class: "link", onclick: () => { selected = q; go("compare", { a: first, b: second, metric: name, q }, true); pair(); table.draw(); attend(detail); } }, a.data.questions[q].text) },
    { label: "A", numeric: true, value: ([, x]) => x, cell: ([, x]) => percent(x, 0) },
    { label: "B", numeric: true, value: ([, , y]) => y, cell: ([, , y]) => percent(y, 0) },
    { label: "B − A", numeric: true, value: ([, x, y]) => y - x, cell: ([, x, y]) => el("span", { class: y > x ? "good" : y < x ? "bad" : null }, (y > x ? "+" : y < x ? "−" : "") + percent(Math.abs(y - x), 0)) },
  ];
  table = sortable({ caption: metricLabel(name) + " in percent, A: " + runName(a.run) + ", B: " + runName(b.run) + ".", columns, rows, sort: { at: 3, down: true }, current: ([q]) => q === selected });
  function pair() {
    if (selected === null) { detail.replaceChildren(el("p", {}, "Choose a question to see both runs side by side.")); return; }
    const question = a.data.questions[selected];
    detail.replaceChildren(el("h3", {}, question.text), facts(question, a.data), el("div", { class: "pair" },
      [a, b].map((one, at) => el("div", {}, el("h3", {}, "AB"[at] + ": " + runName(one.run)), outcomeParts(one, selected), el("p", {}, descentLink(one, selected))))));
  }
  place.append(tally(rows, name), table.node);
  panel.append(el("div", { class: "split" }, place, detail));
  if (selected !== null) table.showRow(([q]) => q === selected);
  pair();
}

function tally(rows, name) {
  const better = rows.filter(([, x, y]) => y > x).length, worse = rows.filter(([, x, y]) => y < x).length;
  const mean = rows.reduce((sum, [, x, y]) => sum + y - x, 0) / rows.length;
  return el("p", {}, el("strong", {}, metricLabel(name) + ": B is better on " + count(better) + ", A on " + count(worse) + ", equal on " + count(rows.length - better - worse) + " of " + count(rows.length) + " questions; B − A = " + (mean < 0 ? "−" : "+") + percent(Math.abs(mean), 2) + " points."), el("span", { class: "soft" }, " For a paired test: python -m experiments.compare"));
}
