"""Which marked values of a page a wrong answer turns on: those that its named error is about, as `board.json` says.

An entry of /turns tells of one named error where on the page to look; of several for it, the first that finds a mark
counts. What it names in `on` is a mark of the page, a part of the page's `groups` {name: [marks]}, all that begin with
a name that ends in a dot, or one of

    walk      what the rule compared that decided the key
    blame     what the run misread, or what the rule compared at which its decision strayed from gold's
    own       what the rule compared at which the run's own values end the walk
    missed    what the run got wrong, field by field

With said_by, gold or answer, only what that one says and the other does not is meant: people named in a list, or fields
to which it gives the `word`. Where no mark is found the entry's `nothing` says why no line of the page decides. `part`
is the field of an answer that the error is about.
"""
from src.shared.view import board as boards

WALK, BLAME, OWN, MISSED = "walk", "blame", "own", "missed"
GOLD, ANSWER = boards.SIDES
UNMARKED = "No line that is marked on this page decides what went wrong; the rule and the values below show it."


def of_page(opened, page, shown, gold, wrong, error):
    """(fields in order, why there are none or None) that an answer on a page turns on.

    page: the document panel; shown {WALK, BLAME, OWN, MISSED: [fields]}; gold and the Answers `wrong` of those that
    went wrong in the column that is asked, None among them for no answer; error: the named error looked at, or None.
    """
    known = _known(page)
    entries = [entry for entry in boards.kept(opened)["turns"] if entry["error"] == error]
    for entry in entries:
        for answer in wrong or [None]:
            found = [mark for name in entry["on"] for mark in _marks(name, entry, page, shown, known, gold, answer)]
            if found:
                return list(dict.fromkeys(found)), None
    if entries:
        return [], entries[-1]["nothing"]
    likely = (list(_marks(kind, {}, page, shown, known, gold, None)) for kind in (WALK, BLAME, MISSED))
    found = next(filter(None, likely), [])
    return list(dict.fromkeys(found)), None if found else UNMARKED


def part_of(opened, error):
    """The field of an answer that a named error is about, or None where its entries name none."""
    entries = boards.kept(opened)["turns"]
    return next((entry["part"] for entry in entries if entry["error"] == error and "part" in entry), None)


def marked(page, fields):
    """The marks of a page that fields, or what is made of several, stand for."""
    known = _known(page)
    return list(dict.fromkeys(mark for field in fields for mark in page["groups"].get(field, [field]) if mark in known))


def _known(page):
    """Every mark of a page, in its order."""
    return list(dict.fromkeys(field for block in page["blocks"] for segment in block["segments"] if segment["value"]
                              for field in segment["fields"]))


def _marks(name, entry, page, shown, known, gold, answer):
    """Yield the marks that one name of an entry stands for."""
    groups = page["groups"]
    names = shown.get(name, [each for each in [*known, *groups] if each == name or name[-1] == "." and
                             each.startswith(name)])
    for each in names:
        for mark in groups.get(each, [each]):
            if mark in known and ("said_by" not in entry or _is_said(entry, each if name[-1] == "." else mark,
                                                                      gold, answer)):
                yield mark


def _is_said(entry, field, gold, answer):
    """Whether one of gold and answer says of a field, or names in a list, what the other does not."""
    one, other = ((side.values if side else {}) for side in (
        (gold, answer) if entry["said_by"] == GOLD else (answer, gold)))
    if "word" in entry:
        return one.get(field) == entry["word"] != other.get(field)
    whole, _, part = field.partition(".")
    return part in (one.get(whole) or ()) and part not in (other.get(whole) or ())
