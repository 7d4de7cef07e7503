"""What a report of a kit says, chapter by chapter, as panels: from records, data files and the code as they stand.

A chapter is a function of a Source and gives panels; what is told in words stands beside it, in `report` of the kit's
board.json. Nothing here depends on the day or the machine.
"""
import statistics
from collections import Counter, namedtuple

from src.shared import cost, rates
from src.shared.files import BadData, read_text
from src.shared.view import charts, compare, costs, figures, inside, listing, page, panels, rules, runs, shelf, start, watch

NO_MODEL = "No model run of this kit is kept, so nothing here says how a model does; what stands are free arms."

# opened: the kit's Opened; shown [Run]: newest model run and floors; told: the texts that all kits share; gate: the
# label gate's Report; attacked {arm: [what became of each attack]}, as `injecting.outcome` gives it; modules [inside.Module]
Source = namedtuple("Source", "opened shown told gate attacked modules")


def shown(opened):
    """The Runs that a report draws: the newest model run, its controls and ablations, and every free floor."""
    controls = [run for run in opened.runs if run.id[0] in "sa"]
    return [*[run for run in opened.runs if shelf.is_headline(run)][-1:], *controls, *shelf.floors(opened)]


def index(source):
    """The figures that a reader wants before any chapter."""
    opened = source.opened
    mark = opened.kit.about["primary_metric"]
    facts = [("documents", f"{len(opened.documents):,} {opened.kit.about['documents']}"),
             ("runs that are kept", str(len(opened.runs)) or "none"),
             ("label gate", source.gate.says)]
    return [*_no_model(opened), panels.state([(*fact, None) for fact in facts], "At a glance"),
            *_headline(source, mark), *_problems(opened)]


def business(source):
    return [*_no_model(source.opened), *_errors(source), *charts.blames(source.shown)]


def architecture(source):
    kit = source.opened.kit
    stations = panels.table(
        ["station", "takes", "gives", "where"],
        [[f"{place}. {row['name']}", row["takes"], row["gives"], inside.places(kit, row["where"])]
         for place, row in enumerate(source.told["stations"], 1)], "One document, from its page to a line of a record")
    seams = panels.table(["to change", "edit", "and then"],
                         [[row["change"], inside.places(kit, row["where"]), row["then"]] for row in source.told["seams"]],
                         "Where it is made to be changed")
    return [stations, seams]


def app(source):
    return [panels.table(["a person wants to", "and does"], [[row["step"], row["what"]] for row in source.told["app"]],
                         "The board, in the order in which people use it"),
            panels.note("python -m src.app", "It runs on the machine it is started on, and shows everything without a key")]


