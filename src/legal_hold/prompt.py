"""The call for one reading: the fixed instructions first, then what earlier runs left behind, the extract last.

The published prompt says the carried state whole. Its two variants differ in that one block and nowhere else.
"""
from pathlib import Path

from src.legal_hold import select, state
from src.shared import prompt


def load(data, rules):
    """The Template of a data folder with its rules rendered into it."""
    tables = {name: prompt.render_rules(getattr(rules, name)) for name in ("match", "overdue", "stage")}
    return prompt.load(Path(data) / "prompt.md", {
        **tables, "stages": prompt.render_decisions(rules.stage), "escalation_days": str(rules.days["escalation_days"]),
        "statuses": "\n".join(f"- {word}: {why}" for word, why in rules.policy["statuses"].items())},
        ("carried", "document"))


def build(book, document, text, guarded=True):
    """[Part] in send order, the carried state in full; see `select.sent` for what of the page is in it."""
    return _fill(book, document, text, guarded, state.describe(book.chains.carried(document)))


def stateless(book, document, text, guarded=True):
    """The same prompt with one line in place of the carried state: what memory is worth."""
    return _fill(book, document, text, guarded, state.NO_RECORD)


def without_acknowledged(book, document, text, guarded=True):
    """The same prompt with a carried state that never says who has acknowledged: what that one line is worth."""
    return _fill(book, document, text, guarded, state.describe(book.chains.carried(document), acknowledged=False))


# name of the arm → (letter that its run ids begin with, function in place of `build`)
VARIANTS = {"stateless": ("s", stateless), "without-acknowledged": ("a", without_acknowledged)}


def _fill(book, document, text, guarded, carried):
    return book.template.fill(carried=carried, document=select.sent(book, document, text, guarded))
