/* The board's page: one state, one render(). Draws panels by their kind and never asks which kit it shows.
   Every value reaches the page as text; nothing from a document, a reply or a rulebook is ever read as HTML. */
"use strict";

const state = { route: null, board: null, kit: null, view: null, error: null, check: null };
let turn = 0; // of the address: an answer that belongs to an earlier one is dropped

const SIGNS = {
  pass: "✓", skipped: "–", breached: "✗", matched: "●", "could not be read": "?", "not reached": "·", "no answer": "?",
};
const TESTS = { "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", in: "is one of", "not in": "is none of" };

// ---- building blocks

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const byId = (id) => document.getElementById(id);

// Long names may break behind their underscores and nowhere else; the text stays what it is.
function soft(text) {
  return String(text).split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
}

function table(caption, heads, body, kind) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: kind }, h("caption", {}, h("span", {}, caption)),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), body));
}

function cell(found) {
  if (Array.isArray(found)) return h("ul", { class: "run-on" }, found.map((one) => h("li", {}, cell(one))));
  if (found.same) return h("span", { class: "quiet" }, "same");
  const text = soft(found.text === "" ? "“”" : found.text);
  return [
    found.head && h("span", { class: "head" }, found.head), verdict(found.hit),
    h("span", { class: `value ${found.kind || ""}` }, found.link ? h("a", { href: address(found.link) }, text) : text),
    found.interval && interval(found.interval), found.why && h("small", {}, found.why),
  ];
}

function verdict(hit) {
  if (hit !== true && hit !== false) return null;
  return h("span", { class: hit ? "hit" : "miss" }, hit ? "✓ hit" : "✗ miss");
}

// A rate's interval as a line from 0 to 100 %: the words beside it say the same, so readers of words are spared it.
function interval([low, rate, high]) {
  const part = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const drawing = part("svg", { class: "interval", viewBox: "0 0 104 10", "aria-hidden": "true" });
  drawing.append(part("line", { x1: 2, x2: 102, y1: 5, y2: 5 }),
    part("line", { x1: 2 + 100 * low, x2: 2 + 100 * high, y1: 5, y2: 5, class: "range" }),
    part("circle", { cx: 2 + 100 * rate, cy: 5, r: 2.5 }));
  return drawing;
}

// ---- addresses: #/KIT, #/KIT/d/DOCUMENT, #/KIT/d/DOCUMENT/prompt, #/KIT/rules, each with ?filters

function parseRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [kit, what, doc, more] = path.split("/").map(decoded);
  const inside = { d: more === "prompt" ? "prompt" : "document", rules: "rules" }[what] || "list";
  return { view: kit ? inside : "start", kit, doc, query: new URLSearchParams(query || "") };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function href(kit, rest = "", query = "") {
  return `#/${encodeURIComponent(kit)}${rest}${query.toString() && "?" + query}`;
}

function docHref(doc, rest = "", query = state.route.query) {
  return href(state.route.kit, `/d/${encodeURIComponent(doc)}${rest}`, query);
}

function address(link) {
  return link.document ? docHref(link.document) : href(state.route.kit, "", new URLSearchParams(link));
}

function setFilter(name, values) {
  const query = new URLSearchParams(state.route.query);
  query.delete(name);
  query.delete("page");
  for (const value of values) if (value) query.append(name, value);
  const { view, kit, doc } = state.route;
  history.replaceState(null, "", view === "document" ? docHref(doc, "", query) : href(kit, "", query));
  load();
}

// ---- reading from the server

async function get(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}

