"use strict";
// All texts of the suite enter the page as text or values, never as markup.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const KEY = "shoal-form-" + data.digest, PAGE = 50;
const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

// State: what differs from the rows of the suite. `edits` and `deleted` are by position; added rows come after the others.

const fresh = () => ({edits: {}, deleted: {}, added: [], saved: true});
let state = fresh(), keeps = true;
try {
  const kept = localStorage.getItem(KEY);
  if (kept) state = Object.assign(fresh(), JSON.parse(kept));
  localStorage.setItem(KEY + "-probe", "1");
  localStorage.removeItem(KEY + "-probe");
} catch (problem) { keeps = false; }

const originals = data.rows.map(() => null);
const original = (at) => originals[at] || (originals[at] = JSON.parse(data.rows[at]));
const isAdded = (at) => at >= data.rows.length;
const rowAt = (at) => isAdded(at) ? state.added[at - data.rows.length] : state.edits[at] || original(at);
const all = () => [...data.rows.keys(), ...state.added.map((_, number) => number + data.rows.length)];
const isChanged = (at) => isAdded(at) || at in state.edits || at in state.deleted;
const headings = new Map(data.functionalities.map((each) => [each.name, each]));
const places = new Map(data.functionalities.map((each) => [each.name, []]));
data.rows.forEach((_, at) => places.get(original(at).functionality).push(at));
const within = (name) => [...places.get(name), ...all().slice(data.rows.length).filter((at) => rowAt(at).functionality === name)];
const changed = () => [...new Set([...Object.keys(state.edits), ...Object.keys(state.deleted)].map(Number).concat(all().slice(data.rows.length)))];

function change(at, edit) {
  if (!isAdded(at) && !(at in state.edits)) state.edits[at] = JSON.parse(data.rows[at]);
  edit(rowAt(at));
  if (!isAdded(at) && JSON.stringify(state.edits[at]) === JSON.stringify(original(at))) delete state.edits[at];
  keep();
}
function keep() {
  state.saved = false;
  store();
  summarise();
}
function store() {
  try { localStorage.setItem(KEY, JSON.stringify(state)); } catch (problem) { keeps = false; }
}

// A row's parts

const texts = (row) => row.examples.flatMap((example) => typeof example === "object" ? Object.values(example) : [example]);
const comment = (row) => row.meta && typeof row.meta === "object" && typeof row.meta.comment === "string" ? row.meta.comment : "";
function setComment(row, text) {
  const meta = row.meta && typeof row.meta === "object" && !Array.isArray(row.meta) ? row.meta : row.meta === undefined ? {} : {about: row.meta};
  if (text.trim()) meta.comment = text; else delete meta.comment;
  if (Object.keys(meta).length) row.meta = meta; else delete row.meta;
}
function trouble(at) {
  const row = rowAt(at), heading = headings.get(row.functionality);
  if (!isChanged(at) || at in state.deleted) return "";
  if (texts(row).some((text) => !text.trim())) return "A text is blank. Fill it in or delete the case.";
  if (heading.needs_label && (row.labels === undefined || row.labels === "")) return "Choose a label.";
  return "";
}

// Building

function make(tag, about = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== ""));
  return node;
}
const button = (text, onclick, kind = "plain", label = "") => make("button", {type: "button", class: kind, onclick, ...(label ? {"aria-label": label} : {})}, text);
function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = area.scrollHeight + 2 + "px";
}
const breakable = (name) => { // lines may end after an underscore
  const node = make("span");
  name.split(/(?<=_)/).forEach((part) => node.append(part, make("wbr")));
  return node;
};
function area(value, label, onedit, kind = "") {
  const node = make("textarea", {value, rows: 1, class: kind, "aria-label": label, spellcheck: true, dir: "auto"});
  node.addEventListener("input", () => { onedit(node.value); grow(node); });
  requestAnimationFrame(() => grow(node));
  return node;
}

