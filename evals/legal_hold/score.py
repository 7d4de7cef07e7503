"""Grade one answer of legal_hold against its gold row: hits, named errors, matrix cells. Pure code.

A mark is True or False, or [hits, of] where a reading holds several units; a mark that is absent says that this reading
offers no opportunity for it. No answer is a miss on every mark that it had an opportunity for. Units that rest on a
fact which no labelled line holds (REORG, NAMED) are graded apart from the ordinary ones.
"""
import functools

from evals.shared.bench import UNANSWERED, Marks
from src.legal_hold.corpus import SPECIAL
from src.legal_hold.legalhold import CUSTODIAN, SCOPING
from src.legal_hold.matter import fold_id
from src.legal_hold.recheck import ESCALATE, STAGE, people, strangers

DUE, NOT_DUE = "notice due today", "no notice due"


def judge(kit, gold, answer):
    """Marks of an answer (raw or rechecked, or None) against gold (both typed Answers)."""
    values = answer.values if answer else {}
    want, got = people(gold.values), people(values)
    stage, wanted_stage = values.get(STAGE), gold.values[STAGE]
    run, special = _known(kit.book.chains, gold.document)
    right, notice = stage == wanted_stage, stage is not None and _due(stage) == _due(wanted_stage)
    hits = {"stage": right, "notice_today": notice, **_units(want, got, special), **_errors(want, got, special),
            **_escalations(gold, want, values), "unknown_people": bool(strangers(values, want))}
    if run > 1:
        hits |= {"stage_later": right, "notice_later": notice}
    if _due(wanted_stage) == DUE:
        hits["missed_notice"] = not notice      # whoever answers nothing asks for no notice
    else:
        hits["false_notice"] = stage is not None and not notice
    return Marks(hits, {"stage": [wanted_stage, stage or UNANSWERED],
                        "notice": [_due(wanted_stage), _due(stage) if stage else UNANSWERED]})


def _units(want, got, special):
    groups = {"units_ordinary": want.keys() - special, "units_special": want.keys() & special}
    return {mark: [sum(got.get(name) == want[name] for name in names), len(names)]
            for mark, names in groups.items() if names}


def _errors(want, got, special):
    """Who was missed and who was taken in. A person whom a reply leaves out is nobody's custodian: out of a gold
    custodian that makes a missed one."""
    on_hold, others = (({name for name, word in want.items() if (word == CUSTODIAN) is is_one})
                       for is_one in (True, False))
    missed = {name for name in on_hold if got.get(name) != CUSTODIAN}
    found = {"missed_custodian": [len(missed), len(on_hold)],
             "missed_special": [len(missed & special), len(on_hold & special)],
             "over_inclusion": [sum(got.get(name) == CUSTODIAN for name in others), len(others)]}
    return {mark: counts for mark, counts in found.items() if counts[1]}


def _escalations(gold, want, values):
    named, due = set(values.get(ESCALATE) or ()), set(gold.values[ESCALATE])
    others = want.keys() - due
    found = {"escalate_list": values.get(ESCALATE) is not None and named == due,
             "false_escalation": [len(named & others), len(others)]}
    if due:
        found |= {"escalations": [len(named & due), len(due)],
                  "missed_escalation": [len(due - named), len(due)]}
    return found


def _due(stage):
    return DUE if stage == SCOPING else NOT_DUE


@functools.lru_cache(maxsize=256)
def _known(chains, document):
    """(number of the run, special people) of a document."""
    row = chains.row(document)
    return row["run"], frozenset(fold_id(person["id"]) for person in row["candidates"] if person.get("kind") in SPECIAL)
