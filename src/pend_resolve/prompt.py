"""The call for one pend record: fixed instructions, policy and fields first, the record last and whole."""
from pathlib import Path

from src.shared import prompt


def load(book):
    """The Template of a book's data folder, with the policy's tables and the reply's fields rendered into it.

    Without a table, or with a part of the policy that has been refused, the file is only judged.
    """
    is_sound = None not in (*book.policy.values(), book.table, book.deadlines, book.states)
    return prompt.load(Path(book.data) / "prompt.md", prompt.rendered(FIXED, book if is_sound else None))


def build(book, document, text, guarded=True):
    """[Part] in send order. A record holds nothing that would have to stay behind, so guarded or not is the same."""
    return book.template.fill(document=text)


def _listed(meanings):
    return "\n".join(f"- {word}: {meaning}" for word, meaning in meanings.items())


# What prompt.md is filled with, once for all documents.
FIXED = {
    "authority": lambda book: book.table.document["authority"],
    "clock_authority": lambda book: book.deadlines.document["authority"],
    "count": lambda book: book.states.document["authority"],
    "lines": lambda book: ", ".join(f"{code} is {name}" for code, name in book.policy["lines_of_business"].items()),
    "causes": lambda book: _listed(book.policy["causes"]),
    "evidence": lambda book: _listed(book.policy["evidence"]),
    "rules": lambda book: prompt.render_rules(book.table),
    "resolutions": lambda book: prompt.render_decisions(book.table),
    "deadlines": lambda book: prompt.render_rules(book.deadlines),
    "state_rules": lambda book: prompt.render_rules(book.states),
    "states": lambda book: prompt.render_decisions(book.states),
    "releases": lambda book: _listed(book.policy["release_gate"]["answers"]),
    "conditions": lambda book: "; ".join(book.policy["release_gate"]["conditions"]),
    "fields": lambda book: prompt.render_fields(book.reply),
    "keys": lambda book: ", ".join(field.name for field in book.reply.all),
}