function card(at, searched) {
  const row = rowAt(at), heading = headings.get(row.functionality), isDeleted = at in state.deleted;
  const node = make("li", {class: "case"});
  node.dataset.at = at;
  const redraw = () => { const next = card(at, searched); node.replaceWith(next); return next; };
  const mark = make("span", {class: "what"}), problem = make("p", {class: "trouble", role: "alert", hidden: true});
  node.refresh = (strict = false) => {
    const found = trouble(at);
    node.className = `case${isChanged(at) ? " changed" : ""}${isDeleted ? " deleted" : ""}${strict && found ? " problem" : ""}`;
    mark.textContent = isDeleted ? "deleted" : isAdded(at) ? "new" : at in state.edits ? "changed" : "";
    problem.textContent = found;
    problem.hidden = !(strict && found);
    undo.hidden = isDeleted || isAdded(at) || !(at in state.edits);
  };
  const edited = (edit) => { change(at, edit); node.refresh(!node.querySelector(".trouble").hidden); };
  const one = (number) => {
    const example = row.examples[number];
    const keys = typeof example === "object" ? Object.keys(example) : [null];
    const fields = keys.map((key) => {
      const name = [number ? `variant ${number}` : row.examples.length > 1 ? "original" : "", keys.length > 1 ? key : ""].filter(Boolean).join(", ");
      const box = area(key === null ? example : example[key], name || "text", (text) => edited((row) => {
        if (key === null) row.examples[number] = text; else row.examples[number][key] = text;
      }));
      box.readOnly = isDeleted;
      return make("div", {}, name ? make("span", {class: "name"}, name) : "", box);
    });
    const canGo = number && row.examples.length > 2 && !Array.isArray(row.labels) && !isDeleted;
    const remove = canGo ? button("✕", () => { edited((row) => row.examples.splice(number, 1)); redraw(); }, "plain", `Remove variant ${number}`) : "";
    return number ? make("div", {class: "variant"}, make("div", {}, ...fields), remove) : make("div", {}, ...fields);
  };
  const boxes = make("div", {class: "texts"}, ...(isDeleted ? row.examples.slice(0, 1) : row.examples).map((_, number) => one(number)));
  const undo = button("Undo changes", () => { delete state.edits[at]; keep(); redraw(); });
  const note = make("div", {hidden: !comment(row)}, make("span", {class: "name"}, "comment"),
    area(comment(row), "comment", (text) => edited((row) => setComment(row, text)), "comment"));
  const toggle = () => {
    if (isAdded(at) && texts(row).every((text) => !text.trim())) {
      state.added.splice(at - data.rows.length, 1);
      keep();
      return draw();
    }
    if (isDeleted) delete state.deleted[at]; else state.deleted[at] = true;
    keep();
    redraw().querySelector(".toggle").focus();
  };
  const canGrow = heading.type !== "MFT" && !Array.isArray(row.labels) && !isDeleted;
  node.append(
    searched ? make("p", {class: "from"}, heading.name) : "",
    make("div", {class: "row"}, boxes, labelling(row, heading, edited, isDeleted)),
    note, problem,
    make("div", {class: "actions"},
      make("span", {class: "id"}, `case ${row.case_id}`), mark, undo,
      canGrow ? button("Add variant", () => {
        edited((row) => row.examples.push(blank(row.examples[0])));
        [...redraw().querySelectorAll(".variant textarea")].pop().focus();
      }) : "",
      button("Comment", () => { note.hidden = false; note.querySelector("textarea").focus(); }),
      button(isDeleted ? "Keep" : "Delete", toggle, "plain toggle")),
  );
  node.refresh();
  return node;
}
function labelling(row, heading, edited, isDeleted) {
  if (Array.isArray(row.labels)) return make("span", {class: "name"}, `labels: ${row.labels.join(", ")}`);
  if (row.labels === undefined && !heading.needs_label) return "";
  const set = (value) => edited((row) => { if (value === undefined) delete row.labels; else row.labels = value; });
  if (!data.labels.length) {
    return make("input", {type: "text", value: row.labels ?? "", "aria-label": "expected answer", placeholder: "expected answer", disabled: isDeleted, oninput: (event) => set(event.target.value)});
  }
  const choices = [...data.labels, ...data.labels.map((label) => `not_${label}`)];
  const shown = (label) => String(label).startsWith("not_") ? `not ${String(label).slice(4)}` : String(label);
  const select = make("select", {"aria-label": "label", disabled: isDeleted, onchange: () => set(choices[select.value])},
    ...(choices.includes(row.labels) ? [] : [make("option", {value: -1}, row.labels === undefined ? "label…" : String(row.labels))]),
    ...choices.map((label, number) => make("option", {value: number}, shown(label))));
  select.value = choices.indexOf(row.labels);
  return select;
}
const blank = (example) => typeof example === "object" ? Object.fromEntries(Object.keys(example).map((key) => [key, ""])) : "";

