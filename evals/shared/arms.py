"""The arms that every kit has: `null`, the kit's floors, and the `stub`, which plants one fault of every kind.

An arm is a name, the letter that its run ids begin with, and `call(document, text)` → Completion.
"""
from collections import namedtuple

from src.shared.files import to_json
from src.shared.parts import Completion

Arm = namedtuple("Arm", "name letter call says")


def free(kit, bench):
    """{name: Arm} of the arms that cost nothing: null, the floors, the stub."""
    floors = {name: Arm(name, "b", _floor(kit, floor), (floor.__doc__ or "").split("\n")[0])
              for name, floor in bench.floors.items()}
    null = Arm("null", "b", _floor(kit, lambda kit, document, text: dict.fromkeys(kit.definition.keys(kit.book))),
               "Answers null everywhere: the baseline beside every rate.")
    stub = Arm("stub", "t", _stub(kit, bench),
               "Gold with planted faults: shows that every counter counts, measures nothing.")
    return {"null": null, **floors, "stub": stub}


def _floor(kit, floor):
    return lambda document, text: Completion(text=to_json(floor(kit, kit.source(document), text)), finish="stop")


def _stub(kit, bench):
    """Gold, dressed as replies come dressed: most of them readable, some broken in each way that has a counter."""
    row_of = _in_order(kit)
    dressings = [plain, fenced, chatty, thinking, trailing_comma, *map(planted, bench.faults), no_json, truncated,
                 refused, silent, unreachable]

    def call(document, text):
        number, row = row_of(document)
        reply = {key: row[key] for key in kit.definition.keys(kit.book)}
        return dressings[number % len(dressings)](kit, reply)
    return call


def _in_order(kit):
    """A look-up of (number, gold row) by document that reads along as documents are asked in order, and keeps none."""
    rows = enumerate(kit.gold())

    def row_of(document):
        nonlocal rows
        found = next((pair for pair in rows if pair[1]["id"] == document), None)
        if found is None:
            rows = enumerate(kit.gold())
            found = next(pair for pair in rows if pair[1]["id"] == document)
        return found
    return row_of


def plain(kit, reply):
    return Completion(text=to_json(reply), finish="stop")


def fenced(kit, reply):
    return Completion(text=f"```json\n{to_json(reply, indent=2)}\n```", finish="stop")


def chatty(kit, reply):
    text = f"Here is what the page says:\n\n{to_json(reply)}\n\nTell me if you need more."
    return Completion(text=text, finish="stop")


def thinking(kit, reply):
    return Completion(text=f"<think>first {{a draft}}</think>\n{to_json(reply)}", finish="stop")


def trailing_comma(kit, reply):
    return Completion(text=to_json(reply)[:-1] + ",}", finish="stop")


def planted(fault):
    return lambda kit, reply: plain(kit, fault(kit, reply))


def no_json(kit, reply):
    return Completion(text="The page is clear enough; I see no reason to object.", finish="stop")


def truncated(kit, reply):
    return Completion(text=to_json(reply)[:40], finish="length",
                      error=_error("truncated", "the reply was cut at MAX_TOKENS"))


def refused(kit, reply):
    return Completion(finish="refusal", error=_error("refused", "the model declined"))


def silent(kit, reply):
    return Completion(finish="stop", error=_error("no_output", "the reply was empty"))


def unreachable(kit, reply):
    return Completion(error=_error("transport_error", "the connection was refused"))


def _error(outcome, message):
    return {"kind": outcome, "outcome": outcome, "message": f"stub: {message}"}
