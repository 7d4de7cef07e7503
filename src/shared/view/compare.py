"""Two runs of a kit side by side: what differs between them first, then what changed, or why nothing may be said."""
import functools

from src.shared import blame, comparing, records, wording
from src.shared.fields import near
from src.shared.view import figures, panels, runs, shelf

KNOWN = ("first", "second", "across")
LINKS_SHOWN = 50
NO_PAIR = "Two runs are needed to compare, and this kit has {count}. `python -m evals.run` makes the free ones."
WORDS = {"fixed": "fixed", "broken": "broken", "still_wrong": "still wrong", "still_right": "still right"}


def compare(opened, query):
    """{first, second, why, refused, across, may_differ, runs, panels, problems}; first and second are None where there
    is no pair.

    `query` {name: [text]} with first and second, board ids of runs, and across, guards that may differ. `why` says why
    these two were taken where the query names none. BadQuery for what has no meaning.
    """
    for name in query:
        if name not in KNOWN:
            raise shelf.BadQuery(f"{name} is no part of a comparison{near(name, KNOWN)}; it takes {', '.join(KNOWN)}")
    across = tuple(sorted(set(query.get("across", ()))))
    for name in across:
        if name not in comparing.ACROSS:
            raise shelf.BadQuery(f"across={name[:40]}: only {' or '.join(comparing.ACROSS)} may differ")
    (first, second), why = _pair(opened, query)
    shown = {"why": why, "across": across, "may_differ": comparing.ACROSS, "runs": [run.about for run in opened.runs],
             "problems": opened.problems}
    if first is None or second is None:
        note = panels.note(NO_PAIR.format(count=len(opened.runs) or "none"), "Compare")
        return {**shown, "first": None, "second": None, "refused": [], "panels": [note]}
    found = _compared(first.path, second.path, _stamp(first.path), _stamp(second.path), across)
    names = _names(first, second)
    drawn = [panels.note(why, "Why these two")] * bool(why) + [_guards(found, names), *_settings(found, names)]
    drawn += _refusal(found) if found["refused"] else _changes(opened, first, second, found, names)
    return {**shown, "first": first.about, "second": second.about, "refused": found["refused"], "panels": drawn}


def _pair(opened, query):
    """((first, second), why these): the runs asked for; else the newest model run and what it stands against."""
    asked = [query.get(name, [None])[-1] for name in ("first", "second")]
    if asked.count(None) == 1:
        raise shelf.BadQuery(f"{'first' if asked[0] is None else 'second'} is missing: name two runs, or none")
    if None not in asked:
        if asked[0] == asked[1]:
            raise shelf.BadQuery(f"first and second are both {asked[0][:80]}; name two different runs")
        return shelf.choose(opened, asked), None
    models = [run for run in shelf.of_the_key(opened) if shelf.is_headline(run)]
    floors = shelf.floors(opened)
    if len(models) > 1:
        return models[-2:], "The newest model run, after the one before it."
    if models and floors:
        return [floors[0], models[0]], "The only model run, beside a free floor, which is a baseline and no peer of it."
    if len(floors) > 1:
        return floors[:2], "No model run is recorded yet, so these are the first two free floors, both baselines."
    return (opened.runs + [None, None])[:2], "The first two runs there are."


@functools.lru_cache(maxsize=16)
def _compared(first, second, first_stamp, second_stamp, across):
    """The comparison of two record files as they stand; read once, since the page is asked for again and again."""
    return comparing.compare(records.Record(first), records.Record(second), across)


def _stamp(path):
    known = path.stat()
    return known.st_mtime_ns, known.st_size


def _names(first, second):
    """What the two are called in heads: their names, or their ids where they share a name."""
    found = [run.about["name"] for run in (first, second)]
    return found if found[0] != found[1] else [first.id, second.id]


def _guards(found, names):
    rows = [[guard["guard"], guard["first"], guard["second"],
             "✓ same" if guard["same"] else "✗ differs"] for guard in found["guards"]]
    return panels.table(["guard", *names, ""], rows, "What has to be equal before anything is differenced")


