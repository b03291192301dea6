// Questions: what a run made of each of them.

const asked = { text: "", bucket: "", status: "", hops: "" };

// A few metrics for narrow tables: those that papers report, else the first ones.
function telling(names) {
  const usual = ["recall@5", "em", "f1", "rouge_l"].filter((name) => names.includes(name));
  return usual.length ? usual : names.slice(0, 3);
}

async function loaded(at) {
  const run = CORE.runs[at], [rows, data] = await Promise.all([section("run-" + at), section("dataset-" + run.dataset)]);
  return { at, run, rows, data };
}

function valueOf(loadedRun, q, name) {
  const outcome = loadedRun.rows.outcomes[q];
  return outcome ? outcome.values[loadedRun.rows.metrics.indexOf(name)] : null;
}
const bucketLabel = (name) => (name ? CORE.buckets[name].label : DASH);
const distinct = (values) => [...new Set(values.filter((value) => value !== null && value !== undefined && value !== ""))];

async function showQuestions(params) {
  const panel = $("view-questions");
  if (!CORE.runs.length) return;
  const one = await loaded(placeIn(params, "run", CORE.runs.length));
  if (params.has("bucket")) asked.bucket = CORE.buckets[params.get("bucket")] ? params.get("bucket") : "";
  const picked = placeIn(params, "q", one.data.questions.length, null);
  const detail = el("section", { class: "detail", "aria-label": "The chosen question" });
  const place = el("div");
  const outcomes = one.rows.outcomes.filter(Boolean);
  let table = null, selected = picked;
  function draw() {
    const rows = one.data.questions.map((_, q) => q).filter((q) => matches(one, q));
    const names = telling(one.rows.metrics);
    const columns = [
      { label: "Question", head: true, value: (q) => one.data.questions[q].text, cell: (q) => el("button", { type: "button", class: "link", onclick: () => { selected = q; go("questions", { run: one.at, q }, true); open(); table.draw(); attend(detail); } }, one.data.questions[q].text) },
      { label: "Hops", numeric: true, value: (q) => one.data.questions[q].hops, cell: (q) => one.data.questions[q].hops ?? DASH },
      { label: "Answer", value: (q) => (one.rows.outcomes[q] || {}).answer, cell: (q) => short((one.rows.outcomes[q] || {}).answer) },
      ...names.map((name) => ({ label: metricLabel(name), numeric: true, value: (q) => valueOf(one, q, name), cell: (q) => percent(valueOf(one, q, name), 0) })),
      { label: "Outcome", value: (q) => bucketLabel((one.rows.outcomes[q] || {}).bucket), cell: (q) => bucketLabel((one.rows.outcomes[q] || {}).bucket) },
    ].filter((column) => column.label === "Question" || rows.some((q) => ![null, undefined, DASH].includes(column.value(q))));
    table = sortable({ caption: count(rows.length) + " of " + count(one.data.questions.length) + " questions of " + fullName(one.run) + ". Scores in percent.", columns, rows, current: (q) => q === selected });
    place.replaceChildren(table.node);
    say(rows.length + " questions");
  }
  function open() { showQuestion(detail, one, selected); }
  const set = (key) => (value) => { asked[key] = value; draw(); };
  panel.replaceChildren(
    el("h2", {}, "Questions"),
    el("div", { class: "controls" },
      choice("Run", groupedRuns(), one.at, (value) => go("questions", { run: value, q: selected })),
      search("Text contains", asked.text, set("text")),
      choice("What became of it", [["", "anything"], ...distinct(outcomes.map((each) => each.bucket)).map((name) => [name, bucketLabel(name)])], asked.bucket, set("bucket")),
      choice("Status", [["", "any"], ...distinct(outcomes.map((each) => each.status)).map((name) => [name, name])], asked.status, set("status")),
      choice("Hops", [["", "any"], ...distinct(one.data.questions.map((each) => each.hops)).sort().map((hops) => [hops, hops])], asked.hops, set("hops"))),
    el("div", { class: "split" }, place, detail));
  draw();
  if (picked !== null) table.showRow((q) => q === picked);
  open();
}

const short = (text, most = 90) => (text === null || text === undefined ? DASH : text.length > most ? text.slice(0, most - 1) + "…" : text);

