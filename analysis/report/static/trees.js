// Trees: an overview drawn on a canvas, an outline for the keyboard, the chosen node, and the replay of a search.

const ROW = 28.8, LAYER = 34; // pixels: 1.8rem of an outline row, a layer of the overview

// The shape of a tree from its parents: children in the order of their ids, leaves in the order in which they hang.
function shapeOf(data) {
  const parents = Int32Array.from(data.parents), n = parents.length, leaves = data.passages.length, root = n - 1;
  const counts = new Int32Array(n), firstChild = new Int32Array(n + 1), heights = new Int32Array(n);
  for (let node = 0; node < n; node++) if (parents[node] >= 0) firstChild[parents[node] + 1]++;
  for (let node = 0; node < n; node++) firstChild[node + 1] += firstChild[node];
  const children = new Int32Array(n), filled = firstChild.slice();
  for (let node = 0; node < n; node++) if (parents[node] >= 0) children[filled[parents[node]]++] = node;
  for (let node = 0; node < n; node++) {
    if (node < leaves) counts[node] = 1;
    const above = parents[node];
    if (above >= 0) { counts[above] += counts[node]; heights[above] = heights[node] + 1; } // a parent's id is larger
  }
  const start = new Int32Array(n);
  for (let node = root; node >= 0; node--) {
    let at = start[node];
    for (let c = firstChild[node]; c < firstChild[node + 1]; c++) { start[children[c]] = at; at += counts[children[c]]; }
  }
  const layers = Array.from({ length: heights[root] + 1 }, () => []);
  for (let node = 0; node < n; node++) layers[heights[node]].push(node);
  for (const layer of layers) layer.sort((a, b) => start[a] - start[b]);
  const kids = (node) => children.subarray(firstChild[node], firstChild[node + 1]);
  const path = (node) => { const found = [node]; while (parents[found[0]] >= 0) found.unshift(parents[found[0]]); return found; };
  return { data, parents, n, leaves, root, counts, heights, start, layers, kids, path };
}

const shapes = new Map();
async function treeShape(at) {
  if (!shapes.has(at)) shapes.set(at, section("tree-" + at).then(shapeOf));
  return shapes.get(at);
}

function nodeName(shape, node) {
  const label = shape.data.labels[node] || shape.data.passages[node] || "";
  if (node < shape.leaves) return label;
  const size = count(shape.counts[node]) + " passages";
  return label ? label + " (" + size + ")" : "node " + node + " (" + size + ")";
}

// What is marked: nodes that the step of a replay kept, gold leaves and the nodes above them.
function emptyMarks() { return { kept: new Set(), gold: new Set(), above: new Set() }; }

let currentOverview = null;
addEventListener("resize", () => currentOverview && currentOverview.draw());
document.addEventListener("theme", () => currentOverview && currentOverview.draw());

async function showTrees(params) {
  const panel = $("view-trees");
  if (!CORE.trees.length) {
    panel.replaceChildren(el("h2", {}, "Trees"), el("p", {}, "No run in this report has an abstract tree."));
    return;
  }
  const at = placeIn(params, "tree", CORE.trees.length), shape = await treeShape(at);
  const view = { at, shape, params, selected: placeIn(params, "node", shape.n, shape.root), marks: emptyMarks(), zoom: shape.root };
  const users = CORE.runs.map((run, place) => [run, place]).filter(([run]) => run.tree === at);
  view.texts = new Map();
  if (users.length) for (const [id, title, text] of (await section("dataset-" + users[0][0].dataset)).passages) view.texts.set(id, [title, text]);
  view.overview = currentOverview = overview(view);
  view.outline = outline(view);
  view.detail = el("section", { class: "detail", "aria-label": "The chosen node" });
  view.select = (node, { reveal = true, keep = false } = {}) => {
    view.selected = node;
    if (reveal) view.outline.reveal(node);
    if (!keep) go("trees", { ...Object.fromEntries(params), tree: at, node }, true);
    view.overview.draw();
    nodeDetail(view);
  };
  panel.replaceChildren(el("h2", {}, "Trees"),
    el("div", { class: "controls" }, choice("Tree", CORE.trees.map((tree, place) => [place, tree.name + " (" + count(tree.nodes) + " nodes)"]), at, (value) => go("trees", { tree: value })), nodeSearch(view)),
    view.found = el("div"), view.overview.node, replayControls(view, users),
    el("div", { class: "split" }, el("div", {}, view.outline.node), view.detail));
  view.overview.draw();
  view.outline.reveal(view.selected);
  nodeDetail(view);
  if (params.has("q") && view.startReplay) await view.startReplay(placeIn(params, "run", CORE.runs.length), placeIn(params, "q", Infinity));
}