def _settings(found, names):
    rows = [[item["setting"], *({"text": figures.BLANK if item[side] is None else panels.words_of(item[side])}
                                for side in ("first", "second"))] for item in found["settings"]]
    return [panels.table(["setting", *names], rows, "What else differs between the two")] if rows else []


def _refusal(found):
    differing = [guard["guard"] for guard in found["guards"] if not guard["same"]]
    about = [name for name in comparing.ACROSS if differing == [name]]
    hint = f" If the {about[0]} is what the comparison is about, allow it to differ." if about else ""
    text = f"Nothing may be differenced.{hint}"
    return [panels.note(text, "These runs may not be compared", "warn", found["refused"])]


def _changes(opened, first, second, found, names):
    """The panels of a comparison that may be made."""
    sides = first.record, second.record
    metrics, fields = ([metric for metric in found["metrics"] if metric["id"].startswith("field.") is single]
                       for single in (False, True))
    notes = [wording.P, wording.could(found["could"]), wording.looks(_looks(opened, second)),
             *(f"{sentence}." for sentence in comparing.not_significant(found["metrics"]))]
    return [*(panels.note(f"{sentence}.", "Baselines", "warn") for sentence in comparing.floors(*sides)),
            _headline(found, first.titles), _errors(opened, found, sides, names),
            _metrics(metrics, names, "Metrics"),
            panels.note(None, "What these figures can show", lines=notes),
            *([_metrics(fields, names, "Field by field") | {"folded": True}] if fields else [])]


def _headline(found, titles):
    """Fixed, broken, still wrong, still right of the headline, the changed ones by name, the broken ones with why."""
    rows = [[word, *(_documents(found["changed"][column][kind], found["why"][column] if kind == "broken" else {},
                                is_named=kind in ("fixed", "broken")) for column in runs.COLUMNS)]
            for kind, word in WORDS.items()]
    by_column = {metric["column"]: metric for metric in found["metrics"] if metric["id"] == next(iter(titles))}
    for word, told in (("difference (95 %)", wording.difference),
                       ("p, exact", lambda metric: wording.chance(metric["p"]))):
        rows.append([word, *(told(by_column[column]) if column in by_column else figures.BLANK
                             for column in runs.COLUMNS)])
    return panels.table(["", *runs.COLUMNS], rows, f"Document by document: {next(iter(titles.values()))}")


def _documents(ids, why, is_named):
    """How many documents, and where they are named the first of them as links."""
    linked = [{"text": name, "link": {"document": name}} | ({"why": blame.in_words(why[name])} if name in why else {})
              for name in (ids[:LINKS_SHOWN] if is_named else ())]
    more = len(ids) - len(linked)
    return [{"text": str(len(ids))}, *linked, *[{"text": f"and {more} more"}] * bool(is_named and more)]


def _metrics(metrics, names, title):
    """A row a metric and column: both rates, what was won and lost, the difference and what chance has to say of it."""
    rows = [[{"text": metric["title"], "why": metric["test"]}, metric["column"], figures.rate(metric["first"]),
             figures.rate(metric["second"]), str(metric["won"]), str(metric["lost"]), wording.difference(metric),
             wording.chance(metric["p"]), wording.chance(metric["p_holm"])] for metric in metrics]
    return panels.table(["metric", "answers", *names, "won", "lost", "difference (95 %)", "p", "p of all"], rows, title)


def _errors(opened, found, sides, names):
    """A row a named error and column: both counts, the documents where it is new and where it is gone."""
    known = [{error["id"]: error for error in side["errors"]} for side in sides]
    rows = []
    for error in found["errors"]:
        counts = [figures.count(side[error["id"]][error["column"]], opened.kit.about["documents"]) for side in known]
        rows.append([{"text": error["title"], "why": known[0][error["id"]].get("why")}, error["column"], *counts,
                     _documents(error["new"], {}, True), _documents(error["gone"], {}, True)])
    return panels.table(["named error", "answers", *names, "new in", "gone from"], rows,
                        "Named errors, the most expensive first: a count, with none allowed to be new")


def _looks(opened, second):
    kinds = {runs.KINDS[letter] for letter in "rsac"}
    return comparing.looks((run.record for run in opened.runs if run.about["kind"] in kinds), second.about["gold"])