async function load() {
  const mine = ++turn, last = state.route, route = parseRoute();
  state.route = route;
  const kit = route.kit && `/api/kits/${encodeURIComponent(route.kit)}`;
  const doc = `${kit}/documents/${encodeURIComponent(route.doc)}`;
  const path = {
    start: "/api/kits", list: `${kit}/documents?${route.query}`, document: `${doc}?${route.query}`,
    prompt: `${doc}/prompt`, rules: `${kit}/rules`,
  }[route.view];
  const next = { error: null, check: null, kit: null, view: null };
  try {
    const wanted = [state.board || get("/api/board"), kit && get(kit), get(path)];
    [next.board, next.kit, next.view] = await Promise.all(wanted);
  } catch (problem) {
    next.error = problem.message;
  }
  if (mine !== turn) return;
  Object.assign(state, next, { board: next.board || state.board });
  render();
  const moved = last && ["view", "kit", "doc"].some((name) => last[name] !== route[name]);
  if (moved) arrive(last);
}

async function check() {
  const mine = turn, { kit, doc } = state.route;
  state.check = { busy: true, text: `Asking ${state.board.model.name || "the model"} about ${doc} …` };
  render();
  const headers = { "Content-Type": "application/json", "X-Board-Token": state.board.token };
  const request = { method: "POST", body: JSON.stringify({ document: doc }), headers };
  let found;
  try {
    found = await (await fetch(`/api/kits/${encodeURIComponent(kit)}/check`, request)).json();
  } catch (problem) {
    found = { error: problem.message };
  }
  if (mine !== turn) return;
  state.check = { text: found.error || "Asked just now; nothing of this is recorded." };
  if (!found.error) state.view = { ...state.view, live: true, runs: found.runs, panels: found.panels };
  render();
}

// ---- render: the state as it is now, with the focus where it was

function render() {
  const { id, selectionStart: caret } = document.activeElement || {};
  const views = { start, list, document: documentView, prompt, rules };
  const content = state.error ? broken() : views[state.route.view]();
  byId("main").replaceChildren(...content.flat(9).filter(Boolean));
  byId("where").replaceChildren(where());
  byId("status").textContent = state.error ? "" : statusText();
  document.title = [document.querySelector("h1").textContent, "Touchstone"].join(" · ");
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    if (!byId(element.getAttribute("aria-describedby"))) element.removeAttribute("aria-describedby");
  }
  const again = id && byId(id);
  if (again && again !== document.activeElement) {
    again.focus({ preventScroll: true });
    if (typeof caret === "number") again.setSelectionRange(caret, caret);
  }
}

function where() {
  const { kit, doc, view, query } = state.route;
  const steps = [["Touchstone", "#/"]];
  if (kit) steps.push([state.kit ? state.kit.title : kit, href(kit, "", query)]);
  if (view === "rules") steps.push(["Rules", href(kit, "/rules", query)]);
  if (doc) steps.push([doc, docHref(doc)]);
  if (view === "prompt") steps.push(["Prompt", docHref(doc, "/prompt")]);
  return h("ol", {}, steps.map(([text, to], i) =>
    h("li", {}, h("a", { href: to, "aria-current": i === steps.length - 1 && "page" }, text))));
}

function statusText() {
  if (state.check) return state.check.text;
  return state.route.view === "list" ? `${state.view.matching} of ${state.view.total} documents` : "";
}

function heading(text) {
  return h("h1", { tabindex: "-1" }, text);
}

function lead(text) {
  return h("p", { class: "lead" }, text);
}

function broken() {
  return [heading("This cannot be shown"), h("p", { class: "note warn" }, state.error),
    h("p", {}, h("a", { href: "#/" }, "To the kits"))];
}

function problems(sentences) {
  return sentences.map((text) => h("p", { class: "note warn" }, text));
}

// ---- the start page

function start() {
  const heads = ["What is decided", "Documents", "Runs", "Headline, of all documents, with 95 % interval"];
  return [heading("Touchstone"), lead("What each kit decides, how well, and every document behind the figures."),
    table("Kits", heads, h("tbody", {}, state.view.kits.map(kitRow)), "kits")];
}

