"""What kind of value may stand where in a data file: checked before anything looks inside it.

A kind is (whether a value is of it, its name in words, what else is wrong inside such a value, the words that it may
be). The sentences name the place, the value and what is wanted.
"""
import datetime
from collections import namedtuple
from decimal import Decimal

from src.shared.files import BadData, read_json
from src.shared.values import near, shown

Kind = namedtuple("Kind", "holds words inside known", defaults=(None, None))
MANY = 10_000       # of anything that a plan counts; more than a corpus for people has
DIGITS = 9          # before and behind the point of a planned number


def _is(*types):
    return lambda value: type(value) in types


def _all(holds):
    return lambda value: type(value) is list and all(map(holds, value))


def _is_date(value):
    try:
        return type(value) is str and len(value) == 10 and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


TEXT = Kind(_is(str), "a text")
TEXT_OR_NULL = Kind(_is(str, type(None)), "a text or null")
FLAG = Kind(_is(bool), "true or false")
OBJECT = Kind(_is(dict), "an object")
LIST = Kind(_is(list), "a list")
TEXTS = Kind(_all(TEXT.holds), "a list of texts")
TEXT_OR_TEXTS = Kind(lambda value: TEXT.holds(value) or TEXTS.holds(value), "a list of texts")
ANY = Kind(lambda value: True, "a value")
DATE = Kind(_is_date, "a date like 2026-09-01")
FROM_1 = Kind(lambda value: type(value) is int and value > 0, "a whole number from 1")
SAID = Kind(lambda value: type(value) is str and bool(value.strip()), "a text that says something")
WHOLE = Kind(_is(int), "a whole number")
LINE = Kind(lambda value: SAID.holds(value) and value.isprintable(), "a text of one line")
COUNT = Kind(lambda value: type(value) is int and 0 <= value <= MANY, f"a whole number from 0 to {MANY}")
NUMBER = Kind(lambda value: type(value) in (int, Decimal) and abs(value) < 10 ** DIGITS
              and (type(value) is int or value.as_tuple().exponent >= -DIGITS),
              f"a number of at most {DIGITS} digits before and behind the point")


def record(kinds, some=()):
    """The kind of an object with the keys of `kinds` and no others; all are wanted but those in `some`."""
    return Kind(OBJECT.holds, OBJECT.words, lambda value, at: _unfit_keys(value, kinds, some, at))


def list_of(kind):
    """The kind of a list whose values are all of a kind."""
    return Kind(LIST.holds, LIST.words, lambda value, at: _each(enumerate(value), kind, at))


def by_name(kind):
    """The kind of an object whose values are all of a kind, whatever their names."""
    return Kind(OBJECT.holds, OBJECT.words, lambda value, at: _each(value.items(), kind, at))


def some(kind):
    """A kind without its empty value."""
    return Kind(lambda value: kind.holds(value) and bool(value), f"{kind.words} of at least one", kind.inside)


def options(kind):
    """A value of a kind, or a list of at least one to choose from."""
    several = some(list_of(kind))

    def inside(value, at):
        if several.holds(value):
            return several.inside(value, at)
        return kind.inside(value, at) if kind.inside else ()
    return Kind(lambda value: kind.holds(value) or several.holds(value), f"{kind.words}, or a list of such", inside)


def one_of(words):
    """A text that is one of these."""
    return Kind(lambda value: type(value) is str and value in words, f"one of {', '.join(words)}", known=tuple(words))


def span(kind):
    """A list of two values of a kind, the second no less than the first."""
    return Kind(lambda value: LIST.holds(value) and len(value) == 2 and all(map(kind.holds, value))
                and value[0] <= value[1], f"[least, most], each {kind.words}")


def at_least(number, kind):
    """A list or an object of a kind with so many entries."""
    return Kind(lambda value: kind.holds(value) and len(value) >= number, f"{kind.words} of at least {number}",
                kind.inside)


def order_of(words):
    """A list of exactly these, in any order."""
    return Kind(lambda value: TEXTS.holds(value) and sorted(value) == sorted(words),
                f"a list of each of {', '.join(words)}, once")


