"""From the reply's object to an answer, and from its readings to the support verdict.

The recheck trusts findings, citations, the expected date and the expected nights. The verdict that the reply offers is
put away and walked anew, with the midnights counted from the encounter's own admission.
"""
from src.admission_status import elements, policy
from src.shared.kit import Answer
from src.shared.values import Absent


def normalise(book, reply):
    """A reply's object → Answer in flat names: each value or None, and the Finding of each value that was not read."""
    flat = elements.flatten(reply)
    return Answer(*book.fields.read_reply(flat, book.reply), None)


def recheck(book, document, answer):
    """The Answer with its support verdict derived anew; None where its own readings contradict themselves."""
    walked = policy.support(book, answer.values[elements.ORDER], count(book, document, answer))
    problems = {name: finding for name, finding in answer.problems.items() if name != elements.SUPPORT}
    return Answer({**answer.values, elements.SUPPORT: walked.decision}, problems, walked.trace)


def count(book, document, answer):
    """The midnights of an answer's own readings: an int, None, or the Finding for which there is no count."""
    values, findings = readings(book, document, answer)
    return policy.count(book, values, findings)


def readings(book, document, answer):
    """(values, findings) of an answer with the document's admission beside them."""
    admitted, unread = book.fields.read({policy.ADMITTED: policy.admitted_at(book, document)},
                                        [book.fields.by_name[policy.ADMITTED]])
    findings = {name: finding for name, finding in answer.problems.items() if not isinstance(finding, Absent)}
    return {**answer.values, **admitted}, {**findings, **unread}