def corpus(source):
    opened = source.opened
    lengths = [(name, len(opened.kit.text(name))) for name in opened.documents]
    if not lengths:
        return [panels.note("This kit has no documents yet.", "Corpus", "warn"), *_problems(opened)]
    sizes = sorted(size for _, size in lengths)
    rows = [[word, f"{size:,}", _link(next(name for name, each in lengths if each == size))] for word, size in (
        ("shortest", sizes[0]), ("middle", sizes[(len(sizes) - 1) // 2]), ("longest", sizes[-1]))]
    kinds = Counter({True: "hard", False: "clean"}.get(listing.is_hard(opened, place), "no kind is planned")
                    for place in opened.documents.values())
    return [panels.table(["page", "characters", "document"], rows,
                         f"How long the {len(sizes):,} pages are: {sum(sizes):,} characters in all"),
            panels.table(["kind", "documents"], [[kind, str(count)] for kind, count in sorted(kinds.items())],
                         "Hard and clean cases"),
            *_answers(opened), _planned(opened), *_samples(opened), *_sources(opened.kit)]


def prompt(source):
    opened = source.opened
    first = next(iter(opened.documents), None)
    if first is None:
        return [panels.note("Without documents there is no prompt to show.", "Prompt", "warn")]
    totals, shares, prefixes = [], [], set()
    for name in opened.documents:
        parts = opened.kit.prompt(name)
        fixed = "".join(part.text for part in parts if part.fixed)
        prefixes.add(fixed)
        totals.append(sum(len(part.text) for part in parts))
        shares.append(len(fixed) / totals[-1])
    rows = [["characters of a prompt", *(f"{value:,}" for value in _three(totals))],
            ["of it the same on every call", *(figures.percent(value) for value in _three(shares))]]
    alike = "one and the same" if len(prefixes) == 1 else f"{len(prefixes)} different ones"
    return [panels.table(["over all documents", "least", "middle", "most"], rows,
                         f"Prompts of {len(totals):,} documents; their fixed beginnings are {alike}"),
            *_measured_parts(opened), *page.prompt(opened, first)["panels"]]


def evals(source):
    opened = source.opened
    compared = compare.compare(opened, {})
    title = "Two runs compared" if compared["first"] is None else (
        f"Compared: {compared['first']['id']} and {compared['second']['id']}")
    return [panels.note(source.gate.says, "The label gate, before anything is measured"), _gate(source.gate),
            *_no_model(opened), *_errors(source), *charts.intervals(source.shown), *charts.blames(source.shown),
            *charts.matrices(source.shown), *charts.reliability(source.shown), _runs(opened),
            panels.note("What had to be equal is named before any figure.", title), *compared["panels"]]


def unit_cost(source):
    opened = source.opened
    view = costs.costs(opened, {}, _prices_as_of())
    tokens = [[control["label"], f"{control['value']:,} {control['unit']}"] for control in view["controls"]]
    where, *rest = view["panels"]
    return [where, panels.table(["per document", "reckoned with"], tokens, "What the projection multiplies"), *rest,
            _spent(opened)]


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
    rows = [[*_case(opened, case), [_link(name) for name in names],
             *(_right(opened, run, names) for run in source.shown)] for case, names in planned.items()]
    title = next((run.titles[mark] for run in opened.runs if mark in run.titles), mark)
    return [*_no_model(opened),
            panels.table(["planned case", "kind", "documents", *(run.about["name"] for run in source.shown)], rows,
                         f"How many documents of each planned case are right: {title}")]


def threats(source):
    kit = source.opened.kit
    known = panels.table(["who", "what they could do", "what stands against it", "what is left"],
                         [[row["who"], row["what"], [{"text": row["stops"]}, *inside.places(kit, row["where"])],
                           row["left"]] for row in source.told["threats"]], "What could be planted, and where it ends")
    return [known, panels.note(f"{source.gate.says}.", "What leaves the machine, as the label gate counted it"),
            *_attacks(source)]


def guardrails(source):
    return watch.watch(source.opened)["panels"]


def rulebook(source):
    return rules.rules(source.opened)["panels"]


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
    return [_outcomes(opened), *charts.latency(source.shown), *_spans(opened), _tokens(opened), _spent(opened)]


def environment(source):
    told = source.told["python"]
    return [panels.state([("Python", f"{told['least']} or later", told["why"]),
                          ("packages", inside.packages(), "everything comes with Python itself")], "What it takes to run"),
            inside.variables(), inside.commands(source.modules)]


def asked(opened, links):
    """The documents behind each link that was drawn: [(anchor, words, [document])], in the order of their words."""
    found = []
    for name, link in links.items():
        documents = listing.matching(opened, listing.filters(opened, {key: [value] for key, value in link.items()}))
        found.append((name, _asked_in_words(opened, link), documents))
    return sorted(found, key=lambda each: (each[1], each[0]))


def document(source, name, answers):
    """The view of one document: its key, and at most so many `answers` of the shown runs that made a named error on it."""
    wrong = [run for run in source.shown if name in run.rows and any(run.rows[name].errors.values())]
    return page.document(source.opened, name, listing.filters(source.opened, {})._replace(runs=wrong[:answers]))


def _no_model(opened):
    return [] if any(map(shelf.is_headline, opened.runs)) else [panels.note(NO_MODEL, "Not measured", "warn")]


def _problems(opened):
    return [panels.note(sentence, "Not read", "warn") for sentence in opened.problems]


def _headline(source, mark):
    found = [panel for panel in charts.intervals(source.shown) if not panel["folded"]] if source.shown else []
    return [{**panel, "title": f"The headline: {group['title']}, with 95 % interval; the tick is the null baseline",
             "groups": [group]} for panel in found for metric in source.shown[0].record["metrics"]
            if metric["id"] == mark for group in panel["groups"] if group["title"] == metric["title"]]


def _errors(source):
    """The named errors of the front page: counts over opportunities, each a link to its rows."""
    if not source.shown:
        return [panels.note(start.NO_RUN, "Named errors")]
    front = start.kit(source.opened, [run.id for run in source.shown])
    return [panel for panel in front["panels"] if panel["kind"] == "table"][:1]


def _answers(opened):
    planned = opened.kit.about.get("planned")
    if not planned:
        return []
    return [panels.table(["answer of the key", "planned documents"],
                         [[_words(name), str(count)] for name, count in planned.items()], "What the key answers")]


def _planned(opened):
    rows, families = {}, any(case.get("family") for case in opened.cases.values())
    for name, place in opened.documents.items():
        rows.setdefault(place.case, []).append(_link(name))
    return panels.table(
        ["planned case", "kind", *["family"] * families, "count", "documents"],
        [[*_case(opened, case), *[_words(opened.cases.get(case, {}).get("family") or figures.BLANK)] * families,
          str(len(names)), names] for case, names in rows.items()], "Planned cases")


def _case(opened, case):
    """The first cells of a row about a planned case: its name with its sentence, and whether it is a hard one."""
    known = opened.cases.get(case, {})
    return ({"text": _words(case or "no case is planned"), "why": known.get("sentence")},
            {True: "hard", False: "clean"}.get(known.get("hard"), figures.BLANK))


def _samples(opened):
    """The pages of a clean and a hard document, with the lines of their fields marked; without a plan the first two."""
    hard = {kind: next((name for name, place in opened.documents.items() if listing.is_hard(opened, place) is kind), None)
            for kind in (False, True)}
    chosen = [name for name in hard.values() if name] or list(opened.documents)[:2]
    nobody = listing.filters(opened, {})._replace(runs=[])
    for name in chosen:
        view = page.document(opened, name, nobody)
        sheet = next(panel for panel in view["panels"] if panel["kind"] == "document")
        kind = {True: "a hard case", False: "a clean case"}.get(view["hard"], "a sample")
        yield {**sheet, "title": f"{name}, {kind}: {view['sentence'] or _words(view['case'] or 'no plan')}"}


def _sources(kit):
    path = kit.data / "SOURCES.md"
    return [panels.note(None, "Where it comes from", lines=read_text(path).rstrip().split("\n"))] if path.exists() else []


def _measured_parts(opened):
    """What records say of the prompt: the parts as the newest run that sent them had them."""
    for run in reversed(opened.runs):
        if run.record.get("prompt"):
            rows = [[part["name"], "the same on every call" if part["fixed"] else "of the document",
                     *(f"{part['characters'][name]:,}" for name in ("min", "median", "max"))]
                    for part in run.record["prompt"]]
            return [panels.table(["part", "content", "least", "middle", "most"], rows,
                                 f"Characters of the parts as {run.id} sent them")]
    return [panels.note("Not measured: no run that sent a prompt is kept, so no provider has counted its tokens.",
                        "Tokens of the parts")]


def _three(values):
    return min(values), statistics.median_low(values), max(values)


def _gate(report):
    return panels.table(["what the label gate counted", "so many"],
                        [[name, str(count)] for name, count in report.counts.items()], "Label gate")


def _runs(opened):
    mark = opened.kit.about["primary_metric"]
    rows = []
    for run in opened.runs:
        metric = next((metric for metric in run.record["metrics"] if metric["id"] == mark), {})
        rows.append([{"text": run.id, "why": run.record["run"].get("command")}, run.about["kind"],
                     run.about["model"] or figures.BLANK, run.about["date"] or figures.BLANK,
                     *(figures.rate(metric.get(column)) for column in runs.COLUMNS)])
    return panels.table(["run", "kind", "model", "date", *(f"headline, {column}" for column in runs.COLUMNS)], rows,
                        "Every run that is kept")


def _right(opened, run, names):
    """How many of some documents a run got right for the headline, raw and rechecked; which not, where it is some."""
    lines = []
    for column in runs.COLUMNS:
        told = {name: found for name in names if (found := listing.headline(opened, run, column, name))}
        wrong = [name for name, (_, is_wrong) in told.items() if is_wrong]
        lines.append({"head": column, "text": f"{len(told) - len(wrong)}/{len(told)}"} if told else {
            "head": column, "text": figures.BLANK, "why": "not in this run"})
        lines += [_link(name) | {"head": "wrong on"} for name in wrong if len(wrong) < len(told)]
    return lines


def _attacks(source):
    """What planted sentences reach: free readers tried here and now, a model only by its own record."""
    rows = [[f"{arm}: {row['title']}", f"{row['targets']:,}", *(
        [{"head": column, "text": figures.rate(row[column][name])["text"]} for column in runs.COLUMNS]
        for name in ("reached", "reached_clean", "right", "right_clean"))]
            for arm, found in source.attacked.items() for row in found]
    if rows:
        yield panels.table(["reader and attack", "pages", "does as told", "does so unasked", "headline right",
                            "right when clean"], rows, "Sentences planted into the pages, beside the clean ones")
    else:
        yield panels.note("Not measured: this kit brings no attacks.", "Planted sentences")
    kept = [run.id for run in source.opened.runs if run.about["kind"] == runs.KINDS["x"]]
    if not kept:
        yield panels.note("Not measured: no injection run of a model is kept. Free readers do not read instructions, so "
                          "they show that the arm works and nothing of a model.", "A model under attack", "warn")
    path = source.opened.kit.data / "attacks.json"
    if path.exists():
        yield panels.note("Words in braces are filled in for each page.", "What is planted, word for word",
                          lines=read_text(path).rstrip().split("\n"))


def _outcomes(opened):
    names = list(dict.fromkeys(name for run in opened.runs for name in run.record["totals"]["outcomes"]))
    rows = [[run.id, str(run.record["totals"]["documents"]), str(run.record["totals"]["calls"]),
             *(str(run.record["totals"]["outcomes"].get(name, 0)) for name in names)] for run in opened.runs]
    return panels.table(["run", "documents", "calls to a model", *map(_words, names)], rows,
                        "How each document of each run ended")


def _tokens(opened):
    rows = []
    for run in opened.runs:
        totals = run.record["totals"]
        for kind, total in sorted(totals["tokens"].items()):
            rows.append([run.id, kind, f"{total['sum']:,}", f"{total['calls']} of {totals['calls']} calls"])
    if not rows:
        return panels.note("Not measured: no run that is kept called a model, so no provider has counted tokens.",
                           "Tokens")
    return panels.table(["run", "tokens", "sum", "reported by"], rows, "Tokens as the provider counted them")


def _spans(opened):
    """Seconds by station over the documents of each run that called a model."""
    rows = []
    for run in opened.runs:
        spans = {}
        for name in run.rows:
            for station, seconds in ((runs.entry(run, name) or {}).get("seconds") or {}).items():
                if seconds is not None:
                    spans.setdefault(station, []).append(seconds)
        rows += [[run.id, _words(station), str(len(times)), *(f"{each:.4f}" for each in _three(times))]
                 for station, times in spans.items()]
    if rows:
        yield panels.table(["run", "station", "documents", "least, s", "middle, s", "most, s"], rows, "Seconds by station")


def _spent(opened):
    rows = [[run.id, cost.in_words(cost.exact(told["usd"])) if told["usd"] is not None else {
                "text": figures.BLANK, "why": "some calls have no known price"}, told["label"] or figures.BLANK,
             f"{told['priced']} of {told['calls']}"]
            for run in opened.runs for told in [run.record["totals"]["cost"]] if told["calls"]]
    if not rows:
        return panels.note("Not measured: no run that is kept has spent anything. Grading is free and stays so.", "Spent")
    return panels.table(["run", "US dollars", "which are", "calls priced"], rows, "Spent by each run; grading is free")


def _prices_as_of():
    """The day of the newest price card: a projection of that day is the same on every later one."""
    days = [card.as_of for card in rates.load(cost.RATES) if card.as_of]
    if not days:
        raise BadData(f"{cost.RATES}: no card has a date, so no day can be named for a projection")
    return rates._date(max(days))


def _asked_in_words(opened, link):
    run = next(run for run in opened.runs if run.id == link["run"])
    if "error" in link:
        said = run.errors[link["error"]]
    elif "cell" in link:
        matrix, want, got = link["cell"].split(":", 2)
        said = f"{_words(matrix)}: gold {want}, answered {got}"
    else:
        said = f"blame: {link['blame']}"
    return f"{run.about['name']}, {link['column']}: {said}"


def _link(name):
    return {"text": name, "link": {"document": name}}


def _words(name):
    return str(name).replace("_", " ")