def template(*slots):
    """A text of one line with none but these {slots}; `{{` and `}}` print braces, and "" is one {} without a name."""
    known = " ".join(f"{{{slot}}}" for slot in slots)
    return Kind(lambda value: LINE.holds(value) and _has_slots(value, slots),
                f"a text of one line with {f'no slots but {known}' if slots else 'no slots'}")


def _has_slots(text, slots):
    from string import Formatter  # only a build pays for this import
    try:
        found = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError:
        return False
    return all(name in slots and not spec and not conversion for name, spec, conversion in found) and (
        [name for name, *_ in found].count("") < 2)


OBJECTS_BY_NAME, TEXTS_BY_NAME, WORDS_BY_NAME = map(by_name, (OBJECT, TEXT, TEXTS))


def misfits(value, kinds, at, needed=()):
    """A sentence for each key of an object that has not its kind, and for each needed one that is missing.

    `kinds` {key: Kind}; a key that is none of them is no concern of this. `at` is where the object stands.
    """
    if not OBJECT.holds(value):
        yield f"{at}: {shown(value)} is not an object"
        return
    for key in needed:
        if key not in value:
            yield f"{at}: {key} is missing; {kinds[key].words} is wanted"
    for key, kind in kinds.items():
        if key in value:
            yield from _unfit(key, value[key], kind, at)


def unknown(value, kinds, at):
    """A sentence for each key of an object that is none of the `kinds`."""
    return [f"{at}: unknown key {shown(key)}{near(key, kinds) or '; known: ' + ', '.join(kinds)}"
            for key in (value if OBJECT.holds(value) else ()) if key not in kinds]


def sound(value, kinds, at, problems, some=(), beside=False):
    """{key: value} of an object, None for each that has not its kind, or is missing and not among `some`.

    What is wrong is put into `problems`, so that what hangs on the sound ones can still be judged. Keys `beside` the
    `kinds` are kept where they may stand. The value None is one that has been refused already: all is None.
    """
    if value is None:
        return dict.fromkeys(kinds)
    problems += () if beside else unknown(value, kinds, at)
    wrong = {key: list(misfits(value, {key: kind}, at, () if key in some else (key,))) for key, kind in kinds.items()}
    problems += dict.fromkeys(sentence for sentences in wrong.values() for sentence in sentences)
    kept = value if beside and OBJECT.holds(value) else {}
    return {**kept, **{key: None if wrong[key] else value[key] for key in kinds if wrong[key] or key in value}}


def read(path, kinds, problems, some=(), beside=False):
    """`sound` of the object in a JSON file, whatever stands there."""
    try:
        document = read_json(path)
        if document is None:
            raise BadData(f"{path}: null is not an object")
    except BadData as e:
        problems += e.problems
        document = None
    return sound(document, kinds, f"{path}: /", problems, some, beside)


def read_rows(path, kinds):
    """{id: row} of a JSON list of objects, each with its own id and these `kinds`. BadData lists what is wrong."""
    rows, kinds, found = read_json(path), {"id": SAID, **kinds}, {}
    if not LIST.holds(rows):
        raise BadData(f"{path}: {shown(rows)} is not a list of objects")
    problems = []
    for place, row in enumerate(rows, 1):
        wrong = list(misfits(row, kinds, f"{path}: row {place}", kinds))
        if not wrong and row["id"] in found:
            wrong = [f"{path}: row {place}: id {shown(row['id'])} stands twice; keep one row of it"]
        problems += wrong
        if not wrong:
            found[row["id"]] = row
    if problems:
        raise BadData(*problems)
    return found


def _unfit(key, value, kind, at):
    if not kind.holds(value):
        yield f"{at}: {key} {shown(value)} is not {kind.words}{near(value, kind.known) if kind.known else ''}"
    elif kind.inside:
        yield from kind.inside(value, f"{str(at).removesuffix('/')}/{key}")


def _unfit_keys(value, kinds, some, at):
    yield from unknown(value, kinds, at)
    yield from misfits(value, kinds, at, [key for key in kinds if key not in some])


def _each(entries, kind, at):
    return (sentence for key, value in entries for sentence in _unfit(key, value, kind, at))
