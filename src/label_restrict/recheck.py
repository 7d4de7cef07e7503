"""From the reply's object to an answer, and from the answer's copied values to the two decided ones.

The recheck trusts the twenty copied fields and nothing else: verdict and deciding restriction are walked again.
"""
from src.label_restrict import checks
from src.shared.kit import Answer

HOLD = "needs_hold"


def normalise(book, reply):
    """A reply's object → Answer: every field's value or None, the hold, and the Finding of each value not read."""
    values, findings = book.fields.read_reply(reply)
    return Answer({**values, HOLD: checks.needs_hold(book, values)}, findings, None)


def recheck(book, document, answer):
    """The Answer with verdict, deciding restriction and hold derived from its own copied values.

    Where the walk needs a value that could not be read, nothing is decided: all three are None.
    """
    copied = {field.name for field in book.fields.copied}
    findings = {name: finding for name, finding in answer.problems.items() if name in copied}
    walked = book.table.decide(answer.values, findings)
    rule = None if walked.error else walked.rule
    values = {**answer.values, book.verdict: walked.decision, book.restriction: rule}
    return Answer({**values, HOLD: checks.needs_hold(book, values)}, findings, walked.trace)