function add() {
  const name = current, heading = headings.get(name), members = within(name), model = original(places.get(name)[0]);
  const ids = new Set(members.map((at) => String(rowAt(at).case_id)));
  let number = 1;
  while (ids.has(`added-${number}`)) number += 1;
  const labels = new Set(members.map((at) => JSON.stringify(rowAt(at).labels)));
  const made = {};
  for (const [key, value] of Object.entries(model)) {
    if (key === "case_id") made[key] = `added-${number}`;
    else if (key === "examples") made[key] = (heading.type === "MFT" ? value.slice(0, 1) : value.slice(0, 2)).map(blank);
    else if (key === "labels") { if (labels.size === 1 && !Array.isArray(value)) made[key] = value; }
    else if (key !== "cluster" && key !== "meta") made[key] = value;
  }
  state.added.push(made);
  keep();
  $("search").value = "";
  $("show").value = "all";
  limit = Infinity;
  draw();
  const last = $("list").lastElementChild;
  last.scrollIntoView({block: "center"});
  last.querySelector("textarea").focus();
}

// The page

let current = data.functionalities[0].name, limit = PAGE;

const isSearch = () => $("search").value.trim() !== "" || $("show").value !== "all";
function matching() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), show = $("show").value;
  const shown = {
    all: () => true, changed: isChanged, comment: (at) => comment(rowAt(at)) !== "", deleted: (at) => at in state.deleted,
  }[show];
  const fits = (at) => {
    const row = rowAt(at), whole = [...texts(row), row.labels ?? "", row.case_id, comment(row)].join(" ").toLowerCase();
    return shown(at) && words.every((word) => whole.includes(word));
  };
  return isSearch() ? all().filter(fits) : within(current);
}
function draw() {
  const found = matching(), heading = headings.get(current), about = $("about"), searched = isSearch();
  if (searched) {
    about.replaceChildren(make("h2", {}, count(found.length, "case")), make("p", {class: "rule"}, "In all functionalities."),
      button("Back to one functionality", () => { $("search").value = ""; $("show").value = "all"; draw(); }, ""));
  } else {
    about.replaceChildren(make("h2", {}, breakable(heading.name)), heading.about ? make("p", {}, heading.about) : "",
      make("p", {class: "rule"}, `${count(found.length, "case")}. ${heading.rule}`), button("Add a case", add, ""));
  }
  $("list").replaceChildren(...found.slice(0, limit).map((at) => card(at, searched)));
  const rest = found.length - limit;
  $("more").hidden = !(rest > 0);
  $("more").textContent = `Show ${Math.min(PAGE, rest)} more of ${rest}`;
  summarise();
}
function summarise() {
  const places = changed(), edits = new Map();
  for (const at of places) edits.set(rowAt(at).functionality, (edits.get(rowAt(at).functionality) || 0) + 1);
  $("state").textContent = !places.length ? `${count(data.rows.length, "case")}, no changes` : `${count(places.length, "change")}, ${state.saved ? "saved" : "not saved"}`;
  $("state").className = places.length && !state.saved ? "unsaved" : "";
  $("discard").hidden = !places.length;
  $("notice").textContent = keeps
    ? "Everything stays on this device. Changes survive closing and reloading this page; Save downloads a file to send back."
    : "This browser keeps nothing between visits: save before you close this page.";
  $("notice").className = keeps ? "" : "warning";
  for (const node of document.querySelectorAll("nav button")) {
    const number = node.querySelector(".count"), changes = edits.get(node.dataset.name);
    number.textContent = changes ? `${changes} changed` : within(node.dataset.name).length;
    number.className = changes ? "count changed" : "count";
    if (node.dataset.name === current && !isSearch()) node.setAttribute("aria-current", "true"); else node.removeAttribute("aria-current");
  }
  $("jump").value = current;
}
function open(name) {
  current = name;
  limit = PAGE;
  $("search").value = "";
  $("show").value = "all";
  draw();
  scrollTo(0, 0);
}
function list() {
  const groups = new Map();
  for (const each of data.functionalities) groups.set(each.capability, [...(groups.get(each.capability) || []), each]);
  for (const [capability, members] of groups) {
    $("functionalities").append(make("li", {class: "group"}, capability));
    const options = make("optgroup", {label: capability});
    for (const {name} of members) {
      const entry = make("button", {type: "button", onclick: () => open(name)}, make("span", {}, breakable(name)), make("span", {class: "count"}));
      entry.dataset.name = name;
      $("functionalities").append(make("li", {}, entry));
      options.append(make("option", {value: name}, name));
    }
    $("jump").append(options);
  }
}