// The overview: one band a layer, the root on top, widths by the number of leaves. A click chooses, a double click zooms.
function overview(view) {
  const { shape } = view, canvas = el("canvas", { role: "img", "aria-label": "Overview of the tree, the root on top; every node is as wide as its number of passages. The outline below holds the same nodes for the keyboard." });
  const hint = el("p", { class: "soft" }, " "), bands = shape.heights[shape.root] + 1;
  const whole = el("button", { type: "button", onclick: () => zoom(shape.root) }, "Whole tree");
  const into = el("button", { type: "button", onclick: () => zoom(view.selected) }, "Zoom to the chosen node");
  function zoom(node) {
    view.zoom = node < shape.leaves ? shape.parents[node] < 0 ? node : shape.parents[node] : node;
    draw();
    say("overview shows " + nodeName(shape, view.zoom));
  }
  const range = () => [shape.start[view.zoom], shape.start[view.zoom] + shape.counts[view.zoom]];
  function draw() {
    const css = getComputedStyle(document.documentElement), colour = (name) => css.getPropertyValue("--" + name).trim();
    const width = canvas.clientWidth || 900, ratio = window.devicePixelRatio || 1;
    canvas.style.height = bands * LAYER + "px";
    canvas.width = width * ratio;
    canvas.height = bands * LAYER * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const [low, high] = range(), scale = width / (high - low), onPath = new Set(shape.path(view.selected));
    for (let height = 0; height < bands; height++) {
      const layer = shape.layers[height], top = (bands - 1 - height) * LAYER;
      let last = -1;
      for (let place = firstFrom(shape, layer, low); place < layer.length; place++) {
        const node = layer[place], x = (shape.start[node] - low) * scale, wide = shape.counts[node] * scale;
        if (x > width) break;
        const marked = onPath.has(node) || view.marks.kept.has(node) || view.marks.gold.has(node) || view.marks.above.has(node);
        if (!marked && wide < 1 && x - last < 1) continue; // narrower than a pixel: one stands for its neighbours
        last = x;
        pen.fillStyle = fill(node, onPath, colour);
        pen.fillRect(x, top, Math.max(marked ? 2 : 0.7, wide - (wide > 3 ? 1 : 0)), LAYER - 2);
        if (wide > 50) {
          pen.fillStyle = marked ? "#111111" : colour("ink");
          pen.fillText(clipped(pen, nodeName(shape, node), wide - 8), Math.max(0, x) + 4, top + LAYER / 2 - 1);
        }
      }
    }
    whole.disabled = view.zoom === shape.root;
  }
  function fill(node, onPath, colour) {
    if (node === view.selected) return colour("pink");
    if (view.marks.kept.has(node)) return colour("orange");
    if (view.marks.gold.has(node) || view.marks.above.has(node)) return colour("sky");
    return onPath.has(node) ? colour("pink") : colour("node");
  }
  function under(event) {
    const box = canvas.getBoundingClientRect(), height = bands - 1 - Math.floor((event.clientY - box.top) / LAYER);
    if (height < 0 || height >= bands) return null;
    const [low, high] = range(), leaf = low + ((event.clientX - box.left) / box.width) * (high - low);
    const layer = shape.layers[height], place = firstFrom(shape, layer, Math.floor(leaf));
    const node = layer[place];
    return node !== undefined && shape.start[node] <= leaf ? node : null;
  }
  canvas.addEventListener("mousemove", (event) => { const node = under(event); hint.textContent = node === null ? " " : "height " + shape.heights[node] + ": " + nodeName(shape, node); });
  canvas.addEventListener("click", (event) => { const node = under(event); if (node !== null) view.select(node); });
  canvas.addEventListener("dblclick", (event) => { const node = under(event); if (node !== null) zoom(node); });
  const legend = el("ul", { class: "legend" }, [["pink", "chosen node and its path"], ["orange", "kept by the search in this step"], ["sky", "gold passage, or above one"]].map(([colour, text]) => el("li", {}, el("i", { style: "background:var(--" + colour + ")" }), text)));
  return { node: el("div", {}, canvas, hint, el("div", { class: "controls" }, whole, into, legend)), draw, zoom };
}

