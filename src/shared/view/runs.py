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
LOCAL, ROUNDING = "local", 1e-6
# Scored model runs first, then what they stand against: the order in which people look for a run.
KINDS = {"r": "model run", "b": "free floor", "s": "stateless control", "a": "ablation", "c": "calibration",
         "x": "injection", "t": "stub"}

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
            rows = {document: _row(row, titles, errors) for document, row in rows.items()}
            run = Run(name, path, _about(name, record), record, rows, titles, errors)
            wrong = list(_differences(run, counts))
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        why = f"{e} is missing" if isinstance(e, KeyError) else getattr(e, "msg", e)
        raise BadData(f"{path}: not a whole run record ({why}); re-score the run or delete the file") from None
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
            hits, of = _hits(hit)
            counts[column][mark, "num"] += hits
            counts[column][mark, "den"] += of
    counts[RAW]["outcome", found["outcome"]] += 1


def _ends(marks):
    """(marks that were missed, marks that hold), those of single fields apart: all that a list needs of a document."""
    names = [intern(mark) for mark in marks if not mark.startswith("field.")]
    return (tuple(name for name in names if _hits(marks[name])[0] < _hits(marks[name])[1]),
            tuple(name for name in names if _hits(marks[name])[0]))


def _hits(hit):
    """(hits, opportunities) of a mark: True and False are one opportunity, a list counts several."""
    return hit if isinstance(hit, list) else (int(hit), 1)


def _row(found, titles, errors):
    """A Row of what was indexed, once it is known which marks are metrics and which are errors."""
    *place, ends, cells = found
    wrong = {column: tuple(titles[mark] for mark in missed if mark in titles) for column, (missed, _) in ends.items()}
    named = {column: tuple(mark for mark in hold if mark in errors) for column, (_, hold) in ends.items()}
    return Row(*place, wrong, named, cells)


def _differences(run, counts):
    """Yield a sentence for each figure that the documents do not add up to."""
    for column in COLUMNS:
        for found in run.record["metrics"] + run.record["errors"]:
            have = counts[column][found["id"], "num"], counts[column][found["id"], "den"]
            if _told(found[column]) != have:
                yield f"{found['id']}, {column}: the record says {_told(found[column])}, its documents say {have}"
            if found[column] and "rate" in found[column]:
                low, rate, high = (found[column][key] for key in ("low", "rate", "high"))
                if not low <= rate <= high or abs(rate - have[0] / have[1]) > ROUNDING:
                    yield f"{found['id']}, {column}: {rate} in {low} to {high} is not the rate of {have}"
        for error in run.record["errors"]:
            rows = sorted((error[column] or {"rows": []})["rows"])
            if rows != sorted(name for name, row in run.rows.items() if error["id"] in row.errors[column]):
                yield f"{error['id']}, {column}: the rows named are not those of its documents"
    totals = run.record["totals"]
    have = {name: number for (kind, name), number in counts[RAW].items() if kind == "outcome"}
    if totals["documents"] != len(run.rows) or {k: n for k, n in totals["outcomes"].items() if n} != have:
        yield f"the record says {totals['documents']} documents, {totals['outcomes']}, its documents say {have}"


def _told(figure):
    """(hits, opportunities) as a metric or a named error says them."""
    if figure is None:
        return 0, 0
    return (figure["num"], figure["den"]) if "num" in figure else (figure["count"], figure["opportunities"])
