/* The board's page: one state, one render(). Draws panels by their kind and never asks which kit it shows.
   Every value reaches the page as text; nothing from a document, a reply or a rulebook is ever read as HTML. */
"use strict";

const state = { route: null, board: null, kit: null, view: null, error: null, check: null };
let turn = 0; // of the address: an answer that belongs to an earlier one is dropped

const SIGNS = {
  pass: "✓", skipped: "–", "does not apply": "–", breached: "✗", matched: "●", "could not be read": "?",
  "not reached": "·", "no answer": "?",
};
const LINES = "http://www.w3.org/2000/svg";

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

// What a sentence has between backticks is code. Where a document is read, everything stays as it stands.
function prose(text) {
  if (state.route.doc) return text;
  return String(text).split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

function table(caption, heads, body, kind, text) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: kind }, h("caption", {}, h("span", {}, caption, text && h("small", {}, text))),
      h("thead", {}, h("tr", {}, heads.map((head) => head === "" ? h("td") : h("th", { scope: "col" }, head)))), body));
}

function cell(found) {
  if (Array.isArray(found)) return h("ul", { class: "run-on" }, found.map((one) => h("li", {}, cell(one))));
  if (found.same) return h("span", { class: "quiet" }, "same");
  const text = String(found.text).includes("`") ? prose(found.text) : soft(found.text === "" ? "“”" : found.text);
  return [
    found.head && h("span", { class: "head" }, found.head), verdict(found.hit),
    h("span", { class: `value ${found.kind || ""}` }, found.link ? h("a", { href: address(found.link) }, text) : text),
    found.interval && interval(found.interval, found.null), found.why && h("small", {}, prose(found.why)),
  ];
}