// The first node of a layer (sorted by its first leaf) that reaches beyond a leaf.
function firstFrom(shape, layer, leaf) {
  let low = 0, high = layer.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shape.start[layer[middle]] + shape.counts[layer[middle]] <= leaf) low = middle + 1; else high = middle;
  }
  return low;
}

function clipped(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const fits = Math.floor((text.length * width) / pen.measureText(text).width) - 1;
  return fits > 1 ? text.slice(0, fits) + "…" : "";
}

// The outline: a tree widget of which only the rows in sight exist.
function outline(view) {
  const { shape } = view, opened = new Set([shape.root]);
  let rows = [], active = 0;
  const space = el("div"), box = el("div", { class: "tree", role: "tree", tabindex: 0, "aria-label": "Outline of the tree. Arrow keys move, open and close; Enter chooses." }, space);
  const depthOf = (node) => shape.heights[shape.root] - shape.heights[node] + 1;
  function flatten() {
    rows = [];
    const waiting = [shape.root];
    while (waiting.length) {
      const node = waiting.pop();
      rows.push(node);
      if (opened.has(node)) { const kids = shape.kids(node); for (let at = kids.length - 1; at >= 0; at--) waiting.push(kids[at]); }
    }
    space.style.height = rows.length * ROW + "px";
  }
  function draw() {
    const from = Math.max(0, Math.floor(box.scrollTop / ROW) - 8), to = Math.min(rows.length, from + Math.ceil((box.clientHeight || 430) / ROW) + 16);
    const shown = [];
    for (let at = from; at < to; at++) shown.push(rowOf(at));
    if (active < from || active >= to) { if (rows.length) shown.push(rowOf(active)); } // what the keyboard points at always exists
    space.replaceChildren(...shown);
    box.setAttribute("aria-activedescendant", "node-" + rows[active]);
  }
  function rowOf(at) {
    const node = rows[at], inner = node >= shape.leaves, siblings = node === shape.root ? [node] : shape.kids(shape.parents[node]);
    const flags = [view.marks.kept.has(node) ? el("span", { class: "flag kept" }, "kept") : null, view.marks.gold.has(node) ? el("span", { class: "flag goldflag" }, "gold") : view.marks.above.has(node) ? el("span", { class: "flag goldflag" }, "above gold") : null];
    return el("div", { id: "node-" + node, role: "treeitem", class: at === active ? "active" : null, "aria-level": depthOf(node), "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(node) + 1, "aria-expanded": inner ? String(opened.has(node)) : null, "aria-selected": String(node === view.selected), style: "top:" + at * ROW + "px;padding-left:" + (depthOf(node) - 1) * 1.1 + "rem", onclick: (event) => { active = at; if (event.target.className === "toggle") toggle(node); view.select(node, { reveal: false }); draw(); } },
      el("span", { class: "toggle", "aria-hidden": "true" }, inner ? (opened.has(node) ? "▾" : "▸") : "·"), flags, nodeName(shape, node));
  }
  function toggle(node, open = !opened.has(node)) {
    if (node < shape.leaves) return;
    if (open) opened.add(node); else opened.delete(node);
    flatten();
  }
  function move(to) {
    active = Math.max(0, Math.min(rows.length - 1, to));
    const top = active * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    draw();
  }
  function reveal(node) {
    for (const above of shape.path(node).slice(0, -1)) opened.add(above);
    flatten();
    move(rows.indexOf(node));
  }
  box.addEventListener("scroll", draw);
  box.addEventListener("keydown", (event) => {
    const node = rows[active], page = Math.floor(box.clientHeight / ROW) - 1;
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1, PageDown: active + page, PageUp: active - page };
    if (event.key in moves) move(moves[event.key]);
    else if (event.key === "ArrowRight") { if (node >= shape.leaves && !opened.has(node)) { toggle(node, true); draw(); } else if (node >= shape.leaves) move(active + 1); }
    else if (event.key === "ArrowLeft") { if (opened.has(node)) { toggle(node, false); draw(); } else if (node !== shape.root) move(rows.indexOf(shape.parents[node])); }
    else if (event.key === "Enter" || event.key === " ") { view.select(node, { reveal: false }); draw(); }
    else return;
    event.preventDefault();
  });
  flatten();
  return { node: box, reveal, draw };
}

