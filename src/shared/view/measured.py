"""What the kept runs of a kit have measured, as panels for its report; where nothing was, the sentence that says so."""
import statistics

from src.shared import cost
from src.shared.files import read_json, read_text
from src.shared.view import charts, figures, listing, panels, runs, shelf, start, static
from src.shared.view import words as glossary

NO_MODEL = "No model run of this kit is kept, so nothing here says how a model does; what stands are free arms."
ALIKE = "the same on every call"


def no_model(opened):
    """[a note] where no model run is kept, for every page that shows what runs have measured."""
    return [] if any(map(shelf.is_headline, opened.runs)) else [panels.note(NO_MODEL, "Not measured", "warn")]


def headline(source, mark):
    """[the intervals panel] of the primary metric alone."""
    found = [panel for panel in charts.intervals(source.shown) if not panel["folded"]] if source.shown else []
    return [{**panel, "title": f"The headline: {group['title']}, with 95 % interval; the tick is the null baseline",
             "groups": [group]} for panel in found for metric in source.shown[0].record["metrics"]
            if metric["id"] == mark for group in panel["groups"] if group["title"] == metric["title"]]


def errors(source):
    """The named errors of the front page: counts over opportunities, each a link to its rows."""
    if not source.shown:
        return [panels.note(start.NO_RUN, "Named errors")]
    front = start.kit(source.opened, [run.id for run in source.shown])
    return [panel for panel in front["panels"] if panel["kind"] == "table"][:1]


def parts(opened):
    """What was measured of the prompt: characters by the newest run that sent it, tokens by a provider's own count."""
    sent = [run for run in opened.runs if run.record.get("prompt")][-1:]
    for run in sent:
        rows = [[part["name"], ALIKE if part["fixed"] else "of the document",
                 *(f"{part['characters'][name]:,}" for name in ("min", "median", "max"))]
                for part in run.record["prompt"]]
        yield panels.table(["part", "content", "least", "middle", "most"], rows,
                           f"Characters of the parts as {run.id} sent them")
    counted = sorted(opened.kit.results.glob("tokens-*.json"))[-1:]
    for path in counted:
        yield _counted(read_json(path))
    if not counted:
        yield panels.note("Not measured: no provider has counted the tokens of the parts. "
                          "`python -m evals.prompt_tokens` asks one.", "Tokens of the parts")


def _counted(found):
    """The table of a kept measurement by `evals.prompt_tokens`: a row a part, a column a document."""
    documents = list(found["whole"])
    rows = [[part["part"], ALIKE if part["fixed"] else "of the document",
             *(f"{part['tokens'][document]:,}" for document in documents)] for part in found["parts"]]
    rows.append(["all parts", figures.BLANK, *(f"{found['whole'][document]:,}" for document in documents)])
    return panels.table(["part", "content", *documents], rows,
                        f"Tokens of the parts by {found['settings']['model']}'s own count, {found['run']['date']}")


def every_run(opened):
    """A row a kept run with its command and headline; links to a run lead here."""
    mark = opened.kit.about["primary_metric"]
    rows = []
    for run in opened.runs:
        metric = next((metric for metric in run.record["metrics"] if metric["id"] == mark), {})
        rows.append([{"text": run.id, "why": run.record["run"].get("command")},
                     {"text": run.about["kind"], "why": glossary.of_arm(opened, run.about["arm"])},
                     run.about["model"] or figures.BLANK, run.about["date"] or figures.BLANK,
                     *(figures.rate(metric.get(column)) for column in runs.COLUMNS)])
    heads = ["run", "kind", "model", "date", *(f"headline, {column}" for column in runs.COLUMNS)]
    return {**panels.table(heads, rows, "Every run that is kept"),
            "names": [static.run_name(run.id) for run in opened.runs]}


def right(opened, run, names):
    """How many of some documents a run got right for the headline, raw and rechecked; which not, where it is some."""
    lines = []
    for column in runs.COLUMNS:
        told = {name: found for name in names if (found := listing.headline(opened, run, column, name))}
        wrong = [name for name, (_, is_wrong) in told.items() if is_wrong]
        lines.append({"head": column, "text": f"{len(told) - len(wrong)}/{len(told)}"} if told else {
            "head": column, "text": figures.BLANK, "why": "not in this run"})
        lines += [link(name) | {"head": "wrong on"} for name in wrong if len(wrong) < len(told)]
    return lines


def attacks(source):
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
        yield panels.note("Not measured: no injection run of a model is kept. Free readers follow no instructions, so "
                          "they show that the arm works, and nothing of a model.", "A model under attack", "warn")
    path = source.opened.kit.data / "attacks.json"
    if path.exists():
        yield panels.note("Words in braces are filled in for each page.", "What is planted, word for word",
                          lines=read_text(path).rstrip().split("\n"))


def outcomes(opened):
    """How many documents of each run ended in which way: answered, refused, cut, …, each counted apart."""
    names = list(dict.fromkeys(name for run in opened.runs for name in run.record["totals"]["outcomes"]))
    rows = [[run.id, str(run.record["totals"]["documents"]), str(run.record["totals"]["calls"]),
             *(str(run.record["totals"]["outcomes"].get(name, 0)) for name in names)] for run in opened.runs]
    return panels.table(["run", "documents", "calls to a model", *map(words, names)], rows,
                        "How each document of each run ended")


def tokens(opened):
    """Tokens by kind for each run that called a model, and by how many of its calls they were reported."""
    rows = []
    for run in opened.runs:
        totals = run.record["totals"]
        for kind, total in sorted(totals["tokens"].items()):
            rows.append([run.id, kind, f"{total['sum']:,}", f"{total['calls']} of {totals['calls']} calls"])
    if not rows:
        return panels.note("Not measured: no run that is kept called a model, so no provider has counted tokens.",
                           "Tokens")
    return panels.table(["run", "tokens", "sum", "reported by"], rows, "Tokens as the provider counted them")


def spans(opened):
    """Seconds by station over the documents of each run that called a model."""
    rows = []
    for run in opened.runs:
        spans = {}
        for name in run.rows:
            for station, seconds in ((runs.entry(run, name) or {}).get("seconds") or {}).items():
                if seconds is not None:
                    spans.setdefault(station, []).append(seconds)
        rows += [[run.id, words(station), str(len(times)), *(f"{each:.4f}" for each in three(times))]
                 for station, times in spans.items()]
    if rows:
        yield panels.table(["run", "station", "documents", "least, s", "middle, s", "most, s"], rows,
                           "Seconds by station")


def spent(opened):
    """What each run that called a model has cost, and what that figure rests on."""
    rows = [[run.id, cost.in_words(cost.exact(told["usd"])) if told["usd"] is not None else {
                "text": figures.BLANK, "why": "some calls have no known price"}, told["label"] or figures.BLANK,
             f"{told['priced']} of {told['calls']}"]
            for run in opened.runs for told in [run.record["totals"]["cost"]] if told["calls"]]
    if not rows:
        return panels.note("Not measured: no run that is kept called a model. Grading is free and stays so.", "Spent")
    return panels.table(["run", "US dollars", "which are", "calls priced"], rows, "Spent by each run; grading is free")


def three(values):
    """(least, lower median, most) of some values."""
    return min(values), statistics.median_low(values), max(values)


def link(name):
    """A cell that leads to a document."""
    return {"text": name, "link": {"document": name}}


def words(name):
    """The name of a case, answer or outcome as people write it."""
    return str(name).replace("_", " ")
