"""The documents of a kit as a list: filters that compose, pages of at most 200 rows, per-run marks, and the export."""
import csv
import io
from collections import namedtuple

from src.shared.fields import near
from src.shared.files import BadData, to_json
from src.shared.view import runs, shelf, words

PAGE_ROWS = 200
ANSWERED = "answered"
FORMULA = frozenset("=+-@\t\r")      # a cell that begins so is one, for a spreadsheet

# runs [Run] whose marks are shown and asked; column raw or rechecked; wrong, differs, disagrees, hard True, False or
# None; error, blame, cell (MATRIX:gold label:answer label), case and q (free text over id, case and page) None where
# not asked; page from 1
Filters = namedtuple("Filters", "runs column wrong differs disagrees hard error blame cell case q page")
EXPORTED = ("id", "case", "kind", "gold", "run", "answers", "answer", "hit", "errors", "missed", "recheck_changed_it",
            "blame_kind", "blame_rule", "blame_field")
KNOWN = ("run", "column", "wrong", "differs", "disagrees", "hard", "error", "blame", "cell", "case", "q", "page")


def filters(opened, query):
    """The query of an address, {name: [text]} → Filters. BadQuery for what has no meaning here."""
    for name in query:
        if name not in KNOWN:
            raise shelf.BadQuery(f"{name} is no filter{near(name, KNOWN)}; filters: {', '.join(KNOWN)}")
    one = {name: values[-1] for name, values in query.items()}
    chosen = shelf.choose(opened, query.get("run", []))
    known = {"column": lambda: runs.COLUMNS, "error": lambda: {name for run in opened.runs for name in run.errors},
             "blame": lambda: {kind for run in opened.runs for kind in run.blames},
             "cell": lambda: set(_cells(opened)), "case": lambda: {place.case for place in opened.documents.values()}}
    words = {name: _word(one, name, known[name]) for name in known if name in one}
    switches = {name: _switch(one, name) for name in ("wrong", "differs", "disagrees", "hard")}
    if switches["disagrees"] is not None and len(chosen) < 2:
        raise shelf.BadQuery("disagrees: two runs are needed to differ; choose another one beside it")
    return Filters(chosen, words.pop("column", runs.RAW), **switches, q=one.get("q") or None,
                   page=_page(one.get("page", "1")),
                   **{name: words.get(name) for name in ("error", "blame", "cell", "case")})


