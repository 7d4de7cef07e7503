"""Run records read for the board: the aggregates in memory, of each document a few marks and the place of its line.

A record that is broken, or whose figures are not what its documents add up to, is refused with a sentence; the other
records stay usable.
"""
import json
from collections import Counter, namedtuple
from sys import intern

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
        audit, rows = tally.Audit(record), {}
        for start, size, told in found.lines():
            if told["id"] in rows:
                raise ValueError(f"{told['id']} stands twice")
            audit.add(told)
            rows[told["id"]] = _row(start, size, told, titles, errors)
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


def _row(start, size, found, titles, errors):
    """The Row of a record's entry, its line at `start`; metrics and errors by their titles."""
    ends = {column: _ends(found["marks"][column]) for column in COLUMNS}
    wrong = {column: tuple(titles[mark] for mark in missed if mark in titles) for column, (missed, _) in ends.items()}
    named = {column: tuple(mark for mark in hold if mark in errors) for column, (_, hold) in ends.items()}
    return Row(start, size, found["outcome"], bool(found["overrides"]), wrong, named, found["cells"],
               {column: (found.get("blame") or {}).get(column) for column in COLUMNS},
               (found.get("seconds") or {}).get("total"))


def _ends(marks):
    """(marks that were missed, marks that hold), those of single fields apart: all that a list needs of a document."""
    names = [intern(mark) for mark in marks if not mark.startswith("field.")]
    return (tuple(name for name in names if _hits(marks[name])[0] < _hits(marks[name])[1]),
            tuple(name for name in names if _hits(marks[name])[0]))


def _hits(hit):
    """(hits, opportunities) of a mark: True and False are one opportunity, a list counts several."""
    return hit if isinstance(hit, list) else (int(hit), 1)
