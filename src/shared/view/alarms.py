"""What fires in a kit, how it stands now and what it does; and what the kit lacks, as its records say it.

A view is that of `watch`: kept runs, marks, board, guards in hand.
"""
import math
from fractions import Fraction

from src.shared import comparing, intervals, wording
from src.shared.view import board as boards
from src.shared.view import drift, figures, panels, prose, runs, shelf

NO_MODEL = "no model run is kept"
SHOWN = 20      # documents named in one cell


def fires(view):
    """What stops or warns, when, how it stands now, and what it does."""
    rows = [["label gate", "the key does not follow from pages, facts and rules", _labels(view),
             "exit 1; a paid run asks it first and spends nothing"],
            ["a record read back", "its figures are not what its documents add up to", _read(view),
             "the record is refused by name, and its figures are shown nowhere"],
            ["guards", "two runs differ in one of them", _differing(view),
             "exit 3, no verdict: nothing is differenced"]]
    rows += [[{"text": found.title, "why": found.why}, "made at all", _now(view, mark),
              "a row under its name" + ("; with --max-regressions a document that newly makes it counts as worse"
                                        if place == 0 else "")]
             for place, (mark, found) in enumerate((mark, found) for mark, found in view.marks.items()
                                                   if found.kind == "error")]
    for number, entry in enumerate(view.board["fires"]):
        if entry["gate"] == boards.MAX_REGRESSIONS:
            rows.append([f"--max-regressions {entry['value']}", entry["why"], _regressions(view, entry["value"]),
                         "exit 1 with the documents by name; exit 3 where guards differ or replies are owed"])
        elif view.knows(prose.column_and_mark(entry["mark"])[1], f"/fires/{number}"):
            text, now = _threshold(view, entry)
            rows.append([text, entry["why"], now, "exit 1 with the count; exit 3 where it is not measured"])
    return panels.table(["what", "when or why it fires", "now", "then"], rows, "What fires, and what it does")


def documents(view, ids):
    """The first documents by name, as links where they are those of the key and no planted twins; how many more."""
    cells = [{"text": name} | ({"link": {"document": name}} if name in view.opened.documents else {})
             for name in ids[:SHOWN]]
    return cells + [{"text": f"and {len(ids) - SHOWN} more"}] * (len(ids) > SHOWN)


def _labels(view):
    newest = view.kept[-1] if view.kept else None
    if newest is None:
        return figures.blank("no run is kept that it has passed for")
    moved = [name for name in ("corpus", "gold", "rules") if newest.record["guards"][name] != view.now.get(name)]
    return f"passed before {newest.id}, and {', '.join(moved)} changed since: run it again" if moved else \
        f"passed before {newest.id}, and nothing has changed since"


def _read(view):
    files = [name for name in runs.paths(view.opened.kit.results) if not name.startswith(runs.LOCAL)]
    return f"{len(view.kept)} of {len(files)} kept records add up"


def _differing(view):
    moved = [run.id for run in view.kept
             if any(run.record["guards"][name] != view.now.get(name) for name in comparing.GUARDS)]
    return f"{len(moved)} of {len(view.kept)} kept runs differ from what is in hand"


def _now(view, mark):
    """The count of a named error in the newest model run and the floors, raw."""
    cells = [view.figure(run, mark, runs.RAW) | {"head": run.about["model"] or run.about["arm"]} for run in view.shown]
    blank = [] if view.model else [figures.blank(NO_MODEL) | {"head": "model"}]
    return [*blank, *cells]


def _regressions(view, allowed):
    models = [run for run in view.kept if shelf.is_headline(run)]
    if len(models) < 2:
        return figures.blank("no verdict: it takes two model runs")
    before, after = models[-2:]
    differing = [name for name in comparing.GUARDS
                 if name != "rules" and before.record["guards"][name] != after.record["guards"][name]]
    if differing:
        return {"text": "no verdict", "why": f"{', '.join(differing)} differs between {before.id} and {after.id}"}
    owed = next(filter(None, (comparing.owed(run.record) for run in (before, after))), None)
    if owed:
        return {"text": "no verdict", "why": owed}
    worse = [name for name, row in after.rows.items() if _is_worse(after, before.rows[name], row)]
    says = "would fail" if len(worse) > allowed else "would pass"
    return [{"text": f"{says}: {len(worse)} of {len(after.rows)} worse in {after.id} than in {before.id}"},
            *documents(view, worse)]


