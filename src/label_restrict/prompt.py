"""The call for one spray plan: fixed instructions, checks and fields first, the selected page last."""
from pathlib import Path

from src.label_restrict import select
from src.shared import prompt


# What prompt.md is filled with, once for all documents.
FIXED = {
    "authority": lambda fields, table: table.document["authority"],
    "checks": lambda fields, table: prompt.render_rules(table),
    "decisions": lambda fields, table: prompt.render_decisions(table),
    "fields": lambda fields, table: prompt.render_fields(fields),
    "keys": lambda fields, table: ", ".join(field.name for field in fields.all),
}


def load(data, fields, table):
    """The Template of a data folder with checks and fields rendered into it; without a table it is only judged."""
    return prompt.load(Path(data) / "prompt.md", prompt.rendered(FIXED, fields, table))


def build(book, document, text, guarded=True):
    """[Part] in send order; see `select.sent` for what of the page is in it."""
    return book.template.fill(document=select.sent(book, document, text, guarded))
