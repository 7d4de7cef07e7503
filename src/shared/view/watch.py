"""The guardrails of a kit as panels: what must be equal, what is watched, bands, history, deviations, what fires.

Every figure is computed from the records and the data in hand; what is said about them is `board.json` of the data
folder, with its figures filled in. Only kept runs count: those of `local/` are written over by the next try.
"""
from src.shared import comparing, records, wording
from src.shared.fields import near
from src.shared.files import BadData
from src.shared.guards import in_hand
from src.shared.view import board as boards
from src.shared.view import alarms, drift, figures, panels, prose, ripple, runs, shelf

NO_RUN = ("Not measured: no run of this kit is kept yet. `python -m evals.run --arm NAME --run-id ID` keeps one; "
          "without an id a run goes to local/ and is written over.")
NO_PROSE = ("The data folder keeps no board.json, so nothing here says why a figure matters, what moves with what and "
            "what to run when. All that is computed follows.")
ONE_RUN = "not yet known: a band takes two runs that share arm, guards and settings"
GUARDS = {
    "documents": "how many documents were asked",
    "corpus": "every page, character for character",
    "gold": "the key that answers are held against",
    "rules": "the check set or rulebook, the fields and what goes with them",
    "prefix": "the part of the prompt that no call changes",
}
ORDER = "rsacbtx"       # of the blocks of the history
OWN_PAGES = ("documents", "corpus")     # what a run that plants sentences never shares


def watch(opened):
    """{panels, problems} of a `shelf.Opened`. A board or page that cannot be read is a problem; the rest is shown."""
    problems, kept, found = list(opened.problems), prose.kept(opened), prose.figures(opened)
    try:
        board = boards.read(opened.kit.data)
        empty = board is None and panels.note(NO_PROSE, "Watch")
    except BadData as e:
        problems += e.problems
        board, empty = None, panels.note("board.json cannot be read; see the problems above.", "Watch", "warn")
    board = boards.filled(board or dict.fromkeys(boards.SECTIONS, ()), found)
    try:
        now = shelf.worked_out(opened, "guards", lambda: in_hand(opened.kit))
    except BadData as e:
        problems += e.problems
        now = {}
    view = View(opened, kept, found, board, now, problems)
    for number, entry in enumerate(board["turns"]):
        view.knows(entry["error"], f"/turns/{number}")
    drawn = [*([empty] if empty else []), *([] if kept else [panels.note(NO_RUN, "Runs")])]
    drawn += [_guards(view), *_standing(view), *_watched(view), *_deviations(view), *_history(view), *_ripple(view),
              alarms.fires(view), alarms.add_first(view), *_cadence(view)]
    problems += [f"{opened.kit.data / boards.FILE}: {sentence}" for sentence in found.unknown]
    return {"panels": drawn, "problems": problems}


