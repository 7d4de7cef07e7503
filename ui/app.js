/* The board's page: one state, one render(). Draws panels by their kind and never asks which kit it shows.
   Every value reaches the page as text; nothing from a document, a reply or a rulebook is ever read as HTML. */
"use strict";

const state = { route: null, board: null, kit: null, view: null, error: null, check: null };
const SIGNS = { pass: "✓", skipped: "–", breached: "✗", matched: "●", "could not be read": "?", "not reached": "·", "no answer": "?" };
const TESTS = { "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", in: "is one of", "not in": "is none of" };
let turn = 0;

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

function table(caption, heads, rows, attributes) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", attributes, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), rows));
}

// A rate's interval as a line from 0 to 100 %: the words beside it say the same, so it is hidden from readers.
function interval([low, rate, high]) {
  const part = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const drawing = part("svg", { class: "interval", viewBox: "0 0 104 10", "aria-hidden": "true" });
  drawing.append(part("line", { x1: 2, x2: 102, y1: 5, y2: 5, class: "track" }),
    part("line", { x1: 2 + 100 * low, x2: 2 + 100 * high, y1: 5, y2: 5, class: "range" }),
    part("circle", { cx: 2 + 100 * rate, cy: 5, r: 2.5 }));
  return drawing;
}

function cell(found) {
  if (Array.isArray(found)) return h("ul", { class: "run-on" }, found.map((one) => h("li", {}, cell(one))));
  if (found.same) return h("span", { class: "quiet" }, "same");
  const text = soft(found.text === "" ? "“”" : found.text);
  return [found.head && h("span", { class: "head" }, found.head), verdict(found.hit),
    h("span", { class: `value ${found.kind || ""}` }, found.link ? h("a", { href: address(found.link) }, text) : text),
    found.interval && interval(found.interval), found.why && h("small", {}, found.why)];
}

// Long names may break behind their underscores and nowhere else; the text stays what it is.
function soft(text) {
  return String(text).split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
}

function verdict(hit) {
  if (hit !== true && hit !== false) return null;
  return h("span", { class: hit ? "hit" : "miss" }, hit ? "✓ hit" : "✗ miss");
}

// ---- addresses: #/KIT, #/KIT/d/DOCUMENT, #/KIT/d/DOCUMENT/prompt, #/KIT/rules, each with ?filters

function parseRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [kit, what, doc, more] = path.split("/").map(decode);
  const view = !kit ? "start" : what === "rules" ? "rules" : what === "d" ? (more === "prompt" ? "prompt" : "document") : "list";
  return { view, kit, doc, query: new URLSearchParams(query || "") };
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function href(kit, rest = "", query = null) {
  const text = query ? query.toString() : "";
  return `#/${encodeURIComponent(kit)}${rest}${text ? "?" + text : ""}`;
}

function docHref(doc, rest = "") {
  return href(state.route.kit, `/d/${encodeURIComponent(doc)}${rest}`, state.route.query);
}

function address(link) {
  return link.document ? docHref(link.document) : href(state.route.kit, "", new URLSearchParams(link));
}

function setFilter(name, values) {
  const query = new URLSearchParams(state.route.query);
  query.delete(name);
  query.delete("page");
  for (const value of values) if (value) query.append(name, value);
  const rest = state.route.view === "document" ? `/d/${encodeURIComponent(state.route.doc)}` : "";
  history.replaceState(null, "", href(state.route.kit, rest, query));
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
  const doc = `${kit}/documents/${encodeURIComponent(route.doc)}`, query = route.query.toString();
  const path = { start: "/api/kits", list: `${kit}/documents?${query}`, document: `${doc}?${query}`, prompt: `${doc}/prompt`, rules: `${kit}/rules` }[route.view];
  const next = { error: null, check: null, kit: null, view: null };
  try {
    [next.board, next.kit, next.view] = await Promise.all([state.board || get("/api/board"), kit && get(kit), get(path)]);
  } catch (problem) {
    next.error = problem.message || "The board does not answer; is it still running?";
  }
  if (mine !== turn) return;
  Object.assign(state, next, { board: next.board || state.board });
  const moved = !last || last.view !== route.view || last.doc !== route.doc || last.kit !== route.kit;
  render();
  if (last && moved) arrive();
}

