"""The documents of a kit as a list: filters that compose, pages of at most 200 rows, per-run marks."""
from collections import namedtuple

from src.shared.fields import near
from src.shared.files import BadData
from src.shared.view import runs, shelf

PAGE_ROWS = 200
ANSWERED = "answered"

# runs [Run] whose marks are shown and asked; column raw or rechecked; wrong, differs, hard True or None; error, case
# and q (free text over id, case and page) None where not asked; page from 1
Filters = namedtuple("Filters", "runs column wrong differs hard error case q page")
KNOWN = ("run", "column", "wrong", "differs", "hard", "error", "case", "q", "page")


def filters(opened, query):
    """The query of an address, {name: [text]} → Filters. BadQuery for what has no meaning here."""
    for name in query:
        if name not in KNOWN:
            raise shelf.BadQuery(f"{name} is no filter{near(name, KNOWN)}; filters: {', '.join(KNOWN)}")
    one = {name: values[-1] for name, values in query.items()}
    chosen = shelf.choose(opened, query.get("run", []))
    errors = {error for run in opened.runs for error in run.errors}
    cases = {place.case for place in opened.documents.values()}
    wrong, differs, hard = (_switch(one, name) for name in ("wrong", "differs", "hard"))
    column, error, case = (_word(one, name, known) for name, known in
                           (("column", runs.COLUMNS), ("error", errors), ("case", cases)))
    return Filters(chosen, column or runs.RAW, wrong, differs, hard, error, case, one.get("q") or None,
                   _page(one.get("page", "1")))


def documents(opened, asked):
    """One page of the list: total, matching, page, pages, columns and rows [{id, case, hard, gold, runs [cell]}]."""
    found = matching(opened, asked)
    pages = max(1, -(-len(found) // PAGE_ROWS))
    page = min(asked.page, pages)
    return {"total": len(opened.documents), "matching": len(found), "page": page, "pages": pages,
            "column": asked.column, "runs": [run.about for run in asked.runs],
            "rows": [_row(opened, asked, name) for name in found[(page - 1) * PAGE_ROWS:page * PAGE_ROWS]]}


def matching(opened, asked):
    """The ids of the documents that pass every filter, in the order of the key."""
    words = asked.q and asked.q.casefold().split()
    return [name for name, place in opened.documents.items() if _passes(opened, asked, name, place)
            and (not words or _holds(opened, name, place, words))]


def neighbours(opened, asked, document):
    """{"previous", "next", "previous_wrong", "next_wrong"} of a document in the filtered list; None at its ends.

    Where the document itself is filtered out, its place is the one it has in the key.
    """
    order = {name: number for number, name in enumerate(opened.documents)}
    found, here = matching(opened, asked), order[document]
    wrong = [name for name in found if any(is_wrong(run, asked.column, name) for run in asked.runs)]
    return {"place": sum(order[name] <= here for name in found), "matching": len(found),
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


def _passes(opened, asked, name, place):
    rows = [run.rows[name] for run in asked.runs if name in run.rows]
    return ((asked.case is None or place.case == asked.case)
            and (asked.hard is None or is_hard(opened, place) is asked.hard)
            and (asked.wrong is None or any(is_wrong(run, asked.column, name) for run in asked.runs) is asked.wrong)
            and (asked.differs is None or any(row.differs for row in rows) is asked.differs)
            and (asked.error is None or any(asked.error in row.errors[asked.column] for row in rows)))


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
    headline = run.titles.get(mark)
    return {"text": label[1] if label else "answered", "hit": not row.wrong[column] and not row.errors[column],
            "kind": "value", "errors": [run.errors[error] for error in row.errors[column]],
            "missed": [title for title in row.wrong[column] if title != headline], "differs": row.differs}


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


def _word(one, name, known):
    if name in one and one[name] not in known:
        raise shelf.BadQuery(f"{name}={one[name][:40]} names nothing here{near(one[name], known)}")
    return one.get(name)


def _page(text):
    if not (text.isascii() and text.isdigit()) or not 1 <= len(text) <= 9 or int(text) < 1:
        raise shelf.BadQuery(f"page={text[:40]}: a whole number from 1 is wanted")
    return int(text)
