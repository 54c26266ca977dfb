"use strict";
// Hints on numbers, links from numbers to cases, a search over cases, dark and light colours.
// Data are set as text, never as markup. Nothing is fetched; only the choice of colours is stored.
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const count = (number) => number.toLocaleString("en-GB");

  // Light and dark

  const root = document.documentElement, theme = $("theme");
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const remember = (value) => { try { localStorage.setItem("shoal-theme", value); } catch { /* not allowed here */ } };
  const recall = () => { try { return localStorage.getItem("shoal-theme"); } catch { return null; } };
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Change to ${dark() ? "light" : "dark"} colours`); };
  const kept = recall();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  theme.hidden = false;
  label();
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); label(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);

  // Cases, parsed on first use

  let shelf = null;
  const cases = () => {
    if (shelf === null && $("data")) shelf = JSON.parse($("data").textContent);
    return shelf;
  };
  const FAIL = 0, PASS = 1, NONE = 2, ERROR = 3, ALL = 4, ONLY = 5;
  // The outcome of a case in words, which differ between protocols.
  const told = (kind, which) => (kind > PASS ? ["not applicable", "no answer"][kind - 2] : shelf.jobs[which].words[kind]);
  const alike = () => shelf.jobs.every((job) => job.words[0] === shelf.jobs[0].words[0]);
  const canFail = () => shelf.jobs.every((job) => job.words[0] === "fails");
  const sign = (kind, which) => (kind > PASS ? ["–", "!"][kind - 2] : shelf.jobs[which].words[0] === "fails" ? ["✕", "✓"][kind] : ["○", "●"][kind]);
  const colour = (kind, which) => (kind > PASS || shelf.jobs[which].words[0] === "fails" ? `v${kind}` : "v2");
  const MANY = 20, MOST = 400, FEW = 4, SOME = 6;

  // The cases behind a number: by their groups, and by the jobs that it names, the part it is in, or model and seed.
  // Null if unknown.
  const wanted = (element) => {
    if (element.dataset.g === undefined || !cases()) return null;
    const of = element.closest("[data-job]"), name = of ? of.dataset.job : null;
    const named = element.dataset.j === undefined ? null : element.dataset.j.split(" ");
    const mine = (job) => (named ? named.includes(job.id) : name === null || job.name === name);
    const choice = { jobs: new Set(shelf.jobs.map((job, i) => (mine(job) ? i : -1)).filter((i) => i >= 0)), groups: new Map() };
    for (const [key, value] of new URLSearchParams(element.dataset.g)) {
      const place = shelf.groups.findIndex((group) => group.name === key);
      if (value === "all") continue;
      const number = place < 0 ? -1 : shelf.groups[place].values.indexOf(value);
      if (place >= 0 && number < 0) return null;
      if (place >= 0) choice.groups.set(place, number);
      else if (key === "model" || key === "seed") for (const i of [...choice.jobs]) { if (shelf.jobs[i][key] !== value) choice.jobs.delete(i); }
      else if (name === null && !named) return null;
    }
    const rows = shelf.rows.filter((row) => choice.jobs.has(row[0]) && inside(row, choice.groups));
    if (!rows.length) return null;
    return { ...choice, total: rows.length, failing: rows.filter((row) => row[2] === FAIL).length };
  };
  const inside = (row, groups) => {
    for (const [place, value] of groups) if (shelf.cases[row[1]].groups[place] !== value) return false;
    return true;
  };

  // Hints on hover, focus and tap; a tapped one stays

  const hint = $("hint");
  let owner = null, pinned = false, silent = false;
  const words = (element) => {
    if (element.dataset.hint === undefined) {
      const title = element.querySelector && element.querySelector(":scope > title");
      element.dataset.hint = title ? title.textContent : element.getAttribute("title") || "";
      element.removeAttribute("title"); // the browser would show it too
      if (title) title.remove();
      if (title) element.setAttribute("role", "img");
      if (title) element.setAttribute("aria-label", element.dataset.hint);
    }
    return element.dataset.hint;
  };
  const hide = () => {
    if (owner) owner.removeAttribute("aria-describedby");
    hint.hidden = true;
    owner = null;
    pinned = false;
  };
  const show = (element, stays) => {
    hide();
    const lines = words(element).split("; ");
    hint.replaceChildren(make("b", "", lines[0]), ...lines.slice(1).map((line) => make("span", "", line)));
    const choice = stays ? wanted(element) : null;
    if (choice) {
      const button = make("button", "", choice.failing && canFail() ? `Show its cases: ${count(choice.failing)} fail` : `Show its ${count(choice.total)} cases`);
      button.type = "button";
      button.addEventListener("click", () => open(element, choice));
      hint.append(button);
    } else if (!stays && element.dataset.g !== undefined && $("data")) hint.append(make("i", "", "click or Enter: its cases"));
    hint.hidden = false;
    owner = element;
    pinned = stays;
    if (!element.matches("svg *")) element.setAttribute("aria-describedby", "hint"); // a point has a label already
    const box = element.getBoundingClientRect(), size = hint.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left + box.width / 2 - size.width / 2, root.clientWidth - size.width - 8));
    const below = box.bottom + 8 + size.height < innerHeight || box.top < size.height + 16;
    hint.style.left = `${left + scrollX}px`;
    hint.style.top = `${(below ? box.bottom + 8 : box.top - size.height - 8) + scrollY}px`;
  };
  // The element under the pointer; in a chart the nearest point, because a finger is wider than a point.
  const SPOTS = ".num, .w[title], .w[data-hint], svg circle, svg polygon:not(.band)", NEAR = 20;
  const nearest = (picture, event) => {
    const frame = picture.getScreenCTM().inverse(), at = new DOMPoint(event.clientX, event.clientY).matrixTransform(frame);
    let best = null, least = NEAR * frame.a;
    for (const point of picture.querySelectorAll(SPOTS)) {
      const [x, y] = middle(point), far = Math.hypot(x - at.x, y - at.y);
      if (far <= least) { best = point; least = far; }
    }
    return best;
  };
  const middle = (point) => {
    if (point.cx) return [point.cx.baseVal.value, point.cy.baseVal.value];
    const box = point.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const spoken = (event) => {
    if (!event.target.closest) return null;
    const picture = event.target.closest("svg.picture, svg.strip");
    return picture ? nearest(picture, event) : event.target.closest(SPOTS);
  };
  const hover = (event) => {
    if (pinned) return;
    const element = spoken(event);
    if (element && element === owner) return;
    if (element && words(element)) show(element, false);
    else if (owner && !hint.contains(event.target) && owner !== document.activeElement) hide();
  };
  document.addEventListener("mouseover", hover);
  document.addEventListener("mousemove", (event) => { if (event.target.closest("svg")) hover(event); });
  document.addEventListener("click", (event) => {
    if (hint.contains(event.target)) return;
    const element = spoken(event);
    if (element && words(element)) show(element, true);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && owner) { const last = owner; hide(); silent = true; if (last.tabIndex >= 0) last.focus(); silent = false; }
    if ((event.key === "Enter" || event.key === " ") && event.target.matches(SPOTS)) {
      event.preventDefault();
      show(event.target, true);
      const button = hint.querySelector("button");
      if (button) button.focus();
    }
  });

  // Keyboard: one tab stop for each table, chart or paragraph, arrow keys inside it

  const CHARTS = "table, svg.picture, p";
  for (const chart of document.querySelectorAll(CHARTS)) {
    const first = chart.querySelector(SPOTS);
    if (!first) continue;
    first.setAttribute("tabindex", "0");
    if (chart.matches("svg")) {
      chart.setAttribute("role", "group"); // the content of an image cannot be focused
      chart.setAttribute("aria-label", `${chart.getAttribute("aria-label")}; arrow keys go from point to point`);
    }
    for (const strip of chart.querySelectorAll("svg.strip")) strip.setAttribute("role", "group");
  }
  const stop = (spot) => {
    const chart = spot.closest(CHARTS);
    for (const last of chart ? chart.querySelectorAll("[tabindex='0']") : []) if (last.matches(SPOTS)) last.setAttribute("tabindex", "-1");
    spot.setAttribute("tabindex", "0");
  };
  const spots = (element) => (element ? [...element.querySelectorAll(SPOTS)] : []);
  // In a table: the next number of the row or column.
  const inTable = (spot, [right, down]) => {
    const cell = spot.closest("td, th");
    let row = cell.parentElement;
    if (right) { const all = spots(row); return all[all.indexOf(spot) + right]; }
    const place = spots(cell).indexOf(spot);
    while ((row = down > 0 ? row.nextElementSibling : row.previousElementSibling)) {
      const there = spots(row.cells[cell.cellIndex]);
      if (there.length) return there[Math.min(place, there.length - 1)];
    }
    return null;
  };
  // In a chart: along a line, or to the next line at the same position; without lines, by position.
  const inPicture = (spot, [right, down]) => {
    const line = spot.closest(".line"), picture = spot.closest("svg");
    const along = (part) => (a, b) => middle(a)[part] - middle(b)[part];
    let all = spots(line || picture);
    if (!line) all.sort(along(right ? 0 : 1));
    else if (down) {
      const [x] = middle(spot), off = (point) => Math.abs(middle(point)[0] - x);
      all = [...picture.querySelectorAll(".line")].filter((one) => spots(one).length);
      all = all.map((one) => (one === line ? spot : spots(one).reduce((a, b) => (off(b) < off(a) ? b : a)))).sort(along(1));
    }
    return all[all.indexOf(spot) + (right || down)];
  };
  const inText = (spot, [right, down]) => { const all = spots(spot.closest(CHARTS)); return all[all.indexOf(spot) + (right || down)]; };
  document.addEventListener("focusin", (event) => { if (event.target.matches(SPOTS) && !silent && words(event.target)) show(event.target, false); });
  document.addEventListener("focusout", () => { if (!pinned) hide(); });
  document.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key], spot = event.target;
    if (!step || !spot.matches(SPOTS) || !spot.closest(CHARTS)) return;
    event.preventDefault();
    const next = (spot.closest("td, th") ? inTable : spot.closest("svg") ? inPicture : inText)(spot, step);
    if (!next) return;
    stop(next);
    next.focus();
  });

  // Scroll to a number, unfolding what hides it

  const visit = (number) => {
    for (let fold = number.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    number.scrollIntoView({ block: "center" });
    stop(number);
    number.focus({ preventScroll: true });
    number.classList.add("visited");
    setTimeout(() => number.classList.remove("visited"), 2500);
  };

  // Print with provenance unfolded and with cases

  const folded = [];
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("#provenance > details:not([open])")) { fold.open = true; folded.push(fold); }
    if ($("explorer")) prepare();
  });
  addEventListener("afterprint", () => { for (const fold of folded.splice(0)) fold.open = false; });

  // Make wide tables scrollable by keyboard

  const reachable = () => {
    for (const region of document.querySelectorAll(".wide")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);
  reachable();

  // The list of cases

  if (!$("explorer")) return;
  const list = $("list"), search = $("search"), verdict = $("verdicts"), job = $("job"), further = $("further");
  let matching = [], from = null, ready = false, several = null;
  const selects = [];
  const options = (select, pairs) => select.replaceChildren(...pairs.map(([value, text]) => { const option = make("option", "", text); option.value = value; return option; }));

  const prepare = () => {
    if (ready) return;
    ready = true;
    cases();
    $("explorer").hidden = false;
    if (job) options(job, [[-1, "all"], ...shelf.jobs.map((one, i) => [i, one.name])]);
    shelf.groups.forEach((group, place) => {
      if (group.values.length < 2 || group.values.length > MOST) return;
      const select = make("select");
      options(select, [[-1, "all"], ...group.values.map((value, i) => [i, value]).sort((a, b) => a[1].localeCompare(b[1]))]);
      const name = make("label", "", group.name[0].toUpperCase() + group.name.slice(1) + " ");
      name.append(select);
      $("groups").append(name);
      selects.push([place, select, name]);
      select.addEventListener("change", find);
    });
    tell();
    clear();
  };
  const tell = () => {
    const totals = [0, 0, 0, 0];
    for (const one of shelf.jobs) one.counts.forEach((number, kind) => { totals[kind] += number; });
    const upper = (text) => text[0].toUpperCase() + text.slice(1);
    const names = canFail() ? ["Failing", "Passing"] : alike() ? shelf.jobs[0].words.map(upper) : ["Fails or no", "Passes or yes"];
    names.push("Not applicable", "No answer");
    const pairs = names.map((name, kind) => [kind, `${name} (${count(totals[kind])})`]).filter((pair) => totals[pair[0]]);
    // For two jobs: cases that only one fails
    if (shelf.jobs.length === 2 && canFail()) shelf.jobs.forEach((one, i) => pairs.push([ONLY + i, `Fails in ${one.name} alone (${count(shelf.rows.filter((row) => alone(row, i)).length)})`]));
    const all = [ALL, `All (${count(totals.reduce((a, b) => a + b, 0))})`];
    options(verdict, canFail() ? [...pairs, all] : [all, ...pairs]);
  };
  const clear = () => {
    search.value = "";
    verdict.selectedIndex = 0;
    several = null;
    if (job) { job.querySelector("[value='-2']")?.remove(); job.selectedIndex = 0; }
    for (const [, select] of selects) select.selectedIndex = 0;
    from = null;
    find();
  };
  const textOf = (row) => {
    const one = shelf.cases[row[1]];
    if (one.all === undefined) one.all = [one.id, one.expected, ...one.texts.flat().map((pieces) => pieces.join(""))].join("\n").toLowerCase();
    return one.all + "\n" + row[3].join("\n").toLowerCase() + "\n" + row[4].toLowerCase();
  };
  // Offer only groups that all cases of the chosen jobs have: a page may have several protocols.
  const offer = (which) => {
    const of = shelf.jobs.map((one, i) => i).filter((i) => which === -1 || (which === -2 ? several.has(i) : i === which));
    if (!shelf.has) {
      shelf.has = shelf.jobs.map(() => shelf.groups.map(() => true));
      for (const row of shelf.rows) shelf.cases[row[1]].groups.forEach((value, place) => { if (value < 0) shelf.has[row[0]][place] = false; });
    }
    for (const [place, select, name] of selects) {
      name.hidden = !of.every((i) => shelf.has[i][place]);
      if (name.hidden) select.selectedIndex = 0;
    }
  };
  const find = () => {
    const kind = Number(verdict.value), which = job ? Number(job.value) : -1, sought = search.value.trim().toLowerCase();
    offer(which);
    const groups = new Map(selects.map(([place, select]) => [place, Number(select.value)]).filter((pair) => pair[1] >= 0));
    matching = shelf.rows.filter((row) => (kind === ALL || (kind >= ONLY ? alone(row, kind - ONLY) : row[2] === kind)) && (which === -1 || (which === -2 ? several.has(row[0]) : row[0] === which)) && inside(row, groups) && (!sought || textOf(row).includes(sought)));
    list.replaceChildren();
    more();
    const whole = shelf.jobs.every((one) => one.counts.every((number, i) => number === one.held[i]));
    const what = kind >= ALL || (kind <= PASS && !canFail()) ? "case" : { [FAIL]: "failing case", [PASS]: "passing case", [NONE]: "case that does not apply", [ERROR]: "case without an answer" }[kind];
    const plural = matching.length === 1 ? what : what.replace("case", "cases").replace("does", "do");
    $("count").textContent = `${count(matching.length)} ${plural}${whole ? "" : " of this page"}`;
    $("back").hidden = from === null;
  };
  const more = () => {
    const start = list.children.length;
    list.append(...matching.slice(start, start + MANY).map(card));
    const left = matching.length - list.children.length;
    further.hidden = left <= 0;
    further.textContent = `Show ${Math.min(MANY, left)} more of ${count(left)}`;
  };
  const card = (row) => {
    const [which, place, kind, said, error] = row, one = shelf.cases[place];
    const item = make("li", colour(kind, which)), head = make("p", "head");
    head.append(make("span", "verdict", `${sign(kind, which)} ${told(kind, which)}`));
    if (shelf.jobs.length > 1) head.append(make("span", "job", shelf.jobs[which].name));
    head.append(make("span", "id", one.id));
    const groups = one.groups.map((value, k) => (value < 0 ? "" : shelf.groups[k].values[value])).filter((value) => value && !one.id.includes(value));
    if (groups.length) head.append(make("span", "", groups.slice(0, 4).join(" · ")));
    if (one.expected) head.firstChild.after(make("span", "expected", `expected ${one.expected}`));
    item.append(head);
    one.texts.forEach((texts, i) => {
      const line = make("p", i ? "variant" : "original");
      const text = make("span", "texts");
      text.dir = "auto";
      texts.forEach((pieces, k) => {
        if (k) text.append(make("span", "and", " ¦ "));
        pieces.forEach((piece, j) => { if (piece) text.append(j % 2 ? make("mark", "", piece) : piece); });
      });
      line.append(text);
      if (said[i]) line.append(answer(said[i]));
      line.hidden = i > SOME;
      item.append(line);
      if (text.textContent.length > 700) fold(text, line);
    });
    if (one.texts.length > SOME + 1) rest(item, one.texts.length - SOME - 1);
    if (error) item.append(make("p", "went t-bad", error));
    item.append(...others(row));
    return item;
  };
  // A label with its probability as a short bar.
  const answer = (said) => {
    const parts = /^(.*?)\s(\.\d\d|1\.00)(\)?)$/.exec(said);
    const beside = make("span", "answer", said);
    if (parts) {
      const bar = make("span", "chance");
      bar.style.setProperty("--p", parts[2]);
      beside.prepend(bar);
    }
    return beside;
  };
  const rest = (item, left) => {
    const button = make("button", "unfold", `${left} more variant${left > 1 ? "s" : ""}`);
    button.type = "button";
    button.addEventListener("click", () => { for (const line of item.querySelectorAll(".variant[hidden]")) line.hidden = false; button.remove(); });
    item.append(button);
  };
  const fold = (text, line) => {
    text.classList.add("long");
    const button = make("button", "unfold", "whole text");
    button.type = "button";
    button.addEventListener("click", () => { text.classList.remove("long"); button.remove(); });
    line.append(button);
  };
  // The outcomes of the other jobs on the same case
  const elsewhere = (row) => {
    if (!shelf.by) {
      shelf.by = new Map();
      for (const one of shelf.rows) { if (!shelf.by.has(one[1])) shelf.by.set(one[1], []); shelf.by.get(one[1]).push(one); }
    }
    return shelf.by.get(row[1]).filter((one) => one[0] !== row[0]);
  };
  const alone = (row, which) => row[0] === which && row[2] === FAIL && elsewhere(row).some((one) => one[2] === PASS);
  const others = (row) => {
    if (shelf.jobs.length < 2) return [];
    const rest = elsewhere(row);
    if (!rest.length) return [];
    const line = make("p", "others");
    if (rest.length <= FEW) for (const one of rest) line.append(make("span", colour(one[2], one[0]), `${sign(one[2], one[0])} ${shelf.jobs[one[0]].name}${one[3].length ? ": " + one[3][one[3].length - 1] : ""}`));
    else for (const kind of [FAIL, PASS, NONE, ERROR]) {
      const same = rest.filter((one) => one[2] === kind);
      if (same.length) line.append(make("span", colour(kind, same[0][0]), `${sign(kind, same[0][0])} ${told(kind, same[0][0])} in ${same.length} other job${same.length > 1 ? "s" : ""}`));
    }
    return [line];
  };
  const open = (number, choice) => {
    hide();
    prepare();
    clear();
    for (const [place, value] of choice.groups) {
      const known = selects.find((pair) => pair[0] === place);
      if (known) known[1].value = String(value);
    }
    if (job && choice.jobs.size === 1) job.value = String([...choice.jobs][0]);
    else if (job && choice.jobs.size < shelf.jobs.length) {
      several = choice.jobs;
      const option = make("option", "", `the ${several.size} jobs of this number`);
      option.value = "-2";
      job.append(option);
      job.value = "-2";
    }
    verdict.value = String(choice.failing && canFail() ? FAIL : ALL);
    from = number;
    find();
    $("cases").scrollIntoView();
    $("cases-title").focus({ preventScroll: true });
  };
  search.addEventListener("input", () => { clearTimeout(search.wait); search.wait = setTimeout(find, 120); });
  verdict.addEventListener("change", find);
  if (job) job.addEventListener("change", find);
  further.addEventListener("click", () => { const last = list.children.length; more(); const next = list.children[last]; if (next) { next.tabIndex = -1; next.focus({ preventScroll: true }); } });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  $("back").addEventListener("click", () => visit(from));
  // Built when it becomes visible, so that a large page opens fast.
  new IntersectionObserver((seen, watch) => { if (seen.some((one) => one.isIntersecting)) { watch.disconnect(); prepare(); } }, { rootMargin: "400px" }).observe($("cases"));
})();