async function check() {
  const mine = turn, doc = state.route.doc;
  state.check = { busy: true, text: `Asking ${state.board.model.name || "the model"} about ${doc} …` };
  render();
  let found;
  try {
    const response = await fetch(`/api/kits/${encodeURIComponent(state.route.kit)}/check`, {
      method: "POST", body: JSON.stringify({ document: doc }),
      headers: { "Content-Type": "application/json", "X-Board-Token": state.board.token } });
    found = await response.json();
  } catch {
    found = { error: "The board does not answer; is it still running?" };
  }
  if (mine !== turn) return;
  state.check = { text: found.error || "Asked just now; nothing of this is recorded." };
  if (!found.error) state.view = { ...state.view, live: true, runs: found.runs, panels: found.panels };
  render();
}

// ---- the views

function render() {
  const active = document.activeElement, id = active && active.id, caret = active && active.selectionStart;
  const views = { start, list, document: documentView, prompt, rules };
  const content = state.error ? broken() : views[state.route.view]();
  document.getElementById("main").replaceChildren(...content.flat(9).filter(Boolean));
  document.getElementById("where").replaceChildren(where());
  document.getElementById("status").textContent = statusText();
  document.title = [...document.querySelectorAll("h1"), ...(state.kit ? [{ textContent: state.kit.title }] : [])]
    .map((found) => found.textContent).concat("Touchstone").filter((text, i, all) => all.indexOf(text) === i).join(" · ");
  const again = id && document.getElementById(id);
  if (again && again !== document.activeElement) {
    again.focus({ preventScroll: true });
    if (caret !== undefined && caret !== null) again.setSelectionRange(caret, caret);
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
    h("li", {}, h("a", { href: to, "aria-current": i === steps.length - 1 ? "page" : null }, text))));
}

function statusText() {
  if (state.error) return "";
  if (state.check) return state.check.text;
  if (state.route.view === "list") return `${state.view.matching} of ${state.view.total} documents`;
  return "";
}

function heading(text) {
  return h("h1", { tabindex: "-1" }, text);
}

function broken() {
  return [heading("This cannot be shown"), h("p", { class: "note warn" }, state.error),
    h("p", {}, h("a", { href: "#/" }, "To the kits"))];
}

function problems(list) {
  return (list || []).map((text) => h("p", { class: "note warn" }, text));
}

function start() {
  const rows = state.view.kits.map((kit) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: href(kit.name), id: `kit-${kit.name}` }, kit.title), kit.decides && h("p", {}, kit.decides),
      problems(kit.problems)),
    h("td", { class: "number" }, kit.documents === undefined ? "–" : `${kit.documents.toLocaleString("en")}`, h("small", {}, kit.noun)),
    h("td", { class: "number" }, kit.committed === undefined ? "–" : `${kit.committed}`,
      h("small", {}, kit.local ? `committed, ${kit.local} local` : "committed")),
    h("td", {}, figures(kit))));
  return [heading("Touchstone"), h("p", { class: "lead" }, "What each kit decides, how well it does, and every document behind the figures."),
    table("Kits", ["What is decided", "Documents", "Runs", "Headline, of all documents, 95 % interval"], h("tbody", {}, rows), { class: "kits" })];
}

