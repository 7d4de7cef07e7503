"""The eight restriction checks as data: load them with their fields, walk them, derive the hold.

`checks.json` is the one definition: the walk, the prompt, the gold key and the board all read it.
"""
from collections import namedtuple
from pathlib import Path

from src.shared import fields as field_list
from src.shared import shapes, walk
from src.shared.files import BadData
from src.shared.values import shown

# data folder, Fields, walk.Table, the hold rule compiled and the fields that it reads, the decided names, the Template
Book = namedtuple("Book", "data fields table hold hold_reads verdict restriction template")
NEEDED = ("authority", "answers", "hold")       # beside what every table has
ANSWERS = {"decision": shapes.TEXT, "rule": shapes.TEXT}


def load_rules(data, problems):
    """(Fields, Table or None) of a data folder, validated together: rules name fields, fields name decisions.

    What is wrong in both files is put into `problems`, what one says of the other only where the other can be read.
    """
    path = Path(data) / "checks.json"
    document = walk.read_document(path, problems, NEEDED)
    fields = field_list.load(Path(data) / "fields.json", walk.vocabulary(document), problems)
    table = walk.load(path, document, fields, problems)
    answers = document["answers"] or {}
    problems += shapes.misfits(answers, ANSWERS, f"{path}: /answers", answers and ANSWERS)
    decided = [field.name for field in fields.decided]
    problems += (f"{path}: /answers: {part} {shown(name)} is no field of {fields.path.name} that is decided; one of "
                 f"{', '.join(decided)} is wanted" for part, name in answers.items()
                 if name not in decided and (name in fields.by_name or not fields.may_be(name)))
    return fields, table


def decide(book, inputs):
    """The rules alone over one structured row: {verdict, deciding_restriction, needs_hold, trace, flags, notes}.

    `inputs` {field: anything}, the twenty copied fields; more keys are allowed, an absent one is not stated. BadData
    where no field of the checks is given, or where a value that the walk needs can be read in more than one way.
    """
    _refuse_foreign(book, inputs)
    values, findings = book.fields.read(inputs, book.fields.copied)
    decision = book.table.decide(values, findings)
    if decision.error:
        raise BadData(decision.error)
    flags = book.table.raised(values, findings)
    misspelt = field_list.misspelt(inputs, book.table.reads, book.fields.by_name)
    # A name that is nearly a forbidden one passed: the walk decides by the whole name, a person should look at both.
    passed_near = [f"{step['value']} resembles {', '.join(step['near'])}, and is another name"
                   for step in decision.trace if step.get("near") and step["result"] == "pass"]
    return {book.verdict: decision.decision, book.restriction: decision.rule,
            "needs_hold": needs_hold(book, {**values, book.verdict: decision.decision}),
            "trace": decision.trace,
            "flags": [*(flag["id"] for flag in flags), *(f"{name}_not_read" for name in findings),
                      *["unknown_key"] * bool(misspelt), *["near_name"] * bool(passed_near)],
            "notes": [*(flag["why"] for flag in flags), *(f"{name}: {finding}" for name, finding in findings.items()),
                      *misspelt, *passed_near]}


def needs_hold(book, values):
    """Whether somebody has to look today: True, False, or None where verdict or status is missing, which is no pass."""
    if any(values.get(name) is None for name in book.hold_reads):
        return None
    return book.hold(values, {}) is walk.TRUE


def _refuse_foreign(book, inputs):
    if inputs.keys().isdisjoint(book.table.reads):
        wanted = [field.name for field in book.fields.copied if field.name in book.table.reads]
        hints = [f"{key}{close}" for key in inputs if (close := field_list.near(key, wanted, 0.75))]
        raise BadData("none of the fields that the checks read is given; got "
                      f"{', '.join(map(str, inputs)) or 'nothing'}" + (f"; near: {', '.join(hints)}" if hints else "")
                      + f"; wanted: {', '.join(wanted)}")
