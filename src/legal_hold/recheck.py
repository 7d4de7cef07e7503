"""From the reply's object to an answer, and from its hold statuses to the stage and the escalations that follow.

The recheck trusts who is said to be a custodian and nothing else: stage and escalate list are derived anew from those
statuses, the window's events and the carried state. What the statuses cannot show, that a reply found no scope, is
believed where it names no custodian.
"""
from src.legal_hold import legalhold
from src.legal_hold.matter import fold_id
from src.shared import values as v
from src.shared.kit import Answer

STAGE, PEOPLE, ESCALATE, RATIONALE = KEYS = ("matter_stage", "candidates", "escalate", "rationale")
UNIT = "hold_status."


def unit(person):
    """The field of an Answer that holds one person's status, however their id is spelt."""
    return UNIT + fold_id(person)


def people(values):
    """{folded id: status} of the people in an Answer's values."""
    return {name.removeprefix(UNIT): word for name, word in values.items() if name.startswith(UNIT)}


def normalise(book, reply):
    """A reply's object → Answer: matter_stage, hold_status.ID for each person named, escalate as a tuple, rationale.

    An answer of a record, whose people stand as hold_status.ID already, reads back to itself.
    """
    values, problems = {}, v.unanswered(KEYS, reply)
    readers = {STAGE: lambda raw: v.read_word(raw, book.rules.stage.decisions), ESCALATE: _ids, RATIONALE: v.read_name}
    for name, read in readers.items():
        values[name] = _read(read, reply.get(name), name, problems)
    entries = list(_read(_entries, reply.get(PEOPLE), PEOPLE, problems) or [])
    if any(name is None for name, _ in entries):
        problems[PEOPLE] = v.Unreadable(reply[PEOPLE], "has entries without the id of a person")
        entries = [entry for entry in entries if entry[0]]
    entries += people({name: word for name, word in reply.items() if isinstance(name, str)}).items()
    for name, raw in entries:
        if unit(name) in values:
            values[unit(name)], problems[unit(name)] = None, v.Unreadable(raw, "stands twice in the reply")
        else:
            values[unit(name)] = _read(lambda word: v.read_word(word, tuple(book.rules.policy["statuses"])), raw,
                                       unit(name), problems)
    return Answer(values, problems, None)


def recheck(book, document, answer):
    """The Answer with stage and escalate list derived from its own statuses. Where a status that is missing could
    change either, nothing is derived: both are None."""
    run, carried = book.chains.run(document), book.chains.carried(document)
    statuses = people(answer.values)
    problems = {name: finding for name, finding in answer.problems.items() if name not in (STAGE, ESCALATE)}
    custodians, unknown = (_who_is(word, run, statuses) for word in (legalhold.CUSTODIAN, None))
    # More custodians never make fewer of anything, so what none and all of the unknown give alike, any of them give.
    found = []
    for people_ in (custodians, custodians | unknown)[:1 + bool(unknown)]:
        finds_scope = answer.values[STAGE] != legalhold.INCOMPLETE or bool(people_)
        found.append(legalhold.follow(run, carried, people_, finds_scope, book.rules))
    walked, late = found[0]
    if any((other.decision, names) != (walked.decision, late) for other, names in found):
        return Answer({**answer.values, STAGE: None, ESCALATE: None}, problems, None)
    derived = {STAGE: walked.decision, ESCALATE: tuple(map(fold_id, late))}
    return Answer({**answer.values, **derived}, problems, walked.trace)


def asked(book, document, answer):
    """({field: value}, findings) that L-7 is asked over for an Answer's own statuses."""
    run, carried = book.chains.run(document), book.chains.carried(document)
    custodians = _who_is(legalhold.CUSTODIAN, run, people(answer.values))
    finds_scope = answer.values[STAGE] != legalhold.INCOMPLETE or bool(custodians)
    return legalhold.asked(run, carried, custodians, finds_scope, book.rules)[0], {}


def strangers(values, known):
    """Whom an Answer's values name, in a status or the escalate list, and who is none of the `known` ids."""
    named = [*people(values), *(values.get(ESCALATE) or ())]
    return [name for name in dict.fromkeys(named) if name not in {fold_id(other) for other in known}]


def _who_is(status, run, statuses):
    """The ids on the roster that {folded id: status} gives this status; None for those that it gives none."""
    return {person.id for person in run.candidates if statuses.get(fold_id(person.id)) == status}


def _read(read_one, raw, name, problems):
    try:
        return read_one(raw)
    except v.Finding as finding:
        problems[name] = finding


def _ids(raw):
    """A list of ids as a tuple of folded ones, each once; an empty list is an answer, null is none; a record has commas
    between."""
    if raw is None:
        return None
    if isinstance(raw, str):
        raw = raw.split(",")
    if not isinstance(raw, list):
        raise v.Unreadable(raw, "is no list of ids")
    return tuple(dict.fromkeys(fold_id(name) for name in map(v.read_name, raw) if name))


def _entries(raw):
    """[(id, or None where there is none; raw status)] of the reply's candidates."""
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise v.Unreadable(raw, "is no list of people with id and hold_status")
    entries = [entry if isinstance(entry, dict) else {} for entry in raw]
    return [(v.read_name(entry["id"]) if isinstance(entry.get("id"), str) else None, entry.get("hold_status"))
            for entry in entries]
