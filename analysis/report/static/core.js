"use strict";
// Elements, packed data, the address, sortable tables. Texts of the data reach the page through textContent alone.

const $ = (id) => document.getElementById(id);
const DASH = "–";
const PAGE = 100; // rows of a table at once

function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key === "value" || key === "checked" || key === "disabled" || key === "selected") node[key] = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

function say(text) { $("status").textContent = text; }

const unpacked = new Map();
function section(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack($("data-" + name).textContent));
  return unpacked.get(name);
}
function unpack(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

let CORE = null; // the section that everything needs

function runName(run) {
  const seed = CORE.runs.some((other) => other.method === run.method && other.dataset === run.dataset && other.seed !== run.seed);
  return run.method + (seed ? " (seed " + run.seed + ")" : "");
}
const fullName = (run) => CORE.datasets[run.dataset].name + ": " + runName(run);
const metricLabel = (name) => (CORE.metrics.find((each) => each.name === name) || { label: name }).label;
const percent = (value, digits = 1) => (value === null || value === undefined ? DASH : (100 * value).toFixed(digits));
const count = (value) => value.toLocaleString("en-US");

// The address: #view?key=value&..., so that every state has a link and the back button works.
function address() {
  const [view, query] = location.hash.slice(1).split("?");
  return { view, params: new URLSearchParams(query || "") };
}
// A whole number of the address from 0 to below `end`; anything else is `otherwise`.
function placeIn(params, key, end, otherwise = 0) {
  const text = params.get(key), found = Number(text);
  return text && Number.isInteger(found) && found >= 0 && found < end ? found : otherwise;
}
const drawn = new Map(); // the query that each view was last drawn for
const visited = new Map(); // the address at which each view was last left
function go(view, params = {}, replace = false) {
  const kept = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(kept).toString();
  const hash = "#" + view + (query ? "?" + query : "");
  if (replace) { // the view shows it already
    history.replaceState(null, "", hash);
    drawn.set(view, query);
    visited.set(view, hash);
  } else if (location.hash !== hash) location.hash = hash;
}

// Move the focus to what was just filled, without a jump where it stands in sight.
function attend(node) {
  node.tabIndex = -1;
  node.focus({ preventScroll: true });
  if (node.getBoundingClientRect().top > innerHeight - 100) node.scrollIntoView();
}

let controls = 0;
function labelled(text, control) {
  control.id = "control-" + ++controls;
  return el("div", { class: "field" }, el("label", { for: control.id }, text), control);
}
function choice(text, options, value, change) {
  const select = el("select", { onchange: () => change(select.value) },
    options.map(([key, label]) => el("option", { value: key, selected: String(key) === String(value) }, label)));
  return labelled(text, select);
}
function search(text, value, change) {
  let waiting = 0;
  const input = el("input", { type: "search", value, oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => change(input.value), 120); } });
  return labelled(text, input);
}
function groupedRuns(filter = () => true) {
  return CORE.runs.map((run, at) => [at, fullName(run)]).filter(([at]) => filter(CORE.runs[at], at));
}

let captions = 0;

// A table whose headings sort it. columns: {label, numeric, value(row), cell(row), hint}; rows are shown PAGE at a time.
function sortable({ caption, columns, rows, sort = null, current = () => false, page = PAGE }) {
  const order = sort ? { at: sort.at, down: sort.down } : { at: -1, down: false };
  let start = 0, sorted = rows;
  const body = el("tbody");
  const heads = columns.map((column, at) => {
    const button = el("button", { type: "button", title: column.hint, onclick: () => { order.down = order.at === at ? !order.down : !!column.numeric; order.at = at; start = 0; draw(); } }, column.label);
    return el("th", { scope: "col", class: column.numeric ? "number" : null }, button);
  });
  const place = el("span", { class: "soft" });
  const back = el("button", { type: "button", onclick: () => { start -= page; draw(); } }, "Previous " + page);
  const next = el("button", { type: "button", onclick: () => { start += page; draw(); } }, "Next " + page);
  const pager = el("div", { class: "controls pager" }, back, next, place);
  function compare(a, b) {
    const column = columns[order.at], x = column.value(a), y = column.value(b);
    if (x === null || x === undefined) return y === null || y === undefined ? 0 : 1; // what is not known stays below
    if (y === null || y === undefined) return -1;
    const ahead = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return order.down ? -ahead : ahead;
  }
  function draw() {
    sorted = order.at < 0 ? rows : [...rows].sort(compare);
    start = Math.max(0, Math.min(start, Math.floor((rows.length - 1) / page) * page));
    heads.forEach((head, at) => {
      const by = order.at === at ? (order.down ? "descending" : "ascending") : "none";
      head.setAttribute("aria-sort", by);
      head.firstChild.textContent = columns[at].label + (by === "none" ? "" : order.down ? " ▼" : " ▲");
    });
    body.replaceChildren(...sorted.slice(start, start + page).map((row) =>
      el("tr", { "aria-current": current(row) ? "true" : null }, columns.map((column) => {
        const cell = column.cell(row);
        return el(column.head ? "th" : "td", { class: column.numeric ? "number" : null, scope: column.head ? "row" : null }, cell);
      }))));
    pager.hidden = rows.length <= page;
    back.disabled = start === 0;
    next.disabled = start + page >= rows.length;
    place.textContent = (rows.length ? start + 1 : 0) + "–" + Math.min(start + page, rows.length) + " of " + count(rows.length);
  }
  function showRow(test) {
    const at = sorted.findIndex(test);
    if (at >= 0) { start = Math.floor(at / page) * page; draw(); }
  }
  draw();
  const id = "caption-" + ++captions;
  const node = el("div", {}, el("p", { id, class: "soft" }, caption), el("div", { class: "wide" }, el("table", { "aria-labelledby": id }, el("thead", {}, el("tr", {}, heads)), body)), pager);
  return { node, draw, showRow, rows: () => sorted };
}

function asCsv(columns, rows) {
  const quoted = (value) => { const text = value === null || value === undefined ? "" : String(value); return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text; };
  return [columns.map((column) => quoted(column.label)), ...rows.map((row) => columns.map((column) => quoted(column.value(row))))].map((line) => line.join(",")).join("\n") + "\n";
}
function saveButton(text, name, content) {
  return el("button", { type: "button", onclick: () => {
    const link = el("a", { href: URL.createObjectURL(new Blob([content()], { type: "text/csv" })), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
    say(name + " saved");
  } }, text);
}
