// Reproduce: the command of every run, what its stages were made by, and all settings.

function showReproduce(params) {
  const panel = $("view-reproduce");
  if (!CORE.runs.length) return;
  const at = placeIn(params, "run", CORE.runs.length), run = CORE.runs[at];
  const again = run.command ? run.command + " store=" + run.store : "";
  const pack = "python -m experiments.archive store=" + run.store + " datasets=['" + CORE.datasets[run.dataset].name + "'] methods=['" + run.method + "'] out=archives";
  panel.replaceChildren(el("h2", {}, "Reproduce"),
    el("div", { class: "controls" }, choice("Run", groupedRuns(), at, (value) => go("reproduce", { run: value }))),
    el("h3", {}, "Run it again"),
    again ? command(again) : el("p", { class: "soft" }, "Its command was not recorded; its settings stand below."),
    el("h3", {}, "Keep it, and compare number by number elsewhere"),
    command(pack), command("python -m experiments.reproduce archive=archives/FILE.tar.gz"),
    el("h3", {}, "Stages"),
    el("div", { class: "wide" }, el("table", {}, el("caption", {}, "Run " + run.digest + ": what it was made of"),
      el("thead", {}, el("tr", {}, ["Stage", "Digest", "Seconds", "Commit", "Device"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, run.stages.map((stage) => el("tr", {}, el("th", { scope: "row" }, stage.stage), el("td", {}, el("code", {}, stage.digest)), el("td", { class: "number" }, String(stage.seconds)), el("td", {}, el("code", {}, stage.commit || DASH)), el("td", {}, stage.device || DASH)))))),
    el("h3", {}, "Packages"), el("p", {}, Object.entries(run.stages.length ? run.stages[run.stages.length - 1].packages : {}).map(([name, version]) => name + " " + version).join(", ") || DASH),
    el("h3", {}, "Settings"), el("pre", {}, JSON.stringify(run.settings, null, 1)));
}

function command(text) {
  const button = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); say("copied"); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(code); say("selected: copy it with the keyboard"); button.textContent = "Selected"; }
  } }, "Copy");
  const code = el("code", {}, text);
  return el("div", {}, el("pre", {}, code), button);
}
