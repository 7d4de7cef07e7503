"""The call for one spray plan: fixed instructions, checks and fields first, the selected page last."""
from pathlib import Path

from src.label_restrict import select
from src.shared import prompt


def load(data, fields, table):
    """The Template of a data folder with checks and fields rendered into it."""
    return prompt.load(Path(data) / "prompt.md", {
        "authority": table.document["authority"], "checks": prompt.render_rules(table),
        "decisions": prompt.render_decisions(table), "fields": prompt.render_fields(fields),
        "keys": ", ".join(field.name for field in fields.all)})


def build(book, document, text, guarded=True):
    """[Part] in send order; see `select.sent` for what of the page is in it."""
    return book.template.fill(document=select.sent(book, document, text, guarded))
