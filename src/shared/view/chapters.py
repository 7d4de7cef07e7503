"""What a report of a kit says, chapter by chapter, as panels: from records, data files and the code as they stand.

A chapter is a function of a Source and gives panels; what is told in words stands beside it, in `report` of the kit's
board.json. Nothing here depends on the day or the machine.
"""
import datetime
from collections import Counter, namedtuple

from src.shared import cost, rates
from src.shared.files import BadData, read_text
from src.shared.view import charts, compare, costs, figures, inside, listing, measured, page, panels, rules, shelf
from src.shared.view import watch, words

KINDS = {True: "hard", False: "clean"}

# opened: the kit's Opened; shown [Run]: newest model run and floors; told: the texts that all kits share; gate: the
# label gate's Report; attacked {arm: [what became of each attack]}, as `injecting.outcome` gives it; modules
# [inside.Module]
Source = namedtuple("Source", "opened shown told gate attacked modules")


def shown(opened):
    """The Runs that a report draws: the newest model run, its controls and ablations, and every free floor."""
    controls = [run for run in opened.runs if run.id[0] in "sa"]
    return [*[run for run in shelf.of_the_key(opened) if shelf.is_headline(run)][-1:], *controls, *shelf.floors(opened)]


def index(source):
    """The figures that a reader wants before any chapter."""
    opened = source.opened
    mark = opened.kit.about["primary_metric"]
    facts = [("documents", f"{len(opened.documents):,} {opened.kit.about['documents']}"),
             ("runs that are kept", str(len(opened.runs))),
             ("label gate", source.gate.says)]
    return [*measured.no_model(opened), panels.state([(*fact, None) for fact in facts], "At a glance"),
            *measured.headline(source, mark), *_problems(opened)]


def business(source):
    return [*measured.no_model(source.opened), *measured.errors(source), *charts.blames(source.shown)]


def architecture(source):
    kit = source.opened.kit
    stations = panels.table(
        ["station", "takes", "gives", "where"],
        [[f"{place}. {row['name']}", row["takes"], row["gives"], inside.places(kit, row["where"])]
         for place, row in enumerate(source.told["stations"], 1)], "One document, from its page to a line of a record")
    seams = panels.table(["to change", "edit", "and then"],
                         [[row["change"], inside.places(kit, row["where"]), row["then"]]
                          for row in source.told["seams"]], "Where it is made to be changed")
    line = {"kind": "steps", "title": "The line", "steps": [row["name"] for row in source.told["stations"]]}
    return [line, stations, seams]


def app(source):
    return [panels.table(["a person wants to", "and does"], [[row["step"], row["what"]] for row in source.told["app"]],
                         "The board, in the order in which people use it"),
            panels.note("python -m src.app starts it on this machine alone; without a key it shows all.", "Start it")]


