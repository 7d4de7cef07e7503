"""Run records read for the board: the aggregates in memory, of each document a few marks and the place of its line.

A record that is broken, or whose figures are not what its documents add up to, is refused with a sentence; the other
records stay usable.
"""
import json
from collections import Counter, namedtuple
from sys import intern

from src.shared.files import BadData

RAW, RECHECKED = COLUMNS = "raw", "rechecked"
OPENING, DOCUMENTS_END = b'{"documents":[\n', b"],\n"
LOCAL = "local"
# Scored model runs first, then the controls, floors and the stub: the order in which people look for a run.
KINDS = {"r": "model run", "s": "stateless control", "a": "ablation", "c": "calibration", "x": "injection",
         "b": "free floor", "t": "stub"}

# One run: its id as the board names it, where it lies, what it says of itself, the record without its documents,
# {document: Row}, the titles of its metrics and of its named errors by id
Run = namedtuple("Run", "id path about record rows titles errors")
# What a list shows of one document: place of its line, and per column what is wrong, errors by id, cell labels
Row = namedtuple("Row", "start size outcome differs wrong errors cells")


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
    try:
        with path.open("rb") as handle:
            if handle.readline() != OPENING:
                raise ValueError("does not begin like a record")
            rows, counts = _index(handle)
            record = json.loads(b"{" + handle.read())
            titles = {metric["id"]: metric["title"] for metric in record["metrics"]}
            errors = {error["id"]: error["title"] for error in record["errors"]}
            run = Run(name, path, _about(name, record), record, {doc: _row(row, titles, errors) for doc, row in rows.items()}, titles, errors)
            wrong = list(_differences(run, counts))
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise BadData(f"{path}: not a whole run record ({type(e).__name__}: {e}); re-score the run or delete the "
                      "file") from None
    if wrong:
        raise BadData(f"{path}: {'; '.join(wrong[:3])}; re-score the run or restore the file")
    return run


def entry(run, document):
    """The record's entry of one document, or None where the run does not hold it. Numbers are plain floats."""
    row = run.rows.get(document)
    if row is None:
        return None
    with run.path.open("rb") as handle:
        handle.seek(row.start)
        return json.loads(handle.read(row.size))


def told_apart(found):
    """Runs of one name, such as two runs of a model, get their id beside it."""
    names = Counter(run.about["name"] for run in found)
    return [run if names[run.about["name"]] == 1 else
            run._replace(about=run.about | {"name": f"{run.about['name']} {run.id}"}) for run in found]


def _about(run_id, record):
    """What a run says of itself, for a reader: id, name, arm, model or None, date, kind, local, documents, gold."""
    told, name = record["run"], run_id.removeprefix(f"{LOCAL}/")
    model = (record.get("settings") or {}).get("model")
    return {"id": run_id, "name": model or told["arm"], "arm": told["arm"], "model": model, "date": told.get("date"),
            "kind": KINDS.get(name[0], "run"), "local": name != run_id, "documents": record["totals"]["documents"],
            "gold": record["guards"]["gold"]}


def _index(handle):
    """({document: what `_row` needs of it}, what the marks add up to), a line at a time."""
    rows, counts = {}, {column: Counter() for column in COLUMNS}
    start = handle.tell()
    for line in iter(handle.readline, b""):
        if line == DOCUMENTS_END:
            return rows, counts
        body = line.rstrip().removesuffix(b",")
        found = json.loads(body)
        if found["id"] in rows:
            raise ValueError(f"{found['id']} stands twice")
        _count(counts, found)
        rows[found["id"]] = (start, len(body), found["outcome"], bool(found["overrides"]),
                             {column: _ends(found["marks"][column]) for column in COLUMNS}, found["cells"])
        start += len(line)
    raise ValueError("ends inside its documents")


def _count(counts, found):
    for column in COLUMNS:
        for mark, hit in found["marks"][column].items():
            hits, of = hit if isinstance(hit, list) else (int(hit), 1)
            counts[column][mark, "num"] += hits
            counts[column][mark, "den"] += of
    counts[RAW]["outcome", found["outcome"]] += 1


def _ends(marks):
    """(marks that were missed, marks that hold), those of single fields apart: all that a list needs of a document."""
    names = [intern(mark) for mark in marks if not mark.startswith("field.")]
    missed = tuple(name for name in names if not _is_hit(marks[name]))
    return missed, tuple(name for name in names if marks[name] is True)


def _is_hit(hit):
    return hit[0] == hit[1] if isinstance(hit, list) else hit


def _row(found, titles, errors):
    """A Row of what was indexed, once it is known which marks are metrics and which are errors."""
    *place, ends, cells = found
    return Row(*place, {column: tuple(titles[mark] for mark in ends[column][0] if mark in titles) for column in COLUMNS},
               {column: tuple(mark for mark in ends[column][1] if mark in errors) for column in COLUMNS}, cells)


def _differences(run, counts):
    """Yield a sentence for each figure that the documents do not add up to."""
    for column in COLUMNS:
        for metric in run.record["metrics"]:
            want = metric[column] or {"num": 0, "den": 0, "rate": 0, "low": 0, "high": 0}
            have = counts[column][metric["id"], "num"], counts[column][metric["id"], "den"]
            if not want["low"] <= want["rate"] <= want["high"] or abs(want["rate"] * have[1] - have[0]) > 0.01 * have[1]:
                yield f"{metric['id']}, {column}: {want['rate']} in {want['low']} to {want['high']} is no such rate"
            if (want["num"], want["den"]) != have:
                yield (f"{metric['id']}, {column}: the record says {want['num']} of {want['den']}, its documents say "
                       f"{have[0]} of {have[1]}")
        for error in run.record["errors"]:
            rows = sorted((error[column] or {"rows": []})["rows"])
            if rows != sorted(name for name, row in run.rows.items() if error["id"] in row.errors[column]):
                yield f"{error['id']}, {column}: the rows named are not those of its documents"
    totals = run.record["totals"]
    if totals["documents"] != len(run.rows):
        yield f"the record says {totals['documents']} documents and holds {len(run.rows)}"
    for outcome, number in totals["outcomes"].items():
        if counts[RAW]["outcome", outcome] != number:
            yield f"outcome {outcome}: the record says {number}, its documents say {counts[RAW]['outcome', outcome]}"