class View:
    """What every panel is drawn from: records, board, the guards in hand; marks that no run knows become problems."""

    def __init__(self, opened, kept, found, board, now, problems):
        self.opened, self.kept, self.board, self.now, self.problems = opened, kept, board, now, problems
        self.marks, self.model = found.marks, found.model
        self.floors = [run for run in shelf.floors(opened) if not run.about["local"]]
        self.noun = opened.kit.about["documents"]

    @property
    def shown(self):
        """The newest model run and the floors beside it."""
        return [run for run in (self.model, *self.floors) if run]

    def knows(self, mark, place):
        """Whether a run tells of a mark; else it is a problem of the board, unless no run is there to tell."""
        if self.marks and mark not in self.marks:
            said = (f"{self.opened.kit.data / boards.FILE}: {place}: {mark} is no metric, named error or score"
                    f"{near(mark, list(self.marks))}")
            self.problems += [said] * (said not in self.problems)
        return mark in self.marks

    def watched(self):
        """[(mark, why)] of the board; without one every figure that is no single field's."""
        entries = [(entry["mark"], entry["why"]) for number, entry in enumerate(self.board["watched"])
                   if self.knows(entry["mark"], f"/watched/{number}")]
        return entries or [(mark, found.why) for mark, found in self.marks.items() if not mark.startswith("field.")]

    def figure(self, run, mark, column):
        """A run's figure as a cell with its column in front."""
        found, kind = prose.figure(run, mark, column), self.marks[mark].kind
        if kind == "metric":
            cell = figures.rate(found)
        elif kind == "error":
            cell = figures.count(found, self.noun)
            if found and found["count"]:
                cell |= {"link": {"run": run.id, "error": mark, "column": column}}
            elif found:
                cell.pop("why", None)   # that none of too few is no safety is said once, by what to add first
        else:
            cell = {"text": f"{found['value']:.3f} · {found['documents']} {self.noun}" if found else figures.BLANK}
        if not found:
            cell |= {"why": "not measured: no opportunity"}
        return cell | {"head": column}

    def both(self, run, mark):
        """A run's figure raw and, where the recheck can move it, rechecked."""
        return [self.figure(run, mark, column) for column in runs.COLUMNS
                if column == runs.RAW or prose.figure(run, mark, column)]


def _guards(view):
    """The guards as they stand now; the settings of the newest model run; what the floors give."""
    rows = [[name, view.now.get(name, figures.BLANK), why] for name, why in GUARDS.items()]
    settings = (view.model.record["settings"] if view.model else None) or {}
    told = [{"text": f"{name} {panels.words_of(value)}"} for name, value in settings.items() if value is not None]
    rows.append(["settings", told or figures.blank(alarms.NO_MODEL), "of the newest model run"])
    rows.append(["floors", [_floor(view, run) for run in view.floors] or figures.blank("no floor is kept"),
                 "a free arm gives the same figures every time; one that does not says that the scoring has moved"])
    return panels.table(["guard", "now", "what it covers"], rows,
                        "Guards: what has to be equal before anything is differenced")


def _floor(view, run):
    """A floor's headline, and whether another run of it over the same guards gives the same figures throughout."""
    mark = view.opened.kit.about["primary_metric"]
    again = [other for other in drift.repeats(view.opened.runs, run) if other.id != run.id]
    moved = [other.id for other in again if any(
        prose.figure(run, name, column) != prose.figure(other, name, column)
        for name in view.marks for column in runs.COLUMNS)]
    why = f"✗ other figures in {', '.join(moved)}" if moved else \
        f"✓ the same again in {', '.join(other.id for other in again)}" if again else "not run again under these guards"
    return figures.rate(prose.figure(run, mark, runs.RAW)) | {"head": run.about["arm"], "why": why}


def _standing(view):
    """A row a kept run: guard by guard, whether it is what is in hand, and whether its settings are the newest ones."""
    rows = []
    for run in _in_order(view.kept):
        planted = run.id.startswith("x")
        cells = [_same(run.record["guards"][name], view.now.get(name), planted and name in OWN_PAGES)
                 for name in GUARDS]
        rows.append([{"text": run.id, "link": {"run": run.id}}, *cells, _settings(run, view.model)])
    if rows:
        yield panels.table(["run", *GUARDS, "settings"], rows, "Kept runs against what is in hand")


def _same(kept, now, is_planted):
    if now is None:
        return figures.blank("what is in hand cannot be read")
    if kept == now:
        return {"text": "✓ same"}
    why = "pages with planted sentences" if is_planted else "nothing may be differenced across it"
    return {"text": f"{'own' if is_planted else '✗ differs'}: {kept}", "why": why}


def _settings(run, model):
    if comparing.is_floor(run.record):
        return figures.blank("asked no model")
    if model is None:
        return figures.blank(alarms.NO_MODEL)
    differing = [found["setting"] for found in comparing.settings(model.record, run.record)
                 if found["setting"] not in drift.NO_MATTER]
    return f"✗ {', '.join(differing)}" if differing else "✓ same"