function matches(one, q) {
  const question = one.data.questions[q], outcome = one.rows.outcomes[q] || {};
  const text = (question.text + " " + question.id + " " + question.answers.join(" ") + " " + (outcome.answer || "")).toLowerCase();
  return text.includes(asked.text.toLowerCase()) && (!asked.bucket || outcome.bucket === asked.bucket) && (!asked.status || outcome.status === asked.status) && (!asked.hops || String(question.hops) === asked.hops);
}

function showQuestion(place, one, q) {
  if (q === null || !one.data.questions[q]) {
    place.replaceChildren(el("p", {}, "Choose a question: what was retrieved, answered and scored for it is shown here."));
    return;
  }
  const question = one.data.questions[q];
  place.replaceChildren(
    el("h3", {}, question.text), facts(question, one.data),
    el("h3", {}, fullName(one.run)), ...outcomeParts(one, q),
    el("p", {}, ...descentLink(one, q)),
    el("h3", {}, "The same question elsewhere"), peers(one, q));
}

function facts(question, data) {
  const bits = ["id " + question.id, question.hops ? question.hops + " hops" : null, question.kind || null, question.document ? "of document " + question.document : null, question.answerable ? null : "the corpus does not tell"].filter(Boolean);
  const lost = question.lost.length ? el("p", { class: "bad" }, "Gold that is no passage of the corpus: " + question.lost.join(", ")) : null;
  return el("div", {},
    el("p", { class: "soft" }, bits.join(" · ")),
    el("p", {}, el("strong", {}, "Gold answers: "), question.answers.join(" | ") || DASH),
    question.gold.length ? el("details", {}, el("summary", {}, question.gold.length + " gold passages"), el("ol", { class: "passages" }, question.gold.map((at) => passage(data.passages[at], false)))) : null, lost);
}

function passage([id, title, text], gold, score = null) {
  const head = el("summary", {}, title || short(text, 70), el("span", { class: "soft" }, " " + id + (score === null ? "" : " · " + score)));
  return el("li", {}, el("details", { class: gold ? "gold" : null }, head, el("p", {}, text)));
}

function outcomeParts(one, q) {
  const outcome = one.rows.outcomes[q], question = one.data.questions[q];
  if (!outcome) return [el("p", { class: "bad" }, "This run has no result for the question.")];
  const scores = one.rows.metrics.map((name, at) => metricLabel(name) + " " + percent(outcome.values[at], 0)).filter((text) => !text.endsWith(DASH));
  return [
    outcome.status ? el("p", {}, el("strong", {}, "Answer: "), outcome.answer ?? DASH, el("span", { class: outcome.status === "ok" ? "soft" : "bad" }, " " + outcome.status + (outcome.error ? ": " + outcome.error : ""))) : el("p", { class: "soft" }, "Not answered."),
    outcome.bucket ? el("p", {}, el("strong", {}, "What became of it: "), bucketLabel(outcome.bucket), el("span", { class: "soft" }, " (" + CORE.buckets[outcome.bucket].rule + ")")) : null,
    el("p", { class: "soft" }, scores.join(" · ")),
    outcome.ranking.length ? el("ol", { class: "passages" }, outcome.ranking.map((at, rank) => passage(one.data.passages[at], question.gold.includes(at), outcome.scores[rank]))) : el("p", {}, "Nothing was retrieved."),
    outcome.trace ? el("details", {}, el("summary", {}, "Trace of the agent"), el("pre", {}, outcome.trace)) : null,
  ].filter(Boolean);
}

function descentLink(one, q) {
  if (one.run.tree === null || !one.rows.descents[q]) return [];
  return [el("button", { type: "button", onclick: () => go("trees", { tree: one.run.tree, run: one.at, q }) }, "Replay the descent in the tree")];
}

function peers(one, q) {
  const place = el("div", {}, "…");
  const others = groupedRuns((run) => run.dataset === one.run.dataset);
  Promise.all(others.map(([at]) => loaded(at))).then((runs) => {
    const names = telling(distinct(runs.flatMap((each) => each.rows.metrics)));
    place.replaceChildren(el("div", { class: "wide" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Method", "Answer", ...names.map(metricLabel)].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, runs.map((each) => el("tr", { "aria-current": each.at === one.at ? "true" : null },
        el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => go("questions", { run: each.at, q }) }, runName(each.run))),
        el("td", {}, short((each.rows.outcomes[q] || {}).answer, 60)),
        names.map((name) => el("td", { class: "number" }, percent(valueOf(each, q, name), 0)))))))));
  });
  return place;
}