def documents(opened, asked):
    """One page of the list: total, matching, page, pages, columns and rows [{id, case, hard, gold, runs [cell]}]."""
    found = matching(opened, asked)
    pages = max(1, -(-len(found) // PAGE_ROWS))
    page = min(asked.page, pages)
    return {"total": len(opened.documents), "matching": len(found), "page": page, "pages": pages,
            "column": asked.column, "runs": [words.about(opened, run) for run in asked.runs],
            "rows": [_row(opened, asked, name) for name in found[(page - 1) * PAGE_ROWS:page * PAGE_ROWS]]}


def export(opened, asked, form):
    """All documents that pass the filters as text, not paged: `form` "csv" or "json", a row a document and a run."""
    rows = [{"id": name, "case": row["case"], "kind": {True: "hard", False: "clean"}.get(row["hard"]),
             "gold": row["gold"], "run": run.id, "answers": asked.column, **_exported(marks)}
            for name in matching(opened, asked) for row in [_row(opened, asked, name)]
            for run, marks in zip(asked.runs, row["runs"])]
    if form == "json":
        return "[" + ",".join("\n" + to_json(row) for row in rows) + "]\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(EXPORTED)
    writer.writerows(_inert(row.values()) for row in rows)
    return out.getvalue()


def matching(opened, asked):
    """The ids of the documents that pass every filter, in the order of the key."""
    words = asked.q and tuple(asked.q.casefold().split())
    holding = words and shelf.worked_out(opened, words, lambda: _holding(opened, words))
    return [name for name, place in opened.documents.items() if (not words or name in holding)
            and _passes(opened, asked, name, place)]


def neighbours(opened, asked, document):
    """{"previous", "next", "previous_wrong", "next_wrong"} of a document in the filtered list; None at its ends.

    Beside them its place, and the page of the list on which it stands. Where the document itself is filtered out, its
    place is the one it has in the key.
    """
    order = {name: number for number, name in enumerate(opened.documents)}
    found, here = matching(opened, asked), order[document]
    wrong = [name for name in found if any(is_wrong(run, asked.column, name) for run in asked.runs)]
    place = sum(order[name] <= here for name in found)
    return {"place": place, "matching": len(found), "page": max(1, -(-place // PAGE_ROWS)),
            **_around("", found, order, here), **_around("_wrong", wrong, order, here)}


def is_wrong(run, column, document):
    """Whether a run got anything wrong on a document: a metric missed, a named error, or no answer at all."""
    row = run.rows.get(document)
    return bool(row) and (row.outcome != ANSWERED or bool(row.wrong[column] or row.errors[column]))


def sentence(opened, place):
    """What the document was planned to show, or None."""
    return opened.cases.get(place.case, {}).get("sentence")


def is_hard(opened, place):
    """Whether the document's planned case is a hard one; None where no plan says."""
    return opened.cases.get(place.case, {}).get("hard")


def _cells(opened):
    """Yield the name of every cell of every matrix, as a filter spells it."""
    for run in opened.runs:
        for matrix in run.record["matrices"]:
            yield from (cell_name(matrix["id"], want, got) for want in matrix["labels"] for got in matrix["labels"])


def cell_name(matrix, want, got):
    """A cell of a matrix as the filter `cell` spells it."""
    return f"{matrix}:{want}:{got}"


def headline(opened, run, column, document):
    """(label answered for the headline figure or None, whether it missed) of a run on a document; None if not in it."""
    row, mark = run.rows.get(document), opened.kit.about["primary_metric"]
    if row is None:
        return None
    label = row.cells[column].get(mark)
    return label and label[1], row.outcome if row.outcome != ANSWERED else run.titles.get(mark) in row.wrong[column]


def _passes(opened, asked, name, place):
    rows = [run.rows[name] for run in asked.runs if name in run.rows]
    blames = [row.blame[asked.column] for row in rows]
    return ((asked.case is None or place.case == asked.case)
            and (asked.hard is None or is_hard(opened, place) is asked.hard)
            and (asked.wrong is None or any(is_wrong(run, asked.column, name) for run in asked.runs) is asked.wrong)
            and (asked.differs is None or any(row.differs for row in rows) is asked.differs)
            and (asked.disagrees is None or asked.disagrees is (
                len({headline(opened, run, asked.column, name) for run in asked.runs if name in run.rows}) > 1))
            and (asked.blame is None or any(blame and blame["kind"] == asked.blame for blame in blames))
            and (asked.cell is None or any(cell_name(matrix, *pair) == asked.cell for row in rows
                                           for matrix, pair in row.cells[asked.column].items()))
            and (asked.error is None or any(asked.error in row.errors[asked.column] for row in rows)))


def _holding(opened, words):
    """The ids of the documents that hold every word."""
    return {name for name, place in opened.documents.items() if _holds(opened, name, place, words)}


def _holds(opened, name, place, words):
    """Whether every word stands in the id, the case or the page. The page is read last, since it costs the most."""
    known = f"{name} {place.case} {sentence(opened, place)}".casefold()
    left = [word for word in words if word not in known]
    if not left:
        return True
    try:
        page = opened.kit.text(name).casefold()
    except BadData:     # a page that is missing holds no word; the document's own view says what is wrong with it
        return False
    return all(word in page for word in left)


def _row(opened, asked, name):
    place, mark = opened.documents[name], opened.kit.about["primary_metric"]
    rows = [(run, run.rows.get(name)) for run in asked.runs]
    gold = next((row.cells[runs.RAW][mark][0] for _, row in rows if row and mark in row.cells[runs.RAW]), None)
    return {"id": name, "case": place.case, "hard": is_hard(opened, place), "gold": gold,
            "sentence": sentence(opened, place),
            "runs": [_marks(run, row, asked.column, mark) for run, row in rows]}


def _marks(run, row, column, mark):
    """What a run made of a document: its label for the headline, what it missed, its named errors."""
    if row is None:
        return {"text": "not in this run", "kind": "none"}
    if row.outcome != ANSWERED:
        return {"text": row.outcome.replace("_", " "), "kind": "none", "hit": False}
    label = row.cells[column].get(mark)
    mark_title = run.titles.get(mark)
    return {"text": label[1] if label else "answered", "hit": not row.wrong[column] and not row.errors[column],
            "kind": "value", "errors": [run.errors[error] for error in row.errors[column]],
            "missed": [title for title in row.wrong[column] if title != mark_title], "differs": row.differs,
            "blame": row.blame[column]}


def _exported(marks):
    """A run's marks as flat columns."""
    blame = marks.get("blame") or {}
    return {"answer": marks["text"], "hit": marks.get("hit"), "errors": "; ".join(marks.get("errors", ())),
            "missed": "; ".join(marks.get("missed", ())), "recheck_changed_it": marks.get("differs"),
            **{f"blame_{name}": blame.get(name) for name in ("kind", "rule", "field")}}


def _inert(values):
    return [f"'{value}" if type(value) is str and value[:1] in FORMULA else value for value in values]


def _around(suffix, names, order, here):
    before = [name for name in names if order[name] < here]
    after = next((name for name in names if order[name] > here), None)
    return {f"previous{suffix}": before[-1] if before else None, f"next{suffix}": after}


def _switch(one, name):
    if name not in one:
        return None
    if one[name] not in ("0", "1"):
        raise shelf.BadQuery(f"{name}={one[name][:40]}: 1 for yes or 0 for no is wanted")
    return one[name] == "1"


def _word(one, name, read_known):
    known = read_known()
    if one[name] not in known:
        raise shelf.BadQuery(f"{name}={one[name][:40]} names nothing here{near(one[name][:80], known)}")
    return one[name]


def _page(text):
    if not (text.isascii() and text.isdigit()) or not 1 <= len(text) <= 9 or int(text) < 1:
        raise shelf.BadQuery(f"page={text[:40]}: a whole number from 1 is wanted")
    return int(text)
