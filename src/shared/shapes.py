"""What kind of value may stand where in a data file: checked before anything looks inside it.

A kind is (whether a value is of it, its name in words). The sentences name the place, the value and what is wanted.
"""
from collections import namedtuple

from src.shared.values import shown

Kind = namedtuple("Kind", "holds words")


def _is(*types):
    return lambda value: type(value) in types


def _all(holds):
    return lambda value: type(value) is list and all(map(holds, value))


TEXT = Kind(_is(str), "a text")
TEXT_OR_NULL = Kind(_is(str, type(None)), "a text or null")
FLAG = Kind(_is(bool), "true or false")
OBJECT = Kind(_is(dict), "an object")
LIST = Kind(_is(list), "a list")
TEXTS = Kind(_all(TEXT.holds), "a list of texts")
TEXT_OR_TEXTS = Kind(lambda value: TEXT.holds(value) or TEXTS.holds(value), "a list of texts")
ANY = Kind(lambda value: True, "a value")
OBJECTS_BY_NAME = Kind(lambda value: type(value) is dict and all(map(OBJECT.holds, value.values())),
                       "an object of objects")
TEXTS_BY_NAME = Kind(lambda value: type(value) is dict and all(map(TEXT.holds, value.values())), "an object of texts")
WORDS_BY_NAME = Kind(lambda value: type(value) is dict and all(map(TEXTS.holds, value.values())),
                     "an object of lists of texts")


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
        if key in value and not kind.holds(value[key]):
            yield f"{at}: {key} {shown(value[key])} is not {kind.words}"
