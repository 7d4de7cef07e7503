"""Rates as people read them: the count behind it, the share, the 95 % interval. Blank where nothing was measured."""
import math

BLANK = "–"


def percent(share):
    """A share in whole per cent, except that 100 and 0 are said only of all and none.

    >>> percent(0.999), percent(1), percent(0.001)
    ('>99 %', '100 %', '<1 %')
    """
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return ">99 %"
    return "<1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def rate(found):
    """A metric's figure as a cell with its `interval` [low, rate, high]; None gives the blank, which is not 0.

    >>> rate({"num": 16, "den": 52, "rate": 0.307692, "low": 0.199, "high": 0.443})["text"]
    '16/52 · 31 % (20–44)'
    """
    if not found:
        return {"text": BLANK, "why": "not measured"}
    low, high = round(100 * found["low"]), round(100 * found["high"])
    return {"text": f"{found['num']}/{found['den']} · {percent(found['rate'])} ({low}–{high})",
            "interval": [found["low"], found["rate"], found["high"]]}


def count(found, noun="documents"):
    """A named error over its opportunities; where there is none, the most that 0 still allows (rule of three,
    over the clusters where documents belong together).

    An error that one document can make several times says in how many documents it was made.

    >>> count({"count": 67, "opportunities": 204, "rows": ["A"] * 35}, "readings")
    {'text': '67/204 · 33 %', 'why': 'in 35 readings'}
    """
    if not found:
        return {"text": BLANK}
    if found["count"] == 0:
        chances = found.get("clusters") or found["opportunities"]
        return {"text": f"0/{found['opportunities']} (≤ {min(100, math.ceil(300 / chances))} %)"}
    text = f"{found['count']}/{found['opportunities']} · {percent(found['count'] / found['opportunities'])}"
    rows = len(found.get("rows", ()))
    return {"text": text} | ({"why": f"in {rows} {noun}"} if rows and rows != found["count"] else {})
