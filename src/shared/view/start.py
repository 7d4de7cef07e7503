"""The start page and a kit's front: what is decided, over how many documents, and how well by which run."""
from src.shared.files import BadData
from src.shared.view import charts, figures, panels, runs, shelf, words

NO_RUN = "No run of this kit has been recorded yet. `python -m evals.run` makes the free ones."


def kits(shelf_):
    """{"kits": [row]}: name, title, decides, documents, runs, worst, problems, figures [{name, kind, says, raw,
    rechecked}]."""
    return {"kits": [_row(shelf_, name) for name in shelf_.names()]}


def kit(opened, chosen=()):
    """A kit's front: what it is, its named errors as links to their rows, metrics, matrices, what is broken.

    chosen: the ids of the runs to draw; without any, those that the list shows too.
    """
    shown = shelf.choose(opened, list(chosen))
    drawn = [_errors_table(opened, shown), *charts.intervals(shown), *charts.blames(shown), *charts.matrices(shown),
             *charts.latency(shown), *charts.reliability(shown)] if shown else [panels.note(NO_RUN, "Runs")]
    return {**_told(opened), "runs": [words.about(opened, run) for run in opened.runs],
            "terms": words.glossary(opened),
            "cases": list(dict.fromkeys(place.case for place in opened.documents.values() if place.case)),
            "errors": _errors(opened), "blames": sorted({kind for run in opened.runs for kind in run.blames}),
            "panels": drawn, "problems": opened.problems}


def _row(shelf_, name):
    try:
        opened = shelf_.open(name)
    except BadData as e:
        return {"name": name, "title": name, "problems": e.problems}
    mark = opened.kit.about["primary_metric"]
    models = [run for run in shelf.of_the_key(opened) if shelf.is_headline(run)][-1:]
    lines = [{"name": _named(run), "kind": run.about["kind"], "says": words.of_arm(opened, run.about["arm"]),
              **_figure(run, mark)}
             for run in models + shelf.floors(opened)]
    null = next((_metric(run, mark).get("null") for run in shelf.of_the_key(opened)), None)
    lines.append({"name": "null baseline", "kind": "free floor", "says": words.of_arm(opened, "null"),
                  "raw": figures.rate(null)})
    return {**_told(opened), "metric": _title(opened, mark), "figures": lines if opened.runs else [],
            "has_model_run": bool(models), "worst": _worst(opened), "problems": opened.problems}


def _told(opened):
    kit_, local = opened.kit, sum(run.about["local"] for run in opened.runs)
    return {"name": kit_.name, "title": kit_.about["title"], "decides": kit_.about["decides"],
            "noun": kit_.about["documents"], "documents": len(opened.documents),
            "committed": len(opened.runs) - local, "local": local}


def _errors_table(opened, shown):
    """A row a named error, the most expensive first, a column a run; the counts are links to their rows."""
    reasons = {error["id"]: error["why"] for run in shown for error in run.record["errors"]}
    rows = [[{"text": title, "why": reasons.get(error)},
             *([_error_cell(opened, run, error, column) for column in runs.COLUMNS] for run in shown)]
            for error, title in _errors(opened).items() if error in reasons]
    return panels.table(["named error", *(_named(run) for run in shown)], rows,
                        "Named errors, the most expensive first, over their opportunities; fewer is better")


def _worst(opened):
    """The most expensive named error that the runs shown by themselves make, as a cell with its link; None if none."""
    for run in shelf.choose(opened, []):
        for error in run.record["errors"]:
            if error[runs.RAW] and error[runs.RAW]["count"]:
                return {**_error_cell(opened, run, error["id"], runs.RAW), "head": error["title"], "by": _named(run),
                        "why": error["why"]}
    return None


def _errors(opened):
    """{error id: title} of every named error that a run can make, the most expensive first."""
    return {error: title for run in opened.runs for error, title in run.errors.items()}


def _error_cell(opened, run, mark, column):
    found = next((error[column] for error in run.record["errors"] if error["id"] == mark), None)
    link = {"run": run.id, "error": mark, "column": column} if found and found["count"] else None
    return figures.count(found, opened.kit.about["documents"]) | {"head": column, "link": link}


def _figure(run, mark):
    return {column: figures.rate(_metric(run, mark).get(column)) for column in runs.COLUMNS}


def _metric(run, mark):
    return next((metric for metric in run.record["metrics"] if metric["id"] == mark), {})


def _title(opened, mark):
    return next((run.titles[mark] for run in opened.runs if mark in run.titles), mark)


def _named(run):
    is_told = run.about["name"] == run.id
    return run.about["name"] + (" (local)" if run.about["local"] and not is_told else "")
