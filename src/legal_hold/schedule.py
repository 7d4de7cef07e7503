"""Which run of which matter was taken when, and what is next: of kept states, of rows of facts, or of extracts."""
from pathlib import Path

from src.legal_hold import page, state
from src.shared import values as v
from src.shared.files import BadData, decode, parse_json, read_json, read_text, visible

KINDS = {"matter": str, "run": int, "runs": int, "snapshot": str, "run_on": str, "previous": (str, type(None)),
         "next": (str, type(None))}
DATES = ("snapshot", "run_on", "previous", "next")


def schedule(book, states=(), facts=None):
    """{"positions", "problems", "stale_after_days", "is_kept"}, for `python -m tools.due`.

    From the state files where there are any, else from the rows of a facts file, else from the data folder: its
    extracts, and its rows of facts.jsonl that have none. A position is {"chain", "run", "runs", "document", "snapshot",
    "run_on", "previous", "next", "follows"}, dates as ISO text or None, `follows` how many runs it vouches for beside
    its own; a problem is a sentence about what cannot be read, and the others go on.
    """
    found, problems = [], []
    places = _of_states(book, states) if states else _of_rows(Path(facts)) if facts else _of_folder(book.data)
    for where, read in places:
        try:
            position = read()
            if position:
                _refuse_unreadable(position)
                found.append({"document": where, "follows": 0, "chain": position.pop("matter"), **position})
        except BadData as e:
            problems += [str(problem) if where in str(problem) else f"{where}: {problem}" for problem in e.problems]
    return {"positions": found, "problems": problems, "stale_after_days": book.rules.days["stale_after_days"],
            "is_kept": bool(states)}


def _of_states(book, paths):
    """(name, a reader of its position) of each state file."""
    runs = max(entry["run"] for entry in book.rules.policy["cadence"])
    for path in map(Path, paths):
        yield path.name, lambda path=path: _of_state(read_json(path), runs)


def _of_state(kept, runs):
    before = state.load(kept)[2]
    known = {part: kept[part] for part in ("matter", "run", "snapshot", "run_on", "next")}
    return {**known, "follows": kept["run"] - 1, "runs": max(runs, kept["run"]),
            "previous": before.snapshot and before.snapshot.isoformat()}


def _of_folder(data):
    extracts = {path.stem: path for path in visible(data / "corpus") if path.suffix == ".txt"}
    for path in extracts.values():
        yield path.name, lambda path=path: page.read_position(read_text(path))
    if (data / "facts.jsonl").exists():
        yield from _of_rows(data / "facts.jsonl", extracts)


def _of_rows(path, known=()):
    """(place, a reader of its position) of each row of a facts file; None for a row that is `known` otherwise."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"{path.name}: line {number}"
            yield where, lambda line=line, where=where: _of_row(parse_json(decode(line, where), where), known)


def _of_row(row, known):
    if not isinstance(row, dict):
        raise BadData(f"{v.shown(row)}: a row of one run is wanted")
    return None if row.get("id") in known else {part: row.get(part) for part in KINDS}


def _refuse_unreadable(position):
    problems = [f"{part} {v.shown(position[part])}: is not what a run's position holds" for part, kind in KINDS.items()
                if not isinstance(position[part], kind) or isinstance(position[part], bool)]
    for part in () if problems else DATES:
        try:
            day = v.read_date(position[part])
            position[part] = day and day.isoformat()
            if day is None and part in ("snapshot", "run_on"):
                problems.append(f"{part}: is not stated")
        except v.Finding as finding:
            problems.append(f"{part}: {finding}")
    if problems:
        raise BadData(*problems)
