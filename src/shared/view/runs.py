"""Run records read for the board: the aggregates in memory, of each document a few marks and the place of its line.

A record that is broken, or whose figures are not what its documents add up to, is refused with a sentence; the other
records stay usable.
"""
import json
from collections import Counter, namedtuple

from src.shared import records, tally
from src.shared.tally import COLUMNS

RAW, RECHECKED = COLUMNS
LOCAL = "local"
# Scored model runs first, then what they stand against: the order in which people look for a run.
KINDS = {"r": "model run", "b": "free floor", "s": "stateless control", "a": "ablation", "c": "calibration",
         "x": "injection", "t": "stub"}

# One run: its id as the board names it, where it lies, what it says of itself, the record without its documents,
# {document: Row}, the titles of its metrics and of its named errors by id, the kinds of blame that it has
Run = namedtuple("Run", "id path about record rows titles errors blames")
# What a list shows of one document: place of its line, and per column what is wrong, errors by id, cell labels, and the
# blame of a wrong decision, {"kind", "rule", "field"} or None; seconds that its call took, or None
Row = namedtuple("Row", "start size outcome differs wrong errors cells blame seconds")


def paths(results):
    """The record files of a kit, {board id: path}: committed ones by their id, those of `local/` with that in front."""
    found = {path.name[5:-5]: path for path in sorted(results.glob("eval-*.json"))}
    local = {f"{LOCAL}/{path.name[5:-5]}": path for path in sorted((results / LOCAL).glob("eval-*.json"))}
    return {name: path for name, path in {**found, **local}.items() if ".shard-" not in name}


def sort_key(run):
    """Model runs before floors, committed before local, by id."""
    name = run.id.removeprefix(f"{LOCAL}/")
    kind = list(KINDS).index(name[0]) if name[0] in KINDS else len(KINDS)
    return kind, run.id != name, name


def read(name, path):
    """A record file → Run. BadData for a file that is no record, is torn, or does not add up."""
    found = records.Record(path)
    record = found.said
    with records.whole(path):
        titles = {metric["id"]: metric["title"] for metric in record["metrics"]}
        errors = {error["id"]: error["title"] for error in record["errors"]}
        listed = {mark: title for mark, title in titles.items() if not mark.startswith("field.")}
        audit, rows, known = tally.Audit(record), {}, {}
        for start, size, told in found.lines():
            if told["id"] in rows:
                raise ValueError(f"{told['id']} stands twice")
            audit.add(told)
            rows[told["id"]] = _row(start, size, told, listed, errors, known)
        found.judge(audit)
        blames = sorted({kind for column in COLUMNS for kind, times in audit.tally.blame[column].items() if times})
        return Run(name, path, _about(name, record), record, rows, titles, errors, blames)


def entry(run, document):
    """The record's entry of one document, or None where the run does not hold it. Numbers are plain floats."""
    row = run.rows.get(document)
    if row is None:
        return None
    with run.path.open("rb") as handle:
        handle.seek(row.start)
        return json.loads(handle.read(row.size))


def told_apart(found):
    """Runs of one name, such as two runs of a model, go by their id."""
    names = Counter(run.about["name"] for run in found)
    return [run if names[run.about["name"]] == 1 else run._replace(about=run.about | {"name": run.id}) for run in found]


def _about(run_id, record):
    """What a run says of itself, for a reader: id, name, arm, model or None, date, kind, local, documents, gold."""
    told, name = record["run"], run_id.removeprefix(f"{LOCAL}/")
    model = (record.get("settings") or {}).get("model")
    return {"id": run_id, "name": model or told["arm"], "arm": told["arm"], "model": model, "date": told.get("date"),
            "kind": KINDS.get(name[0], "run"), "local": name != run_id, "documents": record["totals"]["documents"],
            "gold": record["guards"]["gold"]}


def _row(start, size, found, titles, errors, known):
    """The Row of a record's entry, its line at `start`. `titles` {id: title} of the metrics that a list tells of.

    known {as text: value}: of what documents have alike one copy is held.
    """
    marks, blame = found["marks"], found.get("blame") or {}
    wrong = {column: tuple([title for mark, title in titles.items() if _is_missed(marks[column].get(mark))])
             for column in COLUMNS}
    made = {column: tuple([mark for mark in errors if is_made(marks[column].get(mark))]) for column in COLUMNS}
    alike = wrong, made, found["cells"], {column: blame.get(column) for column in COLUMNS}
    return Row(start, size, found["outcome"], bool(found["overrides"]), *known.setdefault(str(alike), alike),
               (found.get("seconds") or {}).get("total"))


def _is_missed(hit):
    """Whether a mark was missed: False, or a list [hits, opportunities] that lacks one; None is no opportunity."""
    return hit is False or type(hit) is list and hit[0] < hit[1]


def is_made(hit):
    """Whether a mark of a named error says that it was made: True, or a list [times, opportunities] with any."""
    return hit is True or type(hit) is list and hit[0] > 0