def _watched(view):
    """The watched figures of the newest model run and the floors, the null baseline, and the band of the repeats."""
    rows = []
    for mark, why in view.watched():
        model = view.both(view.model, mark) if view.model else figures.blank(alarms.NO_MODEL)
        floors = [view.both(run, mark) for run in view.floors]
        rows.append([{"text": view.marks[mark].title, "why": why}, model, *floors, _null(view, mark),
                     _band(view, mark)])
    if rows:
        names = [run.about["arm"] for run in view.floors]
        yield panels.table(["watched", "newest model run", *names, "null baseline", "band"], rows, "Watched figures")


def _null(view, mark):
    """What answering null everywhere gets: kept beside each metric, and of an error in the null arm's own run."""
    if view.marks[mark].kind == "metric":
        found = next((metric["null"] for run in view.kept or view.opened.runs for metric in run.record["metrics"]
                      if metric["id"] == mark), None)
        return figures.rate(found)
    run = next((run for run in view.kept if run.about["arm"] == "null"), None)
    return view.figure(run, mark, runs.RAW) if run else figures.blank("no null run is kept")


def _band(view, mark):
    """The band of the newest model run's repeats, raw and rechecked."""
    if view.model is None:
        return figures.blank(alarms.NO_MODEL)
    found = drift.repeats(view.kept, view.model)
    cells = [_span(view, mark, band) | {"head": column} for column in runs.COLUMNS
             if (band := drift.band(found, mark, column))]
    return cells or figures.blank(ONE_RUN if len(found) < drift.REPEATS else "not measured in them")


def _span(view, mark, band):
    low, high = (_number(view, mark, end) for end in (band.low, band.high))
    return {"text": low if low == high else f"{low} to {high}", "why": f"over {', '.join(band.runs)}"}


def _number(view, mark, value):
    kind = view.marks[mark].kind
    return wording.percent(value) if kind == "metric" else str(value) if kind == "error" else f"{value:.3f}"


def _deviations(view):
    """A row a figure outside its band, or a named error with new rows; and why no more can be said."""
    errors = (mark for mark, found in view.marks.items() if found.kind == "error")
    found = drift.deviations(view.kept, list(dict.fromkeys([*(mark for mark, _ in view.watched()), *errors])))
    title = "Deviations: outside the band of the repeats before"
    if found.deviations:
        rows = [[{"text": one.run.id, "link": {"run": one.run.id}}, view.marks[one.mark].title, one.column,
                 _number(view, one.mark, one.value), _span(view, one.mark, one.band),
                 alarms.documents(view, one.new) or figures.BLANK,
                 [{"text": text} for text in one.differs] or "nothing: the same guards and settings"]
                for one in found.deviations]
        yield panels.table(["run", "figure", "answers", "here", "band", "new in", "what differs"], rows, title)
    lines = [f"{run}: held against {', '.join(before)}" for run, before in found.held.items()]
    lines += [f"{run}: {why}" for run, why in found.refused.items()]
    if not found.held:
        arms = {}
        for run in view.kept:
            arms.setdefault(run.about["arm"], []).append(run.id)
        lines += [f"{arm}: {', '.join(ids)}" for arm, ids in arms.items()]
        yield panels.note("Not computable: no run follows two that share arm, guards and settings. The kept runs by "
                          "arm:", title, lines=lines or ["none"])
    else:
        text = "Which runs were held against which repeats:" if found.deviations else \
            "None: every figure lies inside the band of the repeats before it, and no named error has a new row."
        yield panels.note(text, title, lines=lines)


