"""The call for one reading: the fixed instructions first, then what earlier runs left behind, the extract last.

The published prompt says the carried state whole. Its two variants differ in that one block and nowhere else.
"""
from pathlib import Path

from src.legal_hold import select, state
from src.shared import prompt


# What prompt.md is filled with, once for all documents.
FIXED = {
    "match": lambda rules: prompt.render_rules(rules.match),
    "overdue": lambda rules: prompt.render_rules(rules.overdue),
    "stage": lambda rules: prompt.render_rules(rules.stage),
    "stages": lambda rules: prompt.render_decisions(rules.stage),
    "escalation_days": lambda rules: str(rules.days["escalation_days"]),
    "statuses": lambda rules: "\n".join(f"- {word}: {why}" for word, why in rules.policy["statuses"].items()),
}


def load(data, rules):
    """The Template of a data folder with its rules rendered into it; without rules it is only judged."""
    return prompt.load(Path(data) / "prompt.md", prompt.rendered(FIXED, rules), ("carried", "document"))


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
