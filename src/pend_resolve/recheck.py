"""From the reply's object to an answer, and from the answer's cause class to the three answers that code gives.

The recheck trusts the cause class and nothing else. Resolution and clock are derived from it and from the facts in
claims.json, never from the page; the release is read off the gate. The citation is kept exactly as it was answered.
"""
from src.pend_resolve import clock, policy, release
from src.shared.kit import Answer
from src.shared.reply import fold_word


def normalise(book, reply):
    """A reply's object → Answer: every asked value or None, and the Finding of each that was not read.

    Words of a vocabulary are folded, so `auto_release` is AUTO-RELEASE and counts; the citation is never touched. Nor
    does an automatic release go uncounted because it stands in a list or an object of its own.
    """
    given = reply.get("release")
    several = given if isinstance(given, list) else list(given.values()) if isinstance(given, dict) else []
    if any(fold_word(word, release.ANSWERS) == release.AUTO for word in several):
        reply = {**reply, "release": release.AUTO}
    return Answer(*book.reply.read_reply(reply), None)


def recheck(book, document, answer):
    """The Answer with resolution, clock and release derived from its cause class and the document's own facts.

    Without a cause class the resolution still stands where the register decides it, and is None where it does not.
    """
    facts, findings = readings(book, document, answer)
    walked = book.table.decide(facts, findings)
    values = {**answer.values, "resolution": walked.decision, "clock": clock.read(book, facts).state,
              "release": release.who_applies(facts[policy.CAUSE])}
    release.hold(values)
    decided = {field.name for field in book.reply.decided}
    problems = {name: finding for name, finding in answer.problems.items() if name not in decided}
    return Answer(values, problems, walked.trace, document)


def readings(book, document, answer):
    """(values, findings) of the document's own facts, with the cause class of an answer."""
    facts, findings = policy.of_claim(book, document)
    unread = {name: answer.problems[name] for name in (policy.CAUSE,) if name in answer.problems}
    return {**facts, policy.CAUSE: answer.values[policy.CAUSE]}, {**findings, **unread}
