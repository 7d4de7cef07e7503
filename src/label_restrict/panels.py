"""What the board shows of one spray plan: the page, its fields, the walk of the checks, the hold, contradictions."""
from src.label_restrict.recheck import HOLD
from src.shared import prompt, sections, walk
from src.shared.view import panels as draw

STAYS = "stays on this machine"
HOLD_WORDS = {True: "hold", False: "no hold", None: draw.NOT_COMPUTED}


def panels(book, document, text, answers):
    """The panels of one document. `answers` {name: Answer or None}, gold first; those with a trace are walked ones."""
    walked = {name: answer for name, answer in answers.items() if answer and answer.trace is not None}
    return [page(book, text), draw.ladder(book.table, answers, "The walk of the checks"), fields(book, answers),
            hold(book, answers), *flags(book, walked)]


def page(book, text):
    """The extract as it stands, each field's line marked, the sections that are not sent shown as withheld."""
    withheld = [(section.start, min(section.body_end + 1, section.end), STAYS) for section in sections.cut(text)
                if section.title in book.fields.sections_withheld]
    return draw.document(text, sections.locate(text, book.fields), withheld, "The label extract")


def fields(book, answers):
    """The decided answers first, since a reader looks for them, then the copied fields in the order of the page."""
    decided = {book.verdict: "verdict", book.restriction: "restriction"}
    entries = [(name, None, mark, None) for name, mark in decided.items()] + [(HOLD, None, HOLD, HOLD_WORDS)]
    entries += [(field.name, field.unit, f"field.{field.name}", None) for field in book.fields.copied]
    return draw.fields(entries, answers)


def hold(book, answers):
    """needs_hold of every answer, and where it is not computed the value that is missing. That is not a pass."""
    rule = book.table.document["hold"]
    items = [(name, HOLD_WORDS[answer.values[HOLD] if answer else None], _why_no_hold(book, answer))
             for name, answer in answers.items()]
    says = f"Set when {prompt.say(rule['when'])}; not computed where one of the two is missing."
    return draw.state(items, HOLD) | {"text": says}


def flags(book, walked):
    """A note for each contradiction on the page or in an answer's own values, with the answers that have it."""
    found = {}
    for name, answer in walked.items():
        for flag in book.table.raised(answer.values, answer.problems):
            found.setdefault(flag["id"], (flag["why"], []))[1].append(name)
    return [draw.note(f"{why} Seen in: {'; '.join(names)}.", title, "warn") for title, (why, names) in found.items()]


def _why_no_hold(book, answer):
    if answer is None:
        return "there is no answer"
    if answer.values[HOLD] is not None:
        return None
    return "; ".join(f"{name} {_why_missing(answer, name)}" for name in book.fields.by_name
                     if name in book.hold_reads and answer.values.get(name) is None)


def _why_missing(answer, name):
    finding = answer.problems.get(name)
    return finding.why if finding else "is missing"