function nodeDetail(view) {
  const { shape, selected: node } = view, inner = node >= shape.leaves, above = shape.path(node).slice(0, -1);
  const button = (other) => el("button", { type: "button", class: "link", onclick: () => view.select(other) }, nodeName(shape, other));
  const label = shape.data.labels[node];
  const parts = [el("h3", {}, inner ? "Node " + node : label || shape.data.passages[node]), el("p", { class: "soft" }, "height " + shape.heights[node] + " · " + (inner ? count(shape.counts[node]) + " passages · " + shape.kids(node).length + " children" : "passage " + shape.data.passages[node]))];
  if (inner && label) parts.push(el("p", {}, el("strong", {}, CORE.trees[view.at].abstract ? "Abstract: " : "Passages near its vector: "), label));
  if (!inner) { const found = view.texts.get(shape.data.passages[node]); parts.push(found ? el("p", {}, found[1]) : el("p", { class: "soft" }, "Its text is not in this report: no run ranked it high.")); }
  if (above.length) parts.push(el("h3", {}, "Path from the root"), el("ol", { class: "passages" }, above.map((other) => el("li", {}, button(other)))));
  if (inner) parts.push(el("h3", {}, "Children"), some(Array.from(shape.kids(node)), button), el("h3", {}, "Passages below"), some(leavesUnder(shape, node), button));
  view.detail.replaceChildren(...parts);
}

function some(nodes, button) {
  const list = el("ul", { class: "plain" }), more = el("button", { type: "button" });
  let shown = 0;
  more.addEventListener("click", () => add(200));
  function add(number) {
    list.append(...nodes.slice(shown, shown + number).map((node) => el("li", {}, button(node))));
    shown = Math.min(nodes.length, shown + number);
    more.hidden = shown >= nodes.length;
    more.textContent = "Show more (" + count(nodes.length - shown) + " left)";
  }
  add(25);
  return el("div", {}, list, more);
}

function leavesUnder(shape, node) {
  const layer = shape.layers[0], from = firstFrom(shape, layer, shape.start[node]);
  return layer.slice(from, from + shape.counts[node]);
}

function nodeSearch(view) {
  return search("Nodes whose text contains", "", (value) => {
    const text = value.trim().toLowerCase(), most = 200, found = [];
    if (!text) { view.found.replaceChildren(); return; }
    for (let node = view.shape.root; node >= 0; node--) if ((view.shape.data.labels[node] || "").toLowerCase().includes(text) || String(view.shape.data.passages[node] || "").toLowerCase() === text) found.push(node);
    const button = (node) => el("button", { type: "button", class: "link", onclick: () => view.select(node) }, "height " + view.shape.heights[node] + ": " + nodeName(view.shape, node));
    view.found.replaceChildren(el("p", {}, el("strong", {}, count(found.length) + " nodes, higher ones first")), some(found.slice(0, most), button));
    say(found.length + " nodes found");
  });
}