function figures(kit) {
  if (!kit.figures || !kit.figures.length) return "nothing recorded yet";
  const lines = kit.figures.map((line) => h("tr", {}, h("th", { scope: "row" }, line.name, h("small", {}, line.kind)),
    h("td", {}, cell(line.raw)), h("td", {}, line.rechecked && cell(line.rechecked))));
  return [!kit.has_model_run && h("p", { class: "quiet" }, "No model run is recorded yet; these are the baselines."),
    h("table", { class: "figures" }, h("caption", { class: "hidden" }, `${kit.metric} of ${kit.title}`),
      h("thead", {}, h("tr", {}, [kit.metric, "raw", "rechecked"].map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, lines))];
}

function tabs(current) {
  const { kit, query } = state.route;
  return h("nav", { class: "tabs", "aria-label": "Views of this kit" }, [["Documents", "", "list"], ["Rules", "/rules", "rules"]]
    .map(([text, rest, view]) => h("a", { href: href(kit, rest, query), "aria-current": view === current ? "page" : null }, text)));
}

function list() {
  const { kit, view } = state;
  return [heading(kit.title), h("p", { class: "lead" }, kit.decides), tabs("list"), problems(kit.problems), kit.panels.map(panel),
    h("section", { "aria-labelledby": "documents" }, h("h2", { id: "documents" }, "Documents"), filterForm(), documentTable(view), pager(view))];
}

function documentTable(view) {
  if (!view.rows.length) return h("p", { class: "note" }, view.total ? "No document passes these filters." : "This kit has no documents yet.");
  const hasGold = view.rows.some((row) => row.gold);
  const rows = view.rows.map((row) => h("tr", {},
    h("th", { scope: "row" }, h("a", { class: "doc", id: `doc-${row.id}`, href: docHref(row.id) }, row.id)),
    h("td", {}, (row.case || "–").replaceAll("_", " "), row.sentence && h("small", {}, row.sentence)),
    h("td", {}, row.hard === true ? "hard" : row.hard === false ? "clean" : "–"),
    hasGold && h("td", { class: "value" }, soft(row.gold || "–")),
    row.runs.map((marks) => h("td", {}, cell(marks), marks.errors && marks.errors.map((error) => h("strong", { class: "error" }, error)),
      marks.missed && marks.missed.length > 0 && h("small", {}, `missed too: ${marks.missed.join(", ")}`),
      marks.differs && h("small", {}, "≠ the recheck changed it")))));
  const heads = ["Document", "Planned case", "Kind", ...(hasGold ? ["Gold"] : []), ...view.runs.map((run) => `${run.name}, ${view.column}`)];
  return table(`${view.matching} of ${view.total} documents`, heads, h("tbody", {}, rows), { class: "documents" });
}

function pager(view) {
  if (view.pages < 2) return null;
  const to = (page, text) => {
    const query = new URLSearchParams(state.route.query);
    query.set("page", page);
    return page >= 1 && page <= view.pages ? h("a", { href: href(state.route.kit, "", query) }, text) : h("span", { class: "quiet" }, text);
  };
  return h("nav", { class: "pager", "aria-label": "Pages" }, to(view.page - 1, "← earlier"), h("span", {}, `page ${view.page} of ${view.pages}`), to(view.page + 1, "later →"));
}

function filterForm() {
  const query = state.route.query;
  const select = (name, label, options) => h("label", {}, label, h("select", { id: `f-${name}`, onchange: (event) => setFilter(name, [event.target.value]) },
    options.map(([value, text]) => h("option", { value, selected: (query.get(name) || "") === value }, text))));
  const flag = (name, label) => h("label", { class: "flag" }, h("input", { type: "checkbox", id: `f-${name}`, checked: query.get(name) === "1",
    onchange: (event) => setFilter(name, [event.target.checked ? "1" : ""]) }), label);
  return h("form", { class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    h("label", {}, "Search", h("input", { type: "search", id: "f-q", value: query.get("q") || "", placeholder: "id, case, words on the page",
      oninput: (event) => setFilter("q", [event.target.value]) })),
    select("error", "Named error", [["", "any or none"], ...Object.entries(state.kit.errors)]),
    select("case", "Planned case", [["", "all"], ...state.kit.cases.map((name) => [name, name.replaceAll("_", " ")])]),
    select("hard", "Kind", [["", "all"], ["1", "hard"], ["0", "clean"]]),
    select("column", "Answers", [["", "raw"], ["rechecked", "rechecked"]]),
    h("fieldset", {}, h("legend", {}, "Only"), flag("wrong", "wrong on anything"), flag("differs", "raw ≠ rechecked")), runChooser(),
    query.toString() && h("a", { href: href(state.route.kit), id: "f-clear" }, "Clear all filters"));
}

function runChooser() {
  const shown = state.view.runs.map((run) => run.id);
  const choose = () => setFilter("run", [...document.querySelectorAll("[data-run]:checked")].map((box) => box.dataset.run));
  if (!state.kit.runs.length) return h("p", { class: "quiet" }, "No run is recorded yet, so there are no answers to show.");
  return h("fieldset", {}, h("legend", {}, "Runs shown"), state.kit.runs.map((run, i) => h("label", { class: "flag", title: run.id },
    h("input", { type: "checkbox", id: `run-${i}`, "data-run": run.id, checked: shown.includes(run.id), onchange: choose }),
    run.local ? `${run.name} (local)` : run.name)));
}

function documentView() {
  const { view } = state, [page, ...others] = view.panels;
  const step = (doc, text, key) => doc ? h("a", { href: docHref(doc), "data-key": key, id: `go-${key}` }, text, " ", h("kbd", {}, key))
    : h("span", { class: "quiet" }, text);
  const kind = view.hard === true ? "Hard case. " : view.hard === false ? "Clean case. " : "";
  return [h("div", { class: "title" }, h("div", {}, heading(view.id), h("p", {}, kind, view.sentence || view.case),
    h("nav", { class: "pager", "aria-label": "Neighbours in the list" }, step(view.previous, "← previous", "k"), step(view.next, "next →", "j"),
      step(view.previous_wrong, "← previous wrong", "p"), step(view.next_wrong, "next wrong →", "n"),
      h("span", { class: "quiet" }, `${view.place} of ${view.matching} in this list`), h("a", { href: docHref(view.id, "/prompt") }, "Prompt"))), askModel()),
    h("ul", { class: "replays", "aria-label": "Where the answers come from" }, view.runs.map(replay)),
    view.live ? h("p", {}, h("button", { type: "button", id: "replay", onclick: load }, "Back to the replay"))
      : h("details", {}, h("summary", { id: "choose" }, "Choose the runs to show"), runChooser()),
    h("div", { class: "beside" }, h("div", { class: "left" }, panel(page)), h("div", { class: "right" }, others.map(panel)))];
}

function replay(run) {
  const when = run.date ? run.date.replace("T", ", ").replace(/(\+00:00|Z)$/, " UTC") : "no date";
  return h("li", {}, h("strong", {}, state.view.live ? "Asked just now" : "Replay"),
    `: ${run.name}, ${run.kind}, arm ${run.arm}, ${run.model ? "model " + run.model : "no model"}, ${when}`,
    state.view.live ? "" : `, run ${run.id}`, run.outcome && run.outcome !== "answered" && h("em", {}, ` – ${run.outcome.replaceAll("_", " ")}`));
}

function askModel() {
  const { model } = state.board, busy = state.check && state.check.busy;
  return h("div", { class: "ask" }, h("button", { type: "button", id: "check", "aria-disabled": busy ? "true" : null, onclick: () => busy || check(), "aria-describedby": "check-says" }, "Check"),
    h("p", { id: "check-says" }, state.check ? state.check.text : model.why || `Asks ${model.name} about this document: one call, which may cost money.`));
}

function prompt() {
  return [heading(`Prompt for ${state.view.id}`), h("p", {}, h("a", { href: docHref(state.view.id) }, "Back to the document")), state.view.panels.map(panel)];
}

function rules() {
  return [heading(state.kit.title), tabs("rules"), problems(state.view.problems), state.view.panels.map(panel)];
}

// ---- panels by kind

function panel(found) {
  const kinds = { document: pagePanel, fields: fieldsPanel, ladder: ladderPanel, arithmetic: arithmeticPanel, state: statePanel, table: tablePanel, note: notePanel };
  return kinds[found.kind](found);
}

function section(found, ...content) {
  return h("section", { class: `panel ${found.kind}` }, found.title && h("h2", {}, found.title), found.text && h("p", {}, found.text), content);
}

function pagePanel(found) {
  const named = new Set();
  const piece = (segment) => {
    if (!segment.fields.length) return segment.text;
    const first = segment.value && segment.fields.find((name) => !named.has(name));
    if (first) named.add(first);
    return h(segment.value ? "mark" : "span", { "data-fields": segment.fields.join(" "), id: first ? `line-${first}` : null }, segment.text);
  };
  return section({ kind: "document", title: found.title }, h("div", { class: "paper", tabindex: "0", role: "region", "aria-label": found.title },
    found.blocks.map((block) => h("div", { class: block.withheld ? "block withheld" : "block" },
      block.withheld && h("p", { class: "stamp" }, `Withheld: ${block.withheld}`), h("pre", {}, block.segments.map(piece))))));
}

function fieldsPanel(found) {
  const rows = found.rows.map((row) => h("tr", { "data-fields": row.field },
    h("th", { scope: "row" }, h("button", { type: "button", class: "field", id: `field-${row.field}`, "aria-describedby": `line-${row.field}`,
      onclick: () => bring(row.field) }, soft(row.field)), row.unit && row.unit !== "count" && h("small", {}, row.unit)),
    row.cells.map((one) => h("td", { class: one.same ? "same" : null }, cell(one)))));
  return section({ kind: "fields" }, table(found.title, ["field", ...found.columns], h("tbody", {}, rows)));
}

function ladderPanel(found) {
  const rows = found.rungs.map((rung, i) => h("tr", {},
    h("th", { scope: "row", title: rung.why }, soft(`${i + 1}. ${rung.rule}`), rung.class && h("small", {}, rung.class)),
    rung.steps.map((step) => h("td", { class: `step ${step.result.replaceAll(" ", "-")}` }, h("span", { class: "result" }, `${SIGNS[step.result]} ${step.result}`),
      step.compares && h("span", { class: "compares" }, step.compares.map((part) => typeof part === "string" ? h("b", {}, ` ${TESTS[part] || part} `)
        : h("span", { class: `value ${part.kind}`, "data-fields": part.field }, part.text))),
      step.detail && h("small", {}, step.detail)))));
  return section({ kind: "ladder" }, table(found.title, ["rule", ...found.columns], [h("tbody", {}, rows),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "ends"), found.ends.map((end) => h("td", {}, soft(end)))))]));
}