def corpus(source):
    opened = source.opened
    lengths = [(name, len(opened.kit.text(name))) for name in opened.documents]
    sizes = sorted(size for _, size in lengths)
    rows = [[word, f"{size:,}", measured.link(next(name for name, each in lengths if each == size))] for word, size in (
        ("shortest", sizes[0]), ("middle", sizes[(len(sizes) - 1) // 2]), ("longest", sizes[-1]))]
    return [panels.table(["page", "characters", "document"], rows,
                         f"How long the {len(sizes):,} pages are: {sum(sizes):,} characters in all"),
            *_kinds(opened), *_answers(opened), _planned(opened), *_samples(opened), *_sources(opened.kit)]


def prompt(source):
    opened = source.opened
    totals, shares, prefixes = [], [], set()
    for name in opened.documents:
        parts = opened.kit.prompt(name)
        fixed = "".join(part.text for part in parts if part.fixed)
        prefixes.add(fixed)
        totals.append(sum(len(part.text) for part in parts))
        shares.append(len(fixed) / totals[-1])
    rows = [["characters of a prompt", *(f"{value:,}" for value in measured.three(totals))],
            ["of it the same on every call", *(figures.percent(value) for value in measured.three(shares))]]
    alike = "one and the same" if len(prefixes) == 1 else f"{len(prefixes)} different ones"
    return [panels.table(["over all documents", "least", "middle", "most"], rows,
                         f"Prompts of {len(totals):,} documents; their fixed beginnings are {alike}"),
            *measured.parts(opened), *page.prompt(opened, next(iter(opened.documents)))["panels"]]


def evals(source):
    opened = source.opened
    compared = compare.compare(opened, {})
    title = "Two runs compared" if compared["first"] is None else (
        f"Compared: {compared['first']['id']} and {compared['second']['id']}")
    terms = [(entry["term"], entry["says"], None) for entry in words.glossary(opened)]
    return [*measured.no_model(opened), panels.note(f"{source.gate.says}.", "Label gate, before anything is measured"),
            panels.state(terms, "What the words mean"), *measured.errors(source),
            *charts.intervals(source.shown), *charts.blames(source.shown),
            *charts.matrices(source.shown), *charts.reliability(source.shown), measured.every_run(opened),
            panels.note("What had to be equal is named before any figure.", title),
            *compared["panels"]]


def unit_cost(source):
    opened = source.opened
    view = costs.costs(opened, {}, _prices_as_of(), own=False)
    tokens = [[control["label"], f"{control['value']:,} {control['unit']}"] for control in view["controls"]]
    where, *rest = view["panels"]
    return [where, panels.table(["per document", "reckoned with"], tokens, "What the projection multiplies"), *rest,
            measured.spent(opened)]


def code(source):
    kit, found = source.opened.kit, source.modules
    return [inside.modules(kit, found), inside.stands_on(kit, found), inside.imports(found)]


def scenarios(source):
    """Each planned case, and how many of its documents each run got right for the headline."""
    opened = source.opened
    mark = opened.kit.about["primary_metric"]
    planned = {}
    for name, place in opened.documents.items():
        planned.setdefault(place.case, []).append(name)
    rows = [[*_case(opened, case), [measured.link(name) for name in names],
             *(measured.right(opened, run, names) for run in source.shown)] for case, names in planned.items()]
    title = next((run.titles[mark] for run in opened.runs if mark in run.titles), mark)
    heads = ["planned case", *_kind_head(opened), "documents", *(run.about["name"] for run in source.shown)]
    return [*measured.no_model(opened),
            panels.table(heads, rows, f"How many documents of each planned case are right: {title}")]


def threats(source):
    kit = source.opened.kit
    known = panels.table(["who", "what they could do", "what stands against it", "what is left"],
                         [[row["who"], row["what"], [{"text": row["stops"]}, *inside.places(kit, row["where"])],
                           row["left"]] for row in source.told["threats"]], "What could be planted, and where it ends")
    return [known, _gate(source.gate), *measured.attacks(source)]


def guardrails(source):
    found = watch.watch(source.opened)
    return [*(panels.note(sentence, "Not read", "warn") for sentence in found["problems"]), *found["panels"]]


def rulebook(source):
    first = document(source, next(iter(source.opened.documents)), 0)
    return [*rules.rules(source.opened)["panels"], *first["once"]]


def mapping(source):
    """A table a framework: what it asks for, where this kit has something to show for it, and what is missing."""
    kit = source.opened.kit
    for frame in source.told["frameworks"]:
        rows = [[{"text": row["part"], "why": row["asks"]}, [{"text": row["here"]}, *inside.places(kit, row["where"])],
                 row["left"]] for row in frame["items"]]
        yield panels.note(f"{frame['note']} Source: {frame['source']}", f"{frame['title']}, {frame['version']}")
        yield panels.table(["asks for", "what this kit has", "what it has not"], rows, frame["title"])


def telemetry(source):
    opened = source.opened
    return [measured.outcomes(opened), *charts.latency(source.shown), *measured.spans(opened), measured.tokens(opened),
            measured.spent(opened)]


def environment(source):
    told = source.told["python"]
    takes = [("Python", f"{told['least']} or later", told["why"]),
             ("packages", inside.packages(), "everything comes with Python itself")]
    return [panels.state(takes, "What it takes to run"),
            inside.variables(), inside.commands(source.modules)]


def asked(opened, links):
    """The documents behind each link that was drawn: [(anchor, words, [document])], in the order of their words.

    Those of an injection run are its planted twins, `DOCUMENT+attack`.
    """
    runs_by_id = {run.id: run for run in opened.runs}
    found = [(name, _asked_in_words(runs_by_id[link["run"]], link), _asked_rows(runs_by_id[link["run"]], link))
             for name, link in links.items()]
    return sorted(found, key=lambda each: (each[1], each[0]))


def dearest(source):
    """The documents on which a shown run made a named error, by the most expensive one that was made on each."""
    order = list(dict.fromkeys(error for run in source.shown for error in run.errors))
    made = {}
    for run in source.shown:
        for name, row in run.rows.items():
            ranks = [order.index(error) for errors in row.errors.values() for error in errors]
            if ranks and name in source.opened.documents:
                made[name] = min([*ranks, made.get(name, len(order))])
    return sorted(made, key=lambda name: (made[name], name))


def document(source, name, answers):
    """The view of one document: the key, and at most so many answers of shown runs that made a named error on it.

    Beside what `page.document` gives: left_out [sentence], which other runs went wrong here and how; once [panel], what
    is the same on every document and stands among the rules.
    """
    wrong = [run for run in source.shown if name in run.rows and any(run.rows[name].errors.values())]
    view = page.document(source.opened, name, listing.filters(source.opened, {})._replace(runs=wrong[:answers]))
    once = [panel for panel in view["panels"] if panel.get("once")]
    return view | {"once": once, "panels": [panel for panel in view["panels"] if panel not in once],
                   "left_out": [f"{run.about['name']}: {', '.join(_made(run, name))}" for run in wrong[answers:]]}


def _made(run, name):
    """The titles of the named errors that a run made on a document, raw or rechecked."""
    made = {error for errors in run.rows[name].errors.values() for error in errors}
    return [title for error, title in run.errors.items() if error in made]


def _problems(opened):
    return [panels.note(sentence, "Not read", "warn") for sentence in opened.problems]


def _kinds(opened):
    """[a table] of how many documents are hard and how many clean, where the plan says."""
    if not _has_kinds(opened):
        return []
    counts = Counter(KINDS.get(listing.is_hard(opened, place), figures.BLANK) for place in opened.documents.values())
    return [panels.table(["kind", "documents"], [[kind, str(count)] for kind, count in sorted(counts.items())],
                         "Hard and clean cases")]


def _has_kinds(opened):
    return any("hard" in case for case in opened.cases.values())


def _answers(opened):
    planned = opened.kit.about.get("planned")
    if not planned:
        return []
    rows = [[measured.words(name), str(count)] for name, count in planned.items()]
    return [panels.table(["answer of the key", "planned documents"], rows, "What the key answers")]


def _planned(opened):
    rows, families = {}, any(case.get("family") for case in opened.cases.values())
    for name, place in opened.documents.items():
        rows.setdefault(place.case, []).append(measured.link(name))
    return panels.table(
        ["planned case", *_kind_head(opened), *["family"] * families, "count", "documents"],
        [[*_case(opened, case), *[measured.words(opened.cases.get(case, {}).get("family") or figures.BLANK)] * families,
          str(len(names)), names] for case, names in rows.items()], "Planned cases")


def _case(opened, case):
    """The first cells of a row about a planned case: its name with its sentence, and its kind where plans say one."""
    known = opened.cases.get(case, {})
    return [{"text": measured.words(case or "no case is planned"), "why": known.get("sentence")},
            *[KINDS.get(known.get("hard"), figures.BLANK)] * _has_kinds(opened)]


def _kind_head(opened):
    return ["kind"] * _has_kinds(opened)


def _samples(opened):
    """The pages of a clean and a hard document, with the lines of their fields marked; without a plan the first two."""
    of_kind = [[name for name, place in opened.documents.items() if listing.is_hard(opened, place) is kind][:1]
               for kind in (False, True)]
    chosen = sum(of_kind, []) or list(opened.documents)[:2]
    nobody = listing.filters(opened, {})._replace(runs=[])
    for name in chosen:
        view = page.document(opened, name, nobody)
        sheet = next(panel for panel in view["panels"] if panel["kind"] == "document")
        kind = {True: "a hard case", False: "a clean case"}.get(view["hard"], "a sample")
        yield {**sheet, "title": f"{name}, {kind}: {view['sentence'] or measured.words(view['case'] or 'no plan')}"}


def _sources(kit):
    path = kit.data / "SOURCES.md"
    if not path.exists():
        return []
    return [panels.note(None, "Where it comes from", lines=read_text(path).rstrip().split("\n"))]


def _gate(report):
    return panels.table(["what the label gate counted", "so many"],
                        [[name, str(count)] for name, count in report.counts.items()],
                        "Label gate, before anything is sent")


def _prices_as_of():
    """The day of the newest price card: a projection of that day is the same on every later one."""
    days = [card.as_of for card in rates.load(cost.RATES) if card.as_of]
    if not days:
        raise BadData(f"{cost.RATES}: no card has a date, so no day can be named for a projection")
    return datetime.date.fromisoformat(max(days))


def _asked_in_words(run, link):
    if "error" in link:
        said = run.errors[link["error"]]
    elif "cell" in link:
        matrix, want, got = link["cell"].split(":", 2)
        said = f"{measured.words(matrix)}: gold {want}, answered {got}"
    else:
        said = f"blame: {link['blame']}"
    return f"{run.id}, {link['column']}: {said}"


def _asked_rows(run, link):
    """The documents of a run that a link of the board asks for: those of a named error, a cell or a blame."""
    column = link["column"]
    if "error" in link:
        return [name for name, row in run.rows.items() if link["error"] in row.errors[column]]
    if "cell" in link:
        return [name for name, row in run.rows.items()
                if any(listing.cell_name(matrix, *pair) == link["cell"] for matrix, pair in row.cells[column].items())]
    return [name for name, row in run.rows.items() if row.blame[column] and row.blame[column]["kind"] == link["blame"]]
