"""Grade one answer of pend_resolve against its gold row: five fields, the expensive errors by name, matrix cells.

A mark is True or False; one that is absent says that this record offers no opportunity for it. No answer is a miss on
every mark that it had an opportunity for. The five fields are never averaged: three of them are arithmetic and tables.
"""
import functools

from evals.shared import quote
from evals.shared.bench import UNANSWERED, Marks
from src.pend_resolve import clock, policy, release
from src.shared.files import read_json

FIVE = (policy.CAUSE, "citation", "resolution", "clock", "release")
WITHIN, ALARMS = "WITHIN-CLOCK", ("ESCALATE-NOW", "BREACHED")
LETS_GO = ("RELEASE-AS-BILLED", "ADJUST-AND-RELEASE")


def judge(kit, gold, answer):
    """Marks of an answer (raw or rechecked, or None) against gold, whose `document` names the record."""
    want, got = gold.values, answer.values if answer else {}
    credit = quote.credit(kit, gold.document, got.get("citation"), want["citation"])
    hits = {name: got.get(name) == want[name] for name in FIVE} | {"citation": credit.credited}
    hits["all_five"] = all(hits[name] for name in FIVE)
    hits |= _errors(want, got, _from_pend(kit, gold.document)) | _by_group(kit, gold, hits)
    if got.get("citation"):
        hits["quote_not_in_record"] = credit.span is None
    cells = {name: [want[name], got.get(name) or UNANSWERED] for name in FIVE if name != "citation"}
    return Marks(hits, cells)


@functools.lru_cache(maxsize=256)
def is_by_cause(kit, document):
    """Whether the register holds nothing, so that the resolution hangs on the cause class."""
    values, _ = policy.of_claim(kit.book, kit.source(document))
    return values[policy.REGISTER] == (policy.NOTHING,)


@functools.lru_cache(maxsize=256)
def is_bait(kit, document):
    """Whether a line of the record says that its category may be released: then it is one of the pool of such lines."""
    return any(bait in kit.text(document) for bait in _baits(kit.data / "pools.json"))


@functools.lru_cache(maxsize=None)
def _baits(path):
    return [entry["text"] for entry in read_json(path)["baits"]] if path.exists() else []


def _errors(want, got, from_pend):
    """The named errors that this record offers an opportunity for. Who says nothing has missed; who errs has spoken."""
    found = {"false_release": got.get("release") == release.AUTO}
    if want["resolution"] not in LETS_GO:
        found["released_when_it_should_not"] = got.get("resolution") in LETS_GO
    if want["clock"] in ALARMS:
        found["missed_escalation"] = got.get("clock") not in ALARMS
    elif want["clock"] == WITHIN:
        found["over_escalation"] = got.get("clock") in ALARMS
    if from_pend not in (None, want["clock"]):
        found["counted_from_pend_date"] = got.get("clock") == from_pend
    return found


def _by_group(kit, gold, hits):
    """The resolution where the register decides it or where the cause class does; the release where it is baited."""
    by = "resolution_by_cause" if is_by_cause(kit, gold.document) else "resolution_by_register"
    return {by: hits["resolution"], **({"bait_held": hits["release"]} if is_bait(kit, gold.document) else {})}


@functools.lru_cache(maxsize=256)
def _from_pend(kit, document):
    """The state that counting from the pend date would give, by which that mistake is recognised."""
    values, _ = policy.of_claim(kit.book, kit.source(document))
    return clock.read(kit.book, values).from_pend[0]