function arithmeticPanel(found) {
  return section({ kind: "arithmetic" }, table(found.title, ["step", "", "", "", "result"], h("tbody", {}, found.steps.map((step) =>
    h("tr", {}, h("th", { scope: "row" }, step.says), [step.left, step.sign, step.right, step.result].map((text) => h("td", { class: "number" }, text)))))));
}

function statePanel(found) {
  return section(found, h("dl", {}, found.items.map((item) => h("div", {}, h("dt", {}, item.name), h("dd", {}, item.value, item.why && h("small", {}, item.why))))));
}

function tablePanel(found) {
  return section({ kind: "table" }, table(found.title, found.columns, h("tbody", {}, found.rows.map((row) => h("tr", {},
    row.map((one, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, cell(one))))))));
}

function notePanel(found) {
  return h("section", { class: `panel note ${found.tone}` }, found.title && h("h2", {}, found.title), found.text && h("p", {}, found.text),
    found.lines && h("pre", { tabindex: "0" }, found.lines.join("\n")));
}

// ---- linking a field with its line, and the keyboard

function link(event) {
  const target = event.target.closest && event.target.closest("[data-fields]");
  const names = target ? target.dataset.fields.split(" ") : [];
  for (const element of document.querySelectorAll("[data-fields]")) {
    element.classList.toggle("linked", element.dataset.fields.split(" ").some((name) => names.includes(name)));
  }
  const paper = document.querySelector(".paper"), line = paper && paper.querySelector("mark.linked");
  if (line && !paper.contains(target)) keepInView(paper, line);
}

