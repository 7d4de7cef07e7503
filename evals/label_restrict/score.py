"""Grade one answer of label_restrict against its gold row: hits, named errors, matrix cells. Pure code.

A mark is True or False, or [hits, of] where a document holds several units; a mark that is absent says that this
document offers no opportunity for it. No answer is a miss on every mark that it had an opportunity for.
"""
import decimal

from evals.shared.bench import UNANSWERED, Marks

TOLERANCE = decimal.Decimal("1e-9")
GO, STOP = "may go ahead", "must be stopped"


def judge(kit, gold, answer):
    """Marks of an answer (raw or rechecked, or None) against gold (both typed Answers)."""
    book, want = kit.book, gold.values
    got, problems = (answer.values, answer.problems) if answer else ({}, {})
    inside = book.table.document["passed"]["decision"]
    verdict, restriction = got.get(book.verdict), got.get(book.restriction)
    right, named = verdict == want[book.verdict], restriction == want[book.restriction]
    fields = {field.name: answer is not None and field.name not in problems
              and same(got.get(field.name), want[field.name]) for field in book.fields.copied}
    hits = {"verdict": right, "restriction": named, "needs_hold": answer is not None
            and got.get("needs_hold") is want["needs_hold"], "fields": [sum(fields.values()), len(fields)],
            **{f"field.{name}": hit for name, hit in fields.items()}}
    if want[book.verdict] == inside:
        hits["over_stop"] = verdict not in (None, inside)
    else:
        hits["unsafe_clearance"] = verdict == inside
        hits["right_verdict_wrong_restriction"] = right and not named
    if answer and answer.trace is None:
        hits.update(_self_check(book, answer, right and named))
    cells = {"verdict": [want[book.verdict], verdict or UNANSWERED],
             "go_ahead": [_may(want[book.verdict], inside), _may(verdict, inside)],
             "needs_hold": [_hold(want["needs_hold"]), _hold(got.get("needs_hold"))]}
    return Marks(hits, cells)


def same(got, want):
    """Whether two typed values are one: numbers within 1e-9, names and lists exact after trimming, null for null."""
    if got is None or want is None:
        return got is want
    if isinstance(want, (int, decimal.Decimal)) and not isinstance(want, bool):
        return isinstance(got, (int, decimal.Decimal)) and abs(got - want) <= TOLERANCE
    return _trimmed(got) == _trimmed(want)


def _self_check(book, answer, right):
    """What the walk over the arm's own values says of the two answers it stated: needs no gold, so it can run live."""
    walked = book.table.decide(answer.values, answer.problems)
    alarm = (walked.decision, walked.rule) != (answer.values[book.verdict], answer.values[book.restriction])
    return {"self_check_false_alarm": alarm} if right else {"self_check_catches": alarm}


def _may(verdict, inside):
    return UNANSWERED if verdict is None else GO if verdict == inside else STOP


def _hold(value):
    return {True: "hold", False: "no hold", None: "not computed"}[value]


def _trimmed(value):
    if isinstance(value, tuple):
        return tuple(map(_trimmed, value))
    return value.strip(" \t.;,") if isinstance(value, str) else value
