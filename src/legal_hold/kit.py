"""legal_hold as one value: what the commands, the board and the tests call."""
from pathlib import Path

from src.legal_hold import corpus, panels, prompt, recheck, review, schedule
from src.shared import blame
from src.shared.files import Problems
from src.shared.kit import Definition


def load(data):
    """Everything read once from a data folder, validated. BadData lists what is wrong."""
    wrong = Problems()
    fields, rules = review.load_rules(data, wrong.found)
    template = wrong.of(prompt.load, data, rules)
    wrong.refuse()
    return review.Book(Path(data), rules, fields, template, review.Chains(data, rules))


def keys(book):
    """The keys that a reply is asked for."""
    return list(recheck.KEYS)


def required(book):
    """The keys without which an object is no reply. Any other absent key is a miss on its field."""
    return [recheck.STAGE, recheck.PEOPLE]


def schema(book):
    """The JSON schema of a reply."""
    person = {"type": "object", "properties": {"id": {"type": "string"}, "hold_status": {
        "type": "string", "enum": list(book.rules.policy["statuses"])}}, "required": ["id", "hold_status"],
        "additionalProperties": False}
    properties = {recheck.STAGE: {"type": "string", "enum": list(book.rules.stage.decisions)},
                  recheck.PEOPLE: {"type": "array", "items": person},
                  recheck.ESCALATE: {"type": "array", "items": {"type": "string"}},
                  recheck.RATIONALE: {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def headline(book):
    """What the stage hangs on: who is on hold, and how many of them are newly overdue, which is counted in days."""
    people = {name: (recheck.UNIT,) for name in ("new_custodians", "newly_overdue")}
    return blame.Headline(book.rules.stage, {recheck.STAGE: None}, computed=("newly_overdue",),
                          behind={"scope": (recheck.UNIT, recheck.STAGE), **people})


KIT = Definition(load=load, keys=keys, required=required, schema=schema, prompt=prompt.build,
                 normalise=recheck.normalise, recheck=recheck.recheck, decide=review.decide, panels=panels.panels,
                 build=corpus.build, step=review.step, schedule=schedule.schedule, variants=prompt.VARIANTS,
                 vocabularies=lambda book: {recheck.STAGE: book.rules.stage.decisions}, headline=headline)