// The replay of a search: which nodes each layer kept, and where the way to a gold passage was left.
function replayControls(view, users) {
  const able = users.filter(([run]) => run.beam), place = el("div"), log = el("div");
  if (!able.length) return el("p", { class: "soft" }, "No search in this tree can be replayed: the vectors of its questions are not in the store.");
  let levels = null, step = 0, one = null, q = null;
  const back = el("button", { type: "button", onclick: () => show(step - 1) }, "Layer above");
  const next = el("button", { type: "button", onclick: () => show(step + 1) }, "Layer below");
  const stop = el("button", { type: "button", onclick: () => { levels = null; view.marks = emptyMarks(); log.replaceChildren(); refresh(); update(); } }, "End the replay");
  function refresh() { view.overview.draw(); view.outline.draw(); }
  function update() {
    back.disabled = !levels || step === 0;
    next.disabled = !levels || step === levels.length - 1;
    stop.disabled = !levels;
  }
  view.startReplay = async (run, question) => {
    one = await loaded(able.some(([, at]) => at === run) ? run : able[0][1]);
    const known = one.rows.descents.map((each, at) => (each ? at : -1)).filter((at) => at >= 0);
    q = known.includes(question) ? question : known[0];
    place.replaceChildren(
      choice("Replay a run", able.map(([each, at]) => [at, runName(each) + ", beam " + each.beam]), one.at, (value) => view.startReplay(Number(value), q)),
      choice("Question", known.map((at) => [at, short(one.data.questions[at].text, 80)]), q, (value) => view.startReplay(one.at, Number(value))), back, next, stop);
    levels = one.rows.descents[q];
    go("trees", { tree: view.at, node: view.selected, run: one.at, q }, true);
    show(0);
  };
  function show(to) {
    step = Math.max(0, Math.min(levels.length - 1, to));
    const { shape } = view, [height, compared, kept, similarity] = levels[step], question = one.data.questions[q];
    const gold = question.gold.map((at) => shape.data.passages.indexOf(one.data.passages[at][0])).filter((leaf) => leaf >= 0);
    view.marks = { kept: new Set(kept), gold: new Set(gold), above: new Set(gold.flatMap((leaf) => shape.path(leaf).slice(0, -1))) };
    const button = (node) => el("button", { type: "button", class: "link", onclick: () => view.select(node) }, nodeName(shape, node));
    log.replaceChildren(
      el("p", { role: "status" }, el("strong", {}, "Height " + height + ": " + count(compared) + " nodes compared, " + kept.length + " kept. ")),
      el("ul", { class: "plain" }, gold.map((leaf) => el("li", {}, el("span", { class: "flag goldflag" }, "gold"), button(leaf), " " + fate(shape, leaf)))),
      el("details", {}, el("summary", {}, "The " + kept.length + " kept nodes and their similarity to the question"), el("ol", { class: "passages" }, kept.map((node, at) => el("li", {}, similarity[at].toFixed(3) + " ", view.marks.above.has(node) || view.marks.gold.has(node) ? el("span", { class: "flag goldflag" }, node < shape.leaves ? "gold" : "above gold") : null, button(node))))));
    refresh();
    update();
    say("height " + height + ", " + kept.length + " nodes kept");
  }
  function fate(shape, leaf) {
    const path = shape.path(leaf).reverse(); // by height
    const lost = levels.find(([height, , kept]) => !kept.includes(path[height]));
    return lost ? "left the beam at height " + lost[0] : "was reached";
  }
  place.append(el("button", { type: "button", onclick: () => view.startReplay(able[0][1], 0) }, "Replay a search in this tree"));
  update();
  place.className = "controls";
  return el("section", { "aria-label": "Replay of a search" }, place, log);
}
