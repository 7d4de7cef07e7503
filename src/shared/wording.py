"""Figures as people read them: the count behind a rate, the share, the 95 % interval. Blank where none was measured."""
import math

from src.shared import intervals

BLANK = "–"
MAY_STILL_BE = 0.05         # the rate that no event has to exclude before anything may be called safe
P = "p: exact, two-sided; 'p of all' allows for all the metrics tested here (Holm)."


def percent(share):
    """A share in whole per cent, except that 100 and 0 are said only of all and none.

    >>> percent(0.999), percent(1), percent(0.001)
    ('>99 %', '100 %', '<1 %')
    """
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return ">99 %"
    return "<1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def rate(found, between=" "):
    """A rate with its count and interval, or the blank for None, which is not 0; "of answered" beside it where some
    documents were not.

    >>> rate({"num": 16, "den": 52, "rate": 0.307692, "low": 0.199, "high": 0.443, "answered": [16, 52]})
    '16/52 31 % (20–44)'
    >>> rate({"num": 46, "den": 52, "rate": 0.884615, "low": 0.77, "high": 0.946, "answered": [46, 46]})
    '46/52 88 % (77–95), 46/46 of answered'
    """
    if not found:
        return BLANK
    low, high = round(100 * found["low"]), round(100 * found["high"])
    hits, of = found.get("answered") or (None, found["den"])
    beside = "" if of == found["den"] else f", {hits}/{of} of answered" if of else ", n/a of 0 answered"
    return f"{found['num']}/{found['den']}{between}{percent(found['rate'])} ({low}–{high}){beside}"


def count(found, between=" "):
    """A named error over its opportunities; where there is none, the most that 0 still allows (rule of three).

    >>> count({"count": 0, "opportunities": 20, "clusters": None})
    '0/20 (≤ 15 %)'
    """
    if not found:
        return BLANK
    if found["count"] == 0:
        return f"0/{found['opportunities']} (≤ {math.ceil(100 * intervals.rule_of_three(_chances(found)))} %)"
    return f"{found['count']}/{found['opportunities']}{between}{percent(found['count'] / found['opportunities'])}"


def too_few(found):
    """The sentence that no event is not yet safety, or None where it was none of enough opportunities.

    >>> too_few({"count": 0, "opportunities": 20, "clusters": None})
    'none of 20 still allows up to 13.9 %; below 59 opportunities none is no sign of safety'
    """
    wanted = intervals.n_for_zero(MAY_STILL_BE)
    chances = _chances(found)
    if found["count"] or chances >= wanted:
        return None
    noun = "groups of rows" if found.get("clusters") else "opportunities"
    return (f"none of {chances} still allows up to {100 * intervals.upper_one_sided(0, chances):.1f} %; "
            f"below {wanted} {noun} none is no sign of safety")


def blame(counts):
    """How often a headline went wrong in which way, {kind: times}: every wrong one has one kind.

    >>> blame({"misread value": 30, "misapplied rule": 11, "no answer": 0})
    'blame: 30 misread value, 11 misapplied rule, of 41 wrong headline answers'
    """
    told = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    return f"blame: {told}, of {sum(counts.values())} wrong headline answers"


def difference(metric):
    """A compared metric's difference in points, with its interval where one is to be had.

    >>> difference({"difference": 0.117, "low": 0.01, "high": 0.235})
    '+11.7 points (+1 to +24)'
    """
    between = f" ({100 * metric['low']:+.0f} to {100 * metric['high']:+.0f})" if metric["low"] is not None else ""
    return f"{100 * metric['difference']:+.1f} points{between}"


def chance(p):
    """A p-value to three digits; one too small to hold is small, and not 0.

    >>> chance(0.0625), chance(0.0)
    ('0.0625', '<1e-300')
    """
    return f"{p:.3g}" if p else "<1e-300"


def could(found):
    """What a set of so many documents could have shown (`comparing.could_show`), as a sentence."""
    together = f" in {found['clusters']} groups that count as one each" if found["clusters"] else ""
    if found["gain"] is None:
        return f"With {found['documents']} documents{together} no difference could be shown at all."
    more = found["gain_with_losses"]
    return (f"With {found['documents']:,} documents{together} this set shows a true net gain of "
            f"{_points(found['gain'])} points in {100 * found['power']:.0f} of 100 tries when nothing gets worse"
            + (f", of {_points(more)} when {100 * found['losses']:.0f} % do." if more is not None else "."))


def looks(number):
    """How often a labelled set has been looked at, as a sentence."""
    if not number:
        return "No model run is recorded against this labelled set yet."
    runs = "1 model run is" if number == 1 else f"{number} model runs are"
    return f"{runs} recorded against this labelled set; the more are tried on it, the likelier the best is luck."


def _points(share):
    return f"{100 * share:.0f}" if share >= 0.01 else f"{100 * share:.2g}"


def _chances(found):
    """On how many independent opportunities a count rests: where rows belong together, on their groups."""
    return found.get("clusters") or found["opportunities"]
