// Failures: what became of the answers of every run, as bars and as a table that leads to the questions.

// grey for what is correct, then Okabe and Ito's colours, light enough for dark figures on them
const BUCKET_COLOURS = ["#e4e4e4", "#56b4e9", "#e69f00", "#cc79a7", "#f0e442", "#2fb38c", "#d98850", "#8fa6ff", "#b0b0b0", "#c9a66b", "#9fd0c0"];

async function showFailures() {
  const panel = $("view-failures");
  const names = ["correct", ...Object.keys(CORE.buckets).filter((name) => name !== "correct")];
  const runs = [];
  for (let at = 0; at < CORE.runs.length; at++) {
    const one = await loaded(at), found = {};
    for (const outcome of one.rows.outcomes) if (outcome && outcome.bucket) found[outcome.bucket] = (found[outcome.bucket] || 0) + 1;
    if (Object.keys(found).length) runs.push({ at, run: one.run, found, total: Object.values(found).reduce((x, y) => x + y, 0) });
  }
  if (!runs.length) {
    panel.replaceChildren(el("h2", {}, "Failures"), el("p", {}, "No run in this report has judged answers: they were run for retrieval alone (answers=0)."));
    return;
  }
  const present = names.filter((name) => name === "correct" || runs.some((each) => each.found[name]));
  const colours = Object.fromEntries(present.map((name, at) => [name, BUCKET_COLOURS[at]]));
  const bars = el("table", {}, el("caption", {}, "Share of the judged answers in each class; the same numbers stand in the table below."), el("tbody", {}, runs.map((each) => el("tr", {},
    el("th", { scope: "row" }, fullName(each.run), el("div", { class: "soft" }, "n = " + count(each.total))),
    el("td", {}, el("div", { class: "bar", role: "img", "aria-label": present.map((name) => bucketLabel(name) + " " + percent((each.found[name] || 0) / each.total) + " %").join(", ") },
      present.filter((name) => each.found[name]).map((name) => {
        const share = each.found[name] / each.total;
        return el("span", { style: "width:" + 100 * share + "%;background:" + colours[name], title: bucketLabel(name) + ": " + each.found[name] }, share >= 0.06 ? percent(share, 0) : "");
      })))))));
  const columns = [
    { label: "Run", head: true, value: (each) => fullName(each.run), cell: (each) => fullName(each.run) },
    { label: "n", numeric: true, value: (each) => each.total, cell: (each) => count(each.total) },
    ...present.map((name) => ({ label: bucketLabel(name), numeric: true, hint: CORE.buckets[name].rule, value: (each) => each.found[name] || 0, cell: (each) => each.found[name] ? el("button", { type: "button", class: "link", title: "Look at these questions", onclick: () => go("questions", { run: each.at, bucket: name }) }, count(each.found[name])) : "0" })),
  ];
  panel.replaceChildren(el("h2", {}, "Failures"),
    el("ul", { class: "legend" }, present.map((name) => el("li", {}, el("i", { style: "background:" + colours[name] }), bucketLabel(name), el("span", { class: "soft" }, ": " + CORE.buckets[name].rule)))),
    el("div", { class: "wide" }, bars), sortable({ caption: "Answers in each class; each stands in the first that holds of it. A number leads to its questions.", columns, rows: runs }).node);
}