// Saving: rows without changes are written as they came, byte for byte

function save() {
  const wrong = changed().find((at) => trouble(at));
  if (wrong !== undefined) {
    limit = Infinity;
    open(rowAt(wrong).functionality);
    limit = Infinity;
    draw();
    const node = $("list").querySelector(`[data-at="${wrong}"]`);
    node.refresh(true);
    node.scrollIntoView({block: "center"});
    (node.querySelector("textarea:placeholder-shown, textarea")).focus();
    return;
  }
  const link = make("a", {href: URL.createObjectURL(new Blob([content()], {type: "application/json"})), download: data.file});
  document.body.append(link);
  link.click();
  link.remove();
  state.saved = true;
  store();
  summarise();
}
function content() {
  const header = JSON.parse(data.header);
  header.form = {labels: data.labels};
  const last = new Map(data.functionalities.map(({name}) => [name, places.get(name)[places.get(name).length - 1]]));
  const lines = [JSON.stringify(header)];
  const write = (at, mark) => lines.push(JSON.stringify({...rowAt(at), ...(mark ? {[mark]: true} : {}), ...(at in state.deleted ? {deleted: true} : {})}));
  data.rows.forEach((raw, at) => {
    if (isChanged(at)) write(at, at in state.edits ? "edited" : ""); else lines.push(raw);
    const name = original(at).functionality;
    if (last.get(name) === at) within(name).filter(isAdded).forEach((added) => write(added, "added"));
  });
  return lines.join("\n") + "\n";
}

// Events

let waiting = 0;
$("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { limit = PAGE; draw(); }, 120); });
$("show").addEventListener("change", () => { limit = PAGE; draw(); });
$("jump").addEventListener("change", () => open($("jump").value));
$("more").addEventListener("click", () => { const at = limit; limit += PAGE; draw(); $("list").children[at].querySelector("textarea").focus(); });
$("save").addEventListener("click", save);
$("discard").addEventListener("click", () => {
  if (!confirm("Discard all changes? This cannot be undone.")) return;
  state = fresh();
  store();
  draw();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(TEXTAREA|INPUT|SELECT)$/.test(document.activeElement.tagName);
  const control = event.ctrlKey || event.metaKey;
  if (event.key === "/" && !typing) $("search").focus();
  else if (control && event.key.toLowerCase() === "s") save();
  else if (control && event.key === "Enter" && !isSearch()) add();
  else if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) step(event.key === "ArrowDown" ? 1 : -1);
  else return;
  event.preventDefault();
});
function step(by) {
  const cards = [...$("list").children], at = cards.indexOf(document.activeElement.closest(".case"));
  const next = cards[at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + by))];
  if (next) next.querySelector("textarea").focus();
}
addEventListener("beforeunload", (event) => { if (!keeps && !state.saved) event.preventDefault(); });

list();
draw();
})();