def _history(view):
    """A table a kind of run: date, the headline, and which named errors were made; kinds without a run by name."""
    mark = view.opened.kit.about["primary_metric"]
    blocks = {letter: [run for run in view.kept if run.id.startswith(letter)] for letter in ORDER}
    for letter, block in blocks.items():
        rows = [[{"text": run.id, "link": {"run": run.id}}, run.about["date"] or figures.BLANK, _name(run),
                 *(figures.rate(prose.figure(run, mark, column)) for column in runs.COLUMNS), _errors(view, run)]
                for run in block]
        if rows:
            yield panels.table(["run", "date", "arm or model", *runs.COLUMNS, "named errors, raw"], rows,
                               f"History: {runs.KINDS[letter]}")
    missing = [f"{runs.KINDS[letter]} ({letter})" for letter, block in blocks.items() if not block]
    if missing:
        yield panels.note(f"No run is kept of these kinds: {', '.join(missing)}.", "History: not yet run")


def _errors(view, run):
    """The named errors that a run made, as links to their documents, and how many kinds it did not make."""
    made = [view.figure(run, error["id"], runs.RAW) | {"head": error["title"]} for error in run.record["errors"]
            if error[runs.RAW] and error[runs.RAW]["count"]]
    none = sum(bool(error[runs.RAW]) and not error[runs.RAW]["count"] for error in run.record["errors"])
    blank = sum(not error[runs.RAW] for error in run.record["errors"])
    counts = [f"not made (kinds): {none}"] * bool(none) + [f"not measured (kinds): {blank}"] * bool(blank)
    return [*made, *({"text": text} for text in counts)] or figures.BLANK


def _ripple(view):
    """The edges: counted over the newest model run and the floors, or reasoned and said to be so."""
    edges = {number: ends for number, edge in enumerate(view.board["ripple"]) if (ends := _ends(view, number, edge))}
    counted = {run.id: dict(zip(edges, _together(view, run, list(edges.values())))) for run in view.shown}
    rows = []
    for number, edge in enumerate(view.board["ripple"]):
        if number in edges:
            sides = [[_side(counted[run.id][number][side]) | {"head": _name(run)} for run in view.shown]
                     for side in (0, 1)]
            rows.append([*(_end(view, *end) for end in edges[number]), "counted document by document",
                         *(side or figures.blank("no run is kept") for side in sides), edge["why"]])
        elif edge["measured"] is None:
            rows.append([edge["from"], edge["to"], "reasoned", figures.BLANK, figures.BLANK, edge["why"]])
    if rows:
        yield panels.table(["when this falls", "this falls too", "how known", "where the first fell",
                            "where it did not", "why"], rows, "Ripple: what moves with what")


def _ends(view, number, edge):
    """The two ends of an edge that is to be counted, each (column, mark, whether it is a named error); else None."""
    found = [prose.column_and_mark(edge[end]) for end in ("from", "to")] if edge["measured"] else []
    if found and all([view.knows(mark, f"/ripple/{number}") for _, mark in found]):
        return tuple((column, mark, view.marks[mark].kind == "error") for column, mark in found)


def _side(found):
    return figures.rate(found) if found else figures.blank("no such document")


def _end(view, column, mark, is_error):
    return {"text": view.marks[mark].title, "why": f"{column}, {'made' if is_error else 'missed'}"}


def _together(view, run, edges):
    """Both rates of every edge over one record, kept for as long as no file changes."""
    kept = view.opened.kept.setdefault("ripple", {})
    if run.id not in kept:
        kept[run.id] = ripple.together((entry for _, _, entry in records.Record(run.path).lines()), edges)
    return kept[run.id]


def _cadence(view):
    rows = [[entry["when"], entry["do"], entry["why"]] for entry in view.board["cadence"]]
    if rows:
        yield panels.table(["when", "what", "why"], rows, "Cadence: what to run when")


def _name(run):
    return run.about["model"] or run.about["arm"]


def _in_order(kept):
    """Runs by kind in the order of the history, then by date and id."""
    rank = lambda run: ORDER.index(run.id[0]) if run.id[0] in ORDER else len(ORDER)
    return sorted(kept, key=rank)
