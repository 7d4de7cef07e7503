"""The start page and a kit's front: what is decided, over how many documents, and how well by which run."""
from src.shared.files import BadData
from src.shared.view import figures, panels, runs, shelf

NO_RUN = "No run of this kit has been recorded yet. `python -m evals.run` makes the free ones."


def kits(shelf_):
    """{"kits": [row]}: name, title, decides, documents, runs, local, figures [{name, raw, rechecked}], problems."""
    return {"kits": [_row(shelf_, name) for name in shelf_.names()]}


def kit(opened):
    """A kit's front: what it is, its runs as a table with links to the rows behind each named error, what is broken."""
    return {**_told(opened), "runs": [run.about for run in opened.runs],
            "cases": list(dict.fromkeys(place.case for place in opened.documents.values() if place.case)),
            "errors": _errors(opened),
            "panels": [_runs_table(opened) if opened.runs else panels.note(NO_RUN, "Runs")],
            "problems": opened.problems}


def _row(shelf_, name):
    try:
        opened = shelf_.open(name)
    except BadData as e:
        return {"name": name, "title": name, "problems": e.problems}
    mark = opened.kit.about["primary_metric"]
    models = [run for run in opened.runs if shelf.is_headline(run)][-1:]
    lines = [{"name": _named(run), "kind": run.about["kind"], **_figure(run, mark)}
             for run in models + shelf.floors(opened)]
    null = next((_metric(run, mark).get("null") for run in opened.runs), None)
    lines.append({"name": "null baseline", "kind": "answers null everywhere", "raw": figures.rate(null)})
    return {**_told(opened), "metric": _title(opened, mark), "figures": lines if opened.runs else [],
            "has_model_run": bool(models), "problems": opened.problems}


def _told(opened):
    kit_, local = opened.kit, sum(run.about["local"] for run in opened.runs)
    return {"name": kit_.name, "title": kit_.about["title"], "decides": kit_.about["decides"],
            "noun": kit_.about["documents"], "documents": len(opened.documents),
            "committed": len(opened.runs) - local, "local": local}


def _runs_table(opened):
    """One row a run: its headline raw and rechecked, then each named error, whose counts are links to its rows."""
    mark, errors = opened.kit.about["primary_metric"], _errors(opened)
    rows = [[{"text": _named(run), "why": run.about["kind"], "link": {"run": run.id}},
             [cell | {"head": column} for column, cell in _figure(run, mark).items()],
             *([_error_cell(opened, run, error, column) for column in runs.COLUMNS] for error in errors)]
            for run in opened.runs]
    return panels.table(["run", _title(opened, mark), *errors.values()], rows,
                        "Runs, of all documents, with 95 % interval; of named errors fewer is better")


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