def _is_worse(run, before, after):
    """As `--max-regressions` asks: right before and wrong now, or the most expensive error where there was none."""
    headline = run.record["metrics"][0]["title"]
    error = run.record["errors"][0]["id"] if run.record["errors"] else None
    return any((headline not in before.wrong[column] and headline in after.wrong[column])
               or (error not in before.errors[column] and error in after.errors[column]) for column in runs.COLUMNS)


def _threshold(view, entry):
    """(the option as it is typed, how the newest model run stands to it)."""
    column, mark = prose.column_and_mark(entry["mark"])
    if entry["value"] == boards.BEST_FLOOR:
        known = filter(None, (prose.figure(run, mark, column) for run in view.floors))
        limit = max((Fraction(found["num"], found["den"]) for found in known), default=None)
    else:
        limit = Fraction(entry["value"])
    if limit is None:
        return f"--fail-under {entry['mark']}=…", figures.blank("no floor is kept to take it from")
    text = f"--fail-under {entry['mark']}={math.floor(10000 * limit) / 10000:g}"
    text = {"text": text, "why": "that of the best free floor"} if entry["value"] == boards.BEST_FLOOR else text
    found = view.model and prose.figure(view.model, mark, column)
    if not found:
        return text, figures.blank(f"no verdict: {'not measured' if view.model else NO_MODEL}")
    says = "would pass" if found["num"] >= limit * found["den"] else "would fail"
    return text, figures.rate(found) | {"head": says}


def add_first(view):
    """What is missing, as the records say it, and behind it what the kit says of itself."""
    rows = [[what, why] for what, why in _missing(view)]
    rows += [[entry["what"], entry["why"]] for entry in view.board["add_first"]]
    return panels.table(["what", "why"], rows, "What to add first")


def _missing(view):
    hyphened = view.opened.kit.hyphened
    if view.model is None:
        yield "a scored model run", (f"`python -m evals.run {hyphened} --arm model --run-id r001-{hyphened}`: without "
                                     "one nothing here says how a model does")
    else:
        number = len(drift.repeats(view.kept, view.model))
        if number < drift.REPEATS:
            yield "a repeat of the newest model run", f"{number} run of it is kept, and a band takes {drift.REPEATS}"
    arms = {run.about["arm"] for run in view.kept}
    for arm, (letter, _) in (view.opened.kit.definition.variants or {}).items():
        if arm not in arms:
            yield f"the arm {arm}", (f"no {runs.KINDS[letter]} is kept, so what that block of the prompt is worth is "
                                     "not measured")
    if not any(run.id.startswith("x") for run in view.kept):
        yield "an injection run", (f"`python -m evals.injection {hyphened}`: none is kept, so what planted sentences "
                                   "do to an answer is not measured")
    yield from _too_few(view)


def _too_few(view):
    """The named errors of which none would be no sign of safety, since there are too few opportunities."""
    enough = intervals.n_for_zero(wording.MAY_STILL_BE)
    few = []
    for mark, found in view.marks.items():
        known = next(filter(None, (prose.figure(run, mark, runs.RAW) for run in view.kept or view.opened.runs)), None)
        if found.kind == "error" and known:
            chances = known["clusters"] or known["opportunities"]
            few += [(chances, f"{found.title} {chances}")] * (chances < enough)
    if few:
        bound = math.ceil(100 * intervals.rule_of_three(min(few)[0]))
        yield ("more opportunities for: " + ", ".join(text for _, text in sorted(few)),
               f"below {enough} (of groups, where rows belong together) an error that is never seen may still be "
               f"commoner than {100 * wording.MAY_STILL_BE:.0f} %; the fewest here allow {bound} % (rule of three)")