function kitRow(kit) {
  const name = h("th", { scope: "row" },
    h("a", { class: "step", id: `kit-${kit.name}`, href: href(kit.name) }, kit.title),
    h("p", {}, kit.decides), problems(kit.problems));
  if (kit.documents === undefined) return h("tr", {}, name, ["–", "–", "–"].map((blank) => h("td", {}, blank)));
  const count = (number, noun) => h("td", { class: "number" }, number.toLocaleString("en"), h("small", {}, noun));
  const committed = kit.committed === 1 ? "committed run" : "committed runs";
  return h("tr", {}, name, count(kit.documents, kit.noun),
    count(kit.committed, kit.local ? `${committed}, ${kit.local} local` : committed), h("td", {}, figures(kit)));
}

function figures(kit) {
  if (!kit.figures.length) return "nothing recorded yet";
  const rows = kit.figures.map((line) => h("tr", {},
    h("th", { scope: "row" }, line.name, h("small", {}, line.kind)),
    h("td", {}, cell({ ...line.raw, head: "raw" })),
    h("td", {}, line.rechecked && cell({ ...line.rechecked, head: "rechecked" }))));
  return [
    !kit.has_model_run && h("p", { class: "quiet" }, "No model run is recorded yet; these are the baselines."),
    h("table", { class: "figures" }, h("caption", { class: "hidden" }, `${kit.metric} of ${kit.title}`),
      h("thead", {}, h("tr", {}, [kit.metric, "raw", "rechecked"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows)),
  ];
}

// ---- a kit: its runs, its documents, its rules

function tabs(current) {
  const { kit, query } = state.route;
  const views = [["Documents", "", "list"], ["Rules", "/rules", "rules"]];
  return h("nav", { class: "tabs", "aria-label": "Views of this kit" }, views.map(([text, rest, view]) =>
    h("a", { href: href(kit, rest, query), "aria-current": view === current && "page" }, text)));
}

function rules() {
  return [heading(state.kit.title), tabs("rules"), problems(state.view.problems), state.view.panels.map(panel)];
}

function list() {
  const { kit, view } = state;
  return [heading(kit.title), lead(kit.decides), tabs("list"), problems(kit.problems), kit.panels.map(panel),
    h("section", { "aria-labelledby": "documents" }, h("h2", { id: "documents" }, "Documents"),
      filters(), documents(view), pages(view))];
}

function filters() {
  const { kit, route } = state, chosen = (name) => route.query.get(name) || "";
  const select = (name, label, options) => h("label", {}, label,
    h("select", { id: `f-${name}`, onchange: (event) => setFilter(name, [event.target.value]) },
      options.map(([value, text]) => h("option", { value, selected: chosen(name) === value }, text))));
  const flag = (name, label) => h("label", { class: "flag" }, h("input", {
    type: "checkbox", id: `f-${name}`, checked: chosen(name) === "1",
    onchange: (event) => setFilter(name, [event.target.checked ? "1" : ""]),
  }), label);
  return h("form", { class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    h("label", {}, "Search", h("input", {
      type: "search", id: "f-q", value: chosen("q"), placeholder: "id, case, words on the page",
      oninput: (event) => setFilter("q", [event.target.value]),
    })),
    select("error", "Named error", [["", "any or none"], ...Object.entries(kit.errors)]),
    select("case", "Planned case", [["", "all"], ...kit.cases.map((name) => [name, name.replaceAll("_", " ")])]),
    select("hard", "Kind", [["", "all"], ["1", "hard"], ["0", "clean"]]),
    select("column", "Answers", [["", "raw"], ["rechecked", "rechecked"]]),
    h("fieldset", {}, h("legend", {}, "Only"), flag("wrong", "wrong on anything"), flag("differs", "raw ≠ rechecked")),
    runChooser(),
    route.query.toString() && h("a", { href: href(route.kit), id: "f-clear" }, "Clear all filters"));
}

function runChooser() {
  const { kit, view } = state, shown = view.runs.map((run) => run.id);
  if (!kit.runs.length) return h("p", { class: "quiet" }, "No run is recorded yet, so there are no answers to show.");
  const choose = () => {
    const boxes = [...document.querySelectorAll("[data-run]:checked")];
    setFilter("run", boxes.map((box) => box.dataset.run));
  };
  const box = (run, i) => h("input", {
    type: "checkbox", id: `run-${i}`, "data-run": run.id, checked: shown.includes(run.id), onchange: choose,
  });
  return h("fieldset", {}, h("legend", {}, "Runs shown"), kit.runs.map((run, i) =>
    h("label", { class: "flag" }, box(run, i), run.local && run.name !== run.id ? `${run.name} (local)` : run.name)));
}

function documents(view) {
  const empty = view.total ? "No document passes these filters." : "This kit has no documents yet.";
  if (!view.rows.length) return h("p", { class: "note" }, empty);
  const hasGold = view.rows.some((row) => row.gold);
  const rows = view.rows.map((row) => h("tr", {},
    h("th", { scope: "row" }, h("a", { class: "step", id: `doc-${row.id}`, href: docHref(row.id) }, row.id)),
    h("td", {}, (row.case || "–").replaceAll("_", " "), row.sentence && h("small", {}, row.sentence)),
    h("td", {}, { true: "hard", false: "clean" }[row.hard] || "–"),
    hasGold && h("td", { class: "value" }, soft(row.gold || "–")),
    row.runs.map((marks) => h("td", {}, runMarks(marks)))));
  const runs = view.runs.map((run) => `${run.name}, ${view.column}`);
  const heads = ["Document", "Planned case", "Kind", ...(hasGold ? ["Gold"] : []), ...runs];
  return table(`${view.matching} of ${view.total} documents`, heads, h("tbody", {}, rows), "documents");
}

function runMarks(marks) {
  const { errors = [], missed = [] } = marks;
  return [cell(marks), errors.map((error) => h("strong", { class: "error" }, error)),
    missed.length > 0 && h("small", {}, `missed too: ${missed.join(", ")}`),
    marks.differs && h("small", {}, "≠ the recheck changed it")];
}

function pages(view) {
  if (view.pages < 2) return null;
  const to = (page, text) => {
    if (page < 1 || page > view.pages) return h("span", { class: "quiet" }, text);
    const query = new URLSearchParams(state.route.query);
    query.set("page", page);
    return h("a", { href: href(state.route.kit, "", query) }, text);
  };
  return h("nav", { class: "pager", "aria-label": "Pages" }, to(view.page - 1, "← earlier"),
    h("span", {}, `page ${view.page} of ${view.pages}`), to(view.page + 1, "later →"));
}

// ---- one document

function documentView() {
  const { view } = state, isPage = (found) => found.kind === "document";
  const pages = view.panels.filter(isPage), others = view.panels.filter((found) => !isPage(found));
  const kind = { true: "Hard case. ", false: "Clean case. " }[view.hard] || "";
  const runs = view.live
    ? h("p", {}, h("button", { type: "button", id: "replay", onclick: load }, "Back to the replay"))
    : h("details", {}, h("summary", { id: "choose" }, "Choose the runs to show"), runChooser());
  return [
    h("div", { class: "title" },
      h("div", {}, heading(view.id), h("p", {}, kind, view.sentence || view.case), neighbours(view)), askModel()),
    h("ul", { class: "replays", "aria-label": "Where the answers come from" }, view.runs.map(replay)), runs,
    h("div", { class: "beside" },
      h("div", { class: "left" }, pages.map(panel)), h("div", { class: "right" }, others.map(panel))),
  ];
}

function neighbours(view) {
  const step = (doc, text, key) => doc
    ? h("a", { href: docHref(doc), "data-key": key, id: `go-${key}` }, text, " ", h("kbd", {}, key))
    : h("span", { class: "quiet" }, text);
  return h("nav", { class: "pager", "aria-label": "Neighbours in the list" },
    step(view.previous, "← previous", "k"), step(view.next, "next →", "j"),
    step(view.previous_wrong, "← previous wrong", "p"), step(view.next_wrong, "next wrong →", "n"),
    h("span", { class: "quiet" }, `${view.place} of ${view.matching} in this list`),
    h("a", { href: docHref(view.id, "/prompt") }, "Prompt"));
}

function replay(run) {
  const when = run.date ? run.date.replace("T", ", ").replace(/(\+00:00|Z)$/, " UTC") : "no date";
  const told = [run.kind, `arm ${run.arm}`, run.model ? `model ${run.model}` : "no model", when].join(", ");
  const failed = run.outcome !== "answered" && h("em", {}, ` – ${run.outcome.replaceAll("_", " ")}`);
  const whose = state.view.live ? "An answer of this minute" : `Replay of ${run.id}`;
  return h("li", {}, h("strong", {}, whose), `: ${told}`, failed);
}

function askModel() {
  const { board: { model }, check: asked } = state, busy = asked && asked.busy;
  const offer = model.why || `Asks ${model.name} about this document: one call, which may cost money.`;
  return h("div", { class: "ask" }, h("button", {
    type: "button", id: "check", "aria-disabled": busy && "true", "aria-describedby": "check-says",
    onclick: () => busy || check(),
  }, "Check"), h("p", { id: "check-says" }, asked ? asked.text : offer));
}

function prompt() {
  const back = h("a", { href: docHref(state.view.id) }, "Back to the document");
  return [heading(`Prompt for ${state.view.id}`), h("p", {}, back), state.view.panels.map(panel)];
}

// ---- panels by kind

const PANELS = {
  document: paper, fields: fieldTable, ladder, arithmetic, state: states, table: plainTable, note,
};

function panel(found) {
  return PANELS[found.kind](found);
}

function section(found, title, ...content) {
  return h("section", { class: `panel ${found.kind} ${found.tone || ""}` },
    title && h("h2", {}, title), found.text && h("p", {}, found.text), content);
}

function paper(found) {
  const named = new Set();
  const piece = (segment) => {
    if (!segment.fields.length) return segment.text;
    const first = segment.value && segment.fields.find((name) => !named.has(name));
    named.add(first);
    return h(segment.value ? "mark" : "span",
      { "data-fields": segment.fields.join(" "), id: first && `line-${first}` }, segment.text);
  };
  const blocks = found.blocks.map((block) => h("div", { class: block.withheld ? "block withheld" : "block" },
    block.withheld && h("p", { class: "stamp" }, `Withheld: ${block.withheld}`),
    h("pre", {}, block.segments.map(piece))));
  return section(found, found.title,
    h("div", { class: "page", tabindex: "0", role: "region", "aria-label": found.title }, blocks));
}

function fieldTable(found) {
  const button = (row) => h("button", {
    type: "button", class: "field", id: `field-${row.field}`, "aria-describedby": `line-${row.field}`,
    onclick: () => bring(row.field),
  }, soft(row.field));
  const rows = found.rows.map((row) => h("tr", { "data-fields": row.field },
    h("th", { scope: "row" }, button(row), row.unit && row.unit !== "count" && h("small", {}, row.unit)),
    row.cells.map((one) => h("td", { class: one.same && "same" }, cell(one)))));
  return section(found, null, table(found.title, ["field", ...found.columns], h("tbody", {}, rows)));
}

function ladder(found) {
  // Where no values are set beside a limit, the rule's own words say what was asked.
  const asked = (rung) => rung.steps.some((step) => step.compares) ? rung.class : rung.says;
  const rows = found.rungs.map((rung, i) => h("tr", {}, h("th", { scope: "row" },
    soft(`${i + 1}. ${rung.rule}`), h("small", {}, asked(rung))), rung.steps.map(rungStep)));
  const ends = h("tr", {}, h("th", { scope: "row" }, "ends"), found.ends.map((end) => h("td", {}, soft(end))));
  return section(found, null,
    table(found.title, ["rule", ...found.columns], [h("tbody", {}, rows), h("tfoot", {}, ends)]));
}

function rungStep(step) {
  const operand = (part) => h("span", { class: `value ${part.kind}`, "data-fields": part.field }, soft(part.text));
  const compares = step.compares && [operand(step.compares[0]),
    h("b", {}, ` ${TESTS[step.compares[1]] || step.compares[1]} `), operand(step.compares[2])];
  return h("td", { class: `step ${step.result.replaceAll(" ", "-")}` },
    h("span", { class: "result" }, `${SIGNS[step.result]} ${step.result}`),
    compares && h("span", { class: "compares" }, compares), step.detail && h("small", {}, step.detail));
}

function arithmetic(found) {
  const rows = found.steps.map((step) => h("tr", {}, h("th", { scope: "row" }, step.says),
    [step.left, step.sign, step.right, step.result].map((text) => h("td", { class: "number" }, text))));
  return section(found, null, table(found.title, ["step", "left", "", "right", "result"], h("tbody", {}, rows)));
}

function states(found) {
  return section(found, found.title, h("dl", {}, found.items.map((item) =>
    h("div", {}, h("dt", {}, item.name), h("dd", {}, item.value, item.why && h("small", {}, item.why))))));
}

function plainTable(found) {
  const rows = found.rows.map(([first, ...others]) => h("tr", {},
    h("th", { scope: "row" }, cell(first)), others.map((one) => h("td", {}, cell(one)))));
  return section(found, null, table(found.title, found.columns, h("tbody", {}, rows)));
}

function note(found) {
  return section(found, found.title, found.lines && h("pre", { tabindex: "0" }, found.lines.join("\n")));
}

// ---- a field and its line

function link(event) {
  const target = event.target.closest && event.target.closest("[data-fields]");
  const names = target ? target.dataset.fields.split(" ") : [];
  for (const element of document.querySelectorAll("[data-fields]")) {
    element.classList.toggle("linked", element.dataset.fields.split(" ").some((name) => names.includes(name)));
  }
  const page = document.querySelector(".page"), line = page && page.querySelector("mark.linked");
  if (line && !page.contains(target)) keepInView(page, line);
}

// Scrolls the paper and never the page, which would carry the reader away from the field.
function keepInView(page, line) {
  const outer = page.getBoundingClientRect(), inner = line.getBoundingClientRect();
  const outside = inner.top < outer.top || inner.bottom > outer.bottom;
  if (outside) page.scrollTop += inner.top - outer.top - page.clientHeight / 2;
}

function bring(field) {
  const line = byId(`line-${field}`);
  if (line) line.scrollIntoView({ block: "center" });
}

// ---- the keyboard

// A new view begins at its heading; a list that is come back to, at the row that was left.
function arrive(last) {
  const row = byId(state.route.view === "list" ? `doc-${last.doc}` : `kit-${last.kit}`);
  if (!row) scrollTo(0, 0);
  (row || document.querySelector("h1")).focus({ preventScroll: !row });
}

function walk(step) {
  const links = [...document.querySelectorAll("a.step")], at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  if (next) next.focus();
}

function up() {
  const { view, kit, doc, query } = state.route;
  const above = { prompt: () => docHref(doc), document: () => href(kit, "", query), start: () => location.hash };
  location.hash = (above[view] || (() => "#/"))();
}

function help() {
  byId("help").showModal();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const typing = event.target.closest("input:not([type=checkbox]), select");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  const neighbour = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const search = byId("f-q");
  const actions = { "?": help, Escape: up, "/": search && (() => search.focus()), j: () => walk(1), k: () => walk(-1) };
  const action = neighbour ? () => neighbour.click() : actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

document.addEventListener("keydown", key);
for (const name of ["mouseover", "focusin"]) document.addEventListener(name, link);
byId("keys").addEventListener("click", help);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
addEventListener("hashchange", load);
load();