// Scrolls the paper and never the page, which would carry the reader away from the field.
function keepInView(paper, line) {
  const outer = paper.getBoundingClientRect(), inner = line.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) paper.scrollTop += inner.top - outer.top - paper.clientHeight / 2;
}

function bring(field) {
  const line = document.getElementById(`line-${field}`);
  if (line) line.scrollIntoView({ block: "center" });
}

function arrive() {
  scrollTo(0, 0);
  const head = document.querySelector("h1");
  if (head) head.focus({ preventScroll: true });
}

function walkList(step) {
  const links = [...document.querySelectorAll("a.doc")];
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  if (next) next.focus();
}

function up() {
  const { view, kit, doc, query } = state.route;
  location.hash = view === "prompt" ? docHref(doc) : view === "document" ? href(kit, "", query) : "#/";
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
  const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  const step = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const actions = { "?": () => document.getElementById("help").showModal(), Escape: () => state.route.view !== "start" && up(),
    "/": () => document.getElementById("f-q") && document.getElementById("f-q").focus(), j: () => walkList(1), k: () => walkList(-1) };
  if (!step && !actions[event.key]) return;
  event.preventDefault();
  if (step) step.click();
  else actions[event.key]();
}

document.addEventListener("keydown", key);
for (const name of ["mouseover", "focusin"]) document.addEventListener(name, link);
document.getElementById("keys").addEventListener("click", () => document.getElementById("help").showModal());
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("main").focus(); });
addEventListener("hashchange", load);
load();
