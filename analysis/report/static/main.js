// Tabs, theme, and the view that the address names.

const VIEWS = { results: showResults, questions: showQuestions, compare: showCompare, failures: showFailures, trees: showTrees, figures: () => {}, reproduce: showReproduce };
async function render() {
  const { view: named, params } = address();
  const view = VIEWS[named] ? named : "results";
  for (const name of Object.keys(VIEWS)) {
    $("view-" + name).hidden = name !== view;
    $("tab-" + name).setAttribute("aria-selected", String(name === view));
    $("tab-" + name).tabIndex = name === view ? 0 : -1;
  }
  const key = params.toString();
  if (location.hash) visited.set(view, location.hash);
  if (drawn.get(view) === key) return;
  drawn.set(view, key);
  await VIEWS[view](params);
}

function open(view) { location.hash = visited.get(view) || "#" + view; }

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", "Switch to the " + (theme === "dark" ? "light" : "dark") + " theme");
  document.dispatchEvent(new Event("theme"));
}

function tabKeys(event) {
  const names = Object.keys(VIEWS), at = names.findIndex((name) => "tab-" + name === document.activeElement.id);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const name = names[(to + names.length) % names.length];
  open(name);
  $("tab-" + name).focus();
}

async function start() {
  CORE = await section("core");
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("tabs").addEventListener("keydown", tabKeys);
  for (const name of Object.keys(VIEWS)) $("tab-" + name).addEventListener("click", () => open(name));
  if (!CORE.figures.length) $("view-figures").append(el("p", {}, "This report was made without figures."));
  addEventListener("hashchange", render);
  await render();
  if (address().view && address().view !== "results") { showResults(); drawn.set("results", ""); } // for printing
  document.documentElement.dataset.ready = "true";
}
