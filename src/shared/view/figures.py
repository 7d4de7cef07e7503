"""Rates and counts as cells: the words of `wording`, with what the page draws or says beside them."""
from src.shared import wording
from src.shared.wording import BLANK, percent      # by these names its callers know them

BETWEEN = " · "


def blank(why):
    """The cell of what is not measured, with the reason."""
    return {"text": BLANK, "why": why}


def rate(found):
    """A metric's figure as a cell with its `interval` [low, rate, high]; None gives the blank, which is not 0.

    >>> rate({"num": 16, "den": 52, "rate": 0.307692, "low": 0.199, "high": 0.443})["text"]
    '16/52 · 31 % (20–44)'
    """
    if not found:
        return {"text": BLANK, "why": "not measured"}
    return {"text": wording.rate(found, BETWEEN), "interval": [found["low"], found["rate"], found["high"]]}


def count(found, noun="documents"):
    """A named error over its opportunities; none of too few says that it is no sign of safety.

    An error that one document can make several times says in how many documents it was made.

    >>> count({"count": 67, "opportunities": 204, "rows": ["A"] * 35}, "readings")
    {'text': '67/204 · 33 %', 'why': 'in 35 readings'}
    """
    if not found:
        return {"text": BLANK}
    rows = len(found.get("rows", ()))
    why = f"in {rows} {noun}" if rows and rows != found["count"] else wording.too_few(found)
    return {"text": wording.count(found, BETWEEN)} | ({"why": why} if why else {})