function verdict(hit) {
  if (hit !== true && hit !== false) return null;
  return h("span", { class: hit ? "hit" : "miss" }, hit ? "✓ hit" : "✗ miss");
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(LINES, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A rate's interval as a line from 0 to 100 %, with a tick where the null baseline stands. The words beside it say the
// same, so readers of words are spared it; so with every other drawing here.
function interval([low, rate, high], floor) {
  const at = (share) => 2 + 100 * share;
  return svg("svg", { class: "interval", viewBox: "0 0 104 10", "aria-hidden": "true" },
    svg("line", { x1: 2, x2: 102, y1: 5, y2: 5 }),
    floor === undefined ? "" : svg("line", { x1: at(floor), x2: at(floor), y1: 0, y2: 10, class: "null" }),
    svg("line", { x1: at(low), x2: at(high), y1: 5, y2: 5, class: "range" }),
    svg("circle", { cx: at(rate), cy: 5, r: 2.5 }));
}

function bar(share, tone) {
  return svg("svg", { class: `bar ${tone}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: 100 * share, height: 10 }));
}

// ---- addresses: #/KIT, #/KIT/d/DOCUMENT, #/KIT/d/DOCUMENT/prompt, #/KIT/VIEW, each with ?filters

const TABS = { list: "Documents", compare: "Compare", watch: "Watch", rules: "Rules", cost: "Cost" };

function parseRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [kit, what, doc, more, ...rest] = path.split("/").map(decoded);
  const isDocument = what === "d" && doc, known = isDocument ? [undefined, "", "prompt"].includes(more) : !doc;
  const inside = isDocument ? (more === "prompt" ? "prompt" : "document") : TABS[what] ? what : "list";
  const isNowhere = !known || rest.length > 0 || (what && !isDocument && !TABS[what]);
  return { view: kit ? inside : "start", kit, doc: isDocument ? doc : undefined, isNowhere,
    query: new URLSearchParams(query || "") };
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
  if (!link.document) return href(state.route.kit, "", new URLSearchParams(link));
  const { view: { first, second }, route } = state, compared = first && [["run", first.id], ["run", second.id]];
  return docHref(link.document, "", route.doc ? route.query : new URLSearchParams(compared || []));
}

function setFilter(name, values) {
  setFilters({ page: [], [name]: values });
}

function setFilters(wanted) {
  const query = new URLSearchParams(state.route.query);
  for (const [name, values] of Object.entries(wanted)) {
    query.delete(name);
    for (const value of values) if (value) query.append(name, value);
  }
  const { view, kit, doc } = state.route, rest = view === "list" ? "" : `/${view}`;
  history.replaceState(null, "", view === "document" ? docHref(doc, "", query) : href(kit, rest, query));
  load(true);
}

// ---- reading from the server

async function get(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}

async function load(quiet) {
  const mine = ++turn, last = state.route, route = parseRoute();
  state.route = route;
  const kit = route.kit && `/api/kits/${encodeURIComponent(route.kit)}`;
  const doc = `${kit}/documents/${encodeURIComponent(route.doc)}`;
  const runs = new URLSearchParams(route.view === "list" ? route.query.getAll("run").map((id) => ["run", id]) : []);
  const query = ["watch", "rules"].includes(route.view) ? "" : `?${route.query}`;
  const path = {
    start: "/api/kits", list: `${kit}/documents${query}`, document: `${doc}${query}`, prompt: `${doc}/prompt`,
  }[route.view] || `${kit}/${route.view}${query}`;
  const next = { error: null, check: null, kit: null, view: null };
  try {
    if (route.isNowhere) throw new Error(`${location.hash}: no such address; the board begins at #/`);
    if (["start", "rules", "watch"].includes(route.view) && route.query.size) {
      throw new Error(`${location.hash}: this view takes no parameters; leave out what stands behind ?`);
    }
    const wanted = [state.board || get("/api/board"), kit && get(`${kit}?${runs}`), get(path)];
    [next.board, next.kit, next.view] = await Promise.all(wanted);
  } catch (problem) {
    next.error = problem.message;
  }
  if (mine !== turn) return;
  Object.assign(state, next, { board: next.board || state.board });
  render();
  const pageOf = ({ view, query }) => view === "list" ? query.get("page") || "1" : null;
  const moved = last && (["view", "kit", "doc"].some((name) => last[name] !== route[name])
    || (!quiet && pageOf(last) !== pageOf(route)));
  if (moved) arrive(last);
  else if (!last && decisive()) keepInView(document.querySelector(".page"), decisive());
  if (state.view && state.view.counted < state.view.of) countOn(mine, path);
}

// A large key is walked bit by bit: ask on until all of it is counted, and only then draw anew.
async function countOn(mine, path) {
  let found = state.view;
  while (found.counted < found.of) {
    try {
      found = await get(path);
    } catch (problem) {
      found = { error: problem.message };
    }
    if (mine !== turn) return;
    byId("status").textContent = `${found.counted} of ${found.of} gold rows are counted`;
  }
  if (found.error) state.error = found.error;
  else state.view = found;
  render();
}

async function check() {
  const mine = turn, { kit, doc, query } = state.route;
  state.check = { busy: true, text: `Asking ${state.board.model.name} about ${doc} …` };
  render();
  const headers = { "Content-Type": "application/json", "X-Board-Token": state.board.token };
  const request = { method: "POST", body: JSON.stringify({ document: doc, query: query.toString() }), headers };
  let found;
  try {
    const response = await fetch(`/api/kits/${encodeURIComponent(kit)}/check`, request);
    for await (const one of lines(response.body)) {
      found = one;
      if (one.characters && mine === turn) tell(`${one.characters} characters of the answer have come …`);
    }
  } catch (problem) {
    found = { error: problem.message };
  }
  if (mine !== turn) return;
  if (!found || found.characters) found = { error: "The board went away before the answer was whole; ask again." };
  state.check = { text: found.error || found.failed || `Asked just now; nothing of this is recorded. ${found.spent}` };
  if (!found.error) state.view = { ...found, asking: state.view.asking };
  render();
}

// Yields the JSON objects of a body, one a line, as they arrive.
async function* lines(body) {
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const whole = (rest + piece.value).split("\n");
    rest = whole.pop();
    yield* whole.map((line) => JSON.parse(line));
  }
  if (rest) yield JSON.parse(rest);
}

function tell(text) {
  state.check.text = text;
  for (const id of ["status", "check-says"]) byId(id).textContent = text;
}

// ---- render: the state as it is now, with the focus where it was

function render() {
  const { id, selectionStart: caret } = document.activeElement || {};
  const views = { start, list, document: documentView, prompt, compare, cost, rules: tabbed, watch: tabbed };
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
  const filters = doc && state.view ? onPage() : doc || view === "list" ? query : "";
  if (kit) steps.push([state.kit ? state.kit.title : kit, href(kit, "", filters)]);
  if (TABS[view] && view !== "list") steps.push([TABS[view], href(kit, `/${view}`, query)]);
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
  const { kit, query } = state.route;
  return [heading("This cannot be shown"), h("p", { class: "note warn" }, state.error),
    kit && query.size > 0 && h("p", {}, h("a", { href: href(kit) }, "To this kit, without filters")),
    h("p", {}, h("a", { href: "#/" }, "To the kits"))];
}

function problems(sentences) {
  return sentences.map((text) => h("p", { class: "note warn" }, text));
}

// ---- the start page

function start() {
  const heads = ["What is decided", "Documents", "Runs", "Headline, of all documents, with 95 % interval"];
  return [heading("Touchstone"), lead("What each kit decides, how well, and every document behind the figures."),
    terms(), table("Kits", heads, h("tbody", {}, state.view.kits.map(kitRow)), "kits")];
}

function kitRow(kit, i) {
  const name = h("th", { scope: "row" },
    h("a", { class: "step", id: `kit-${kit.name}`, href: href(kit.name) }, kit.title),
    h("p", {}, kit.decides), kit.worst && worst(kit, i + 1), problems(kit.problems));
  if (kit.documents === undefined) return h("tr", {}, name, ["–", "–", "–"].map((blank) => h("td", {}, blank)));
  const count = (number, noun) => h("td", { class: "number" }, number.toLocaleString("en"), h("small", {}, noun));
  const committed = kit.committed === 1 ? "committed run" : "committed runs";
  return h("tr", {}, name, count(kit.documents, kit.noun),
    count(kit.committed, kit.local ? `${committed}, ${kit.local} local` : committed), h("td", {}, figures(kit)));
}

// The most expensive error that is made, with the digit that goes to it.
function worst({ name, worst: found }, digit) {
  const link = h("a", {
    id: `worst-${name}`, "data-digit": digit, href: href(name, "", new URLSearchParams(found.link)),
  }, found.head);
  return h("p", { class: "worst" }, digit < 10 && h("kbd", {}, digit), " ", link, ` ${found.text}, ${found.by}`,
    h("small", {}, found.why));
}

function figures(kit) {
  if (!kit.figures.length) return "nothing recorded yet";
  const rows = kit.figures.map((line) => h("tr", {},
    h("th", { scope: "row" }, line.name, h("small", {}, says(line))),
    h("td", {}, cell({ ...line.raw, head: "raw" })),
    h("td", {}, line.rechecked && cell({ ...line.rechecked, head: "rechecked" }))));
  return [
    !kit.has_model_run && h("p", { class: "quiet" }, "No model run is recorded yet; these are the baselines."),
    h("table", { class: "figures" }, h("caption", { class: "hidden" }, `${kit.metric} of ${kit.title}`),
      h("thead", {}, h("tr", {}, [kit.metric, "raw", "rechecked"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows)),
  ];
}

// ---- a kit: its figures, its documents, and the other views of it

function tabs() {
  const { kit, view } = state.route;
  return h("nav", { class: "tabs", "aria-label": "Views of this kit" }, Object.entries(TABS).map(([name, text]) =>
    h("a", { href: href(kit, name === "list" ? "" : `/${name}`), "aria-current": name === view && "page" }, text)));
}

function tabbed(...controls) {
  const { problems: told = [], panels } = state.view;
  return [heading(state.kit.title), tabs(), problems(told), terms(), controls, panels.map(panel)];
}

// What a run is: the words for its kind, and the sentence on what its arm does.
function says({ kind, says: text }) {
  return [kind, text].filter(Boolean).join(". ");
}

function terms() {
  return h("details", { class: "terms" }, h("summary", { id: "terms" }, "What the words on this page mean"),
    h("dl", {}, (state.kit || state.board).terms.map(({ term, says: text }) =>
      h("div", {}, h("dt", {}, term), h("dd", {}, text)))));
}

function compare() {
  const { runs, first, second, across, may_differ: guards } = state.view;
  if (!first) return tabbed();
  const choice = (name, label, mine, other) => picked(name, label,
    runs.filter((run) => run.id !== other.id).map((run) => [run.id, run.id]), mine.id, change);
  const change = () => setFilters({
    first: [byId("f-first").value], second: [byId("f-second").value],
    across: guards.filter((guard) => byId(`f-${guard}`).checked),
  });
  return tabbed(h("form", { class: "filters", "aria-label": "Runs to compare" },
    choice("first", "First run", first, second), choice("second", "Second run", second, first),
    h("fieldset", {}, h("legend", {}, "May differ, if the comparison is about it"), guards.map((guard) =>
      h("label", { class: "flag" }, h("input", {
        type: "checkbox", id: `f-${guard}`, checked: across.includes(guard), onchange: change,
      }), guard)))));
}

function cost() {
  const stay = (event) => event.preventDefault();
  return tabbed(h("form", { class: "filters", "aria-label": "Your own numbers", onsubmit: stay },
    state.view.controls.map(control)));
}

// A number that a reader sets: a slider over round steps, and a plain input beside it.
function control({ name, label, unit, value, most, powers }) {
  const steps = powers ? [0] : Array.from({ length: 21 }, (_, i) => i * most / 20);
  for (let ten = 1; powers && ten <= most; ten *= 10) {
    steps.push(...[ten, 2 * ten, 5 * ten].filter((step) => step <= most));
  }
  const near = steps.reduce((best, step, i) => Math.abs(step - value) < Math.abs(steps[best] - value) ? i : best, 0);
  const set = (number) => setFilter(name, [String(number)]);
  return h("fieldset", {}, h("legend", {}, `${label}, ${unit}`),
    h("input", {
      type: "range", id: `slide-${name}`, "aria-label": `${label}, slider`, min: 0, max: steps.length - 1, value: near,
      "aria-valuetext": `${value.toLocaleString("en")} ${unit}`,
      oninput: (event) => { byId(`set-${name}`).value = steps[event.target.value]; },
      onchange: (event) => set(steps[event.target.value]),
    }),
    h("input", {
      type: "number", id: `set-${name}`, "aria-label": label, min: 0, max: most, value,
      onchange: (event) => set(event.target.value),
    }));
}

function list() {
  const { kit, view, route } = state;
  const isFiltered = [...route.query.keys()].some((name) => !["run", "column"].includes(name));
  return [heading(kit.title), lead(kit.decides), tabs(), problems(kit.problems), terms(),
    h("ul", { class: "replays", "aria-label": "The runs shown" }, view.runs.map((run) =>
      h("li", {}, h("strong", {}, run.name), `: ${says(run)}`))), !isFiltered && [
    h("p", {}, h("button", { type: "button", id: "down", onclick: () => byId("documents").scrollIntoView() },
      `Down to the ${view.total.toLocaleString("en")} documents`)),
    h("div", { class: "panels" }, kit.panels.map(panel))],
    h("section", { "aria-labelledby": "documents" }, h("h2", { id: "documents" }, "Documents"),
      filters(), documents(view), pages(view), exports())];
}

function exports() {
  const query = new URLSearchParams(state.route.query);
  query.delete("page");
  const to = (form) => h("a", {
    href: `/api/kits/${encodeURIComponent(state.route.kit)}/documents.${form}?${query}`, download: "",
  }, form.toUpperCase());
  return h("p", { class: "pager" }, "All of these documents as ", to("csv"), to("json"));
}

function picked(name, label, options, chosen, change = (event) => setFilter(name, [event.target.value])) {
  return h("label", {}, label,
    h("select", { id: `f-${name}`, onchange: change },
      options.map(([value, text]) => h("option", { value, selected: chosen === value }, text))));
}

function filters() {
  const { kit, route } = state, chosen = (name) => route.query.get(name) || "";
  const select = (name, label, options) => picked(name, label, options, chosen(name));
  const named = (words) => words.map((word) => [word, word.replaceAll("_", " ")]);
  const cellName = chosen("cell");
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
    kit.blames.length > 0 && select("blame", "Blame", [["", "any or none"], ...named(kit.blames)]),
    cellName && select("cell", "Cell of a matrix", [["", "all"], [cellName, cellName.replaceAll(":", " : ")]]),
    select("case", "Planned case", [["", "all"], ...named(kit.cases)]),
    select("hard", "Kind", [["", "all"], ["1", "hard"], ["0", "clean"]]),
    select("column", "Answers", [["", "raw"], ["rechecked", "rechecked"]]),
    h("fieldset", {}, h("legend", {}, "Only"), flag("wrong", "wrong on anything"), flag("differs", "raw ≠ rechecked"),
      state.view.runs.length > 1 && flag("disagrees", "runs disagree")),
    runChooser(),
    route.query.toString() && h("a", { href: href(route.kit), id: "f-clear" }, "Clear all filters"));
}

function runChooser() {
  const { kit, view } = state, shown = view.runs.map((run) => run.id);
  if (!kit.runs.length) return h("p", { class: "quiet" }, "No run is recorded yet, so there are no answers to show.");
  const choose = (event) => {
    const boxes = [...document.querySelectorAll("[data-run]:checked")];
    if (!boxes.length) {
      event.target.checked = true;
      byId("status").textContent = "One run at least stays shown.";
      return;
    }
    setFilters({ page: [], run: boxes.map((box) => box.dataset.run), ...(boxes.length < 2 && { disagrees: [] }) });
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
    marks.blame && h("small", {}, blame(marks.blame)),
    missed.length > 0 && h("small", {}, `missed too: ${missed.join(", ")}`),
    marks.differs && h("small", {}, "≠ the recheck changed it")];
}

function blame({ kind, rule, field }) {
  return [kind, field && `of ${field}`, rule && `at ${rule}`].filter(Boolean).join(" ");
}

function pages(view) {
  if (view.pages < 2) return null;
  const to = (page, text) => {
    if (page < 1 || page > view.pages) return h("span", { class: "quiet" }, text);
    const query = new URLSearchParams(state.route.query);
    query.set("page", page);
    return h("a", { href: href(state.route.kit, "", query), "data-turn": page - view.page }, text);
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
    ? h("p", {}, h("button", { type: "button", id: "replay", onclick: () => load(true) }, "Back to the replay"))
    : h("details", {}, h("summary", { id: "choose" }, "Choose the runs to show"), runChooser());
  return [
    h("div", { class: "title" },
      h("div", {}, heading(view.id), h("p", {}, kind, view.sentence || view.case), neighbours(view)), askModel()),
    h("ul", { class: "replays", "aria-label": "Where the answers come from" }, view.runs.map(replay)), runs, terms(),
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
  return h("li", {}, h("strong", {}, whose), `: ${told}`, failed, run.says && `. ${run.says}`);
}

function askModel() {
  const { board: { model }, check: asked, view } = state, idle = model.name && !(asked && asked.busy);
  const offer = model.why || `One call to ${model.name}. ${view.asking || ""}`;
  return h("div", { class: "ask" }, h("button", {
    type: "button", id: "check", "aria-disabled": !idle && "true", "aria-describedby": "check-says",
    onclick: () => idle && check(),
  }, "Ask the model"), h("p", { id: "check-says" }, asked ? asked.text : offer));
}

function prompt() {
  const back = h("a", { href: docHref(state.view.id) }, "Back to the document");
  return [heading(`Prompt for ${state.view.id}`), h("p", {}, back), state.view.panels.map(panel)];
}

// ---- panels by kind

const PANELS = {
  document: paper, fields: fieldTable, ladder, arithmetic, state: states, table: plainTable, note, matrix, intervals,
  bars, curve,
};

function panel(found) {
  const drawn = PANELS[found.kind](found);
  return found.folded ? h("details", {}, h("summary", {}, found.title), drawn) : drawn;
}

function section(found, title, ...content) {
  return h("section", { class: `panel ${found.kind} ${found.tone || ""}` },
    title && h("h2", {}, title), found.text && h("p", {}, prose(found.text)), content);
}

function paper(found) {
  const named = new Set();
  const piece = (segment) => {
    if (!segment.fields.length) return segment.text;
    const first = segment.value && segment.fields.find((name) => !named.has(name));
    named.add(first);
    const is = (kind) => segment.value && segment.fields.some((name) => found[kind].includes(name));
    const kinds = ["turns", "blamed"].filter(is);
    return h(segment.value ? "mark" : "span", {
      "data-fields": segment.fields.join(" "), id: first && `line-${first}`, class: kinds.join(" "),
      tabindex: kinds.length > 0 && "-1",
    }, segment.text);
  };
  const blocks = found.blocks.map((block) => h("div", { class: block.withheld ? "block withheld" : "block" },
    block.withheld && h("p", { class: "stamp" }, `Withheld: ${block.withheld}`),
    h("pre", {}, block.segments.map(piece))));
  const legend = [["turns", "what it turns on"], ["blamed", "misread"]].filter(([kind]) => found[kind].length)
    .map(([kind, text]) => [h("mark", { class: kind }, text), " "]);
  return section(found, found.title, h("p", { class: "legend" }, legend),
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
  const rows = found.rungs.map((rung, i) => h("tr", {}, h("th", { scope: "row" },
    soft(`${i + 1}. ${rung.rule}`), h("small", {}, soft(rung.says))), rung.steps.map(rungStep)));
  const ends = [["the walk ends", found.ends], ["answered, raw", found.answered]].filter(([, texts]) => texts.length);
  const foot = ends.map(([head, texts]) =>
    h("tr", {}, h("th", { scope: "row" }, head), texts.map((text) => h("td", {}, soft(text)))));
  return section(found, null,
    table(found.title, ["rule", ...found.columns], [h("tbody", {}, rows), h("tfoot", {}, foot)]));
}

function rungStep(step) {
  const operand = (part) => h("span", { class: `value ${part.kind}`, "data-fields": part.field }, soft(part.text));
  const compares = step.compares && step.compares.map((part) => part.text === undefined
    ? h("b", {}, ` ${part} `) : operand(part));
  return h("td", { class: `step ${step.result.replaceAll(" ", "-")}` },
    h("span", { class: "result" }, `${SIGNS[step.result]} ${step.result}`),
    compares && h("span", { class: "compares" }, compares), step.detail && h("small", {}, step.detail),
    (step.blame || []).map((text) => h("strong", { class: "error" }, text)));
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

function matrix(found) {
  const counted = (one, gold, answer) => h("td", { class: "number" }, one && [
    svg("svg", { class: one.hit ? "share hit" : "share miss", viewBox: "-5 -5 10 10", "aria-hidden": "true" },
      svg("circle", { r: 5 * Math.sqrt(one.share) })),
    h("a", { href: address(one.link), "aria-label": `${one.text}: gold ${gold}, answered ${answer}` }, one.text)]);
  const rows = found.rows.map((row, i) => h("tr", {}, h("th", { scope: "row" }, soft(found.labels[i])),
    row.map((one, j) => counted(one, found.labels[i], found.answers[j]))));
  return section(found, null,
    table(found.title, ["gold ↓ answered →", ...found.answers.map(soft)], h("tbody", {}, rows)));
}

function intervals(found) {
  const groups = found.groups.map((group) => h("tbody", {}, group.lines.map((line, i) => h("tr", {},
    !i && h("th", { scope: "rowgroup", rowspan: group.lines.length }, group.title),
    h("th", { scope: "row" }, line.name), line.cells.map((one) => h("td", {}, cell(one))),
    found.columns.slice(line.cells.length).map(() => h("td"))))));
  return section(found, null, table(found.title, ["figure", "run", ...found.columns], groups));
}

function bars(found) {
  const rows = found.bars.map((one) => h("tr", {}, h("th", { scope: "row" }, soft(one.name)),
    one.cells.map((each, i) => h("td", {}, !i && bar(one.share, one.tone), cell(each)))));
  return section({ kind: found.kind }, null, table(found.title, found.columns, h("tbody", {}, rows), null, found.text));
}

function curve(found) {
  const at = (x, y) => ({ cx: 100 * x, cy: 100 - 100 * y });
  const drawing = svg("svg", { class: "curve", viewBox: "-3 -3 106 106", "aria-hidden": "true" },
    svg("path", { d: "M0 0V100H100M0 100L100 0" }),
    ...found.points.flatMap(({ x, y, low, high }) => [
      svg("line", { x1: 100 * x, x2: 100 * x, y1: 100 - 100 * low, y2: 100 - 100 * high }),
      svg("circle", { ...at(x, y), r: 2 })]));
  const rows = found.points.map((point) => h("tr", {},
    h("th", { scope: "row" }, point.name), h("td", {}, cell(point.cell))));
  return section({ kind: found.kind }, null, drawing,
    table(found.title, ["stated", "right"], h("tbody", {}, rows), null, found.text));
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

// The line that the decision turns on, where a run shown got it wrong.
function decisive() {
  return state.route.view === "document" && state.view && byId(`line-${state.view.turns_on}`);
}

// ---- the keyboard

// A new view begins at its heading, a document that is decided wrongly at the line it turns on; a list that is come
// back to, at the row that was left.
function arrive(last) {
  const turned = last.view === "list" && state.route.view === "list" && last.kit === state.route.kit;
  const rows = turned ? [...document.querySelectorAll("table.documents a.step")] : [], line = decisive();
  const isBack = turned && +(last.query.get("page") || 1) > +(state.route.query.get("page") || 1);
  const row = rows.at(isBack ? -1 : 0) || byId(state.route.view === "list" ? `doc-${last.doc}` : `kit-${last.kit}`);
  if (!row) scrollTo(0, 0);
  (line || row || document.querySelector("h1")).focus({ preventScroll: true });
  if (line || row) (line || row).scrollIntoView({ block: "center" });
}

function walk(step) {
  const links = [...document.querySelectorAll("a.step")], at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  const turn = !next && document.querySelector(`[data-turn="${step}"]`);
  if (next) next.focus();
  else if (turn) turn.click();
}

function up() {
  const { view, kit, doc, query } = state.route;
  const above = {
    prompt: () => docHref(doc), document: () => href(kit, "", state.view ? onPage() : query),
    start: () => location.hash, list: () => "#/",
  };
  location.hash = (above[view] || (() => href(kit)))();
}

// The filters of the list, at the page on which the document stands that is open.
function onPage() {
  const { route, view } = state, query = new URLSearchParams(route.query);
  if (view.page) query.delete("page");
  if (view.page > 1) query.set("page", view.page);
  return query;
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
  const digit = document.querySelector(`[data-digit="${CSS.escape(event.key)}"]`);
  if (digit) digit.focus();
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
addEventListener("hashchange", () => load());
load();
