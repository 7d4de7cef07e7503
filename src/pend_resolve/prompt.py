"""The call for one pend record: fixed instructions, policy and fields first, the record last and whole."""
from pathlib import Path

from src.shared import prompt


def load(book):
    """The Template of a book's data folder, with the policy's tables and the reply's fields rendered into it."""
    gate = book.policy["release_gate"]
    return prompt.load(Path(book.data) / "prompt.md", {
        "authority": book.table.document["authority"], "clock_authority": book.deadlines.document["authority"],
        "lines": ", ".join(f"{code} is {name}" for code, name in book.policy["lines_of_business"].items()),
        "count": book.states.document["authority"],
        "causes": _listed(book.policy["causes"]), "evidence": _listed(book.policy["evidence"]),
        "rules": prompt.render_rules(book.table), "resolutions": prompt.render_decisions(book.table),
        "deadlines": prompt.render_rules(book.deadlines), "state_rules": prompt.render_rules(book.states),
        "states": prompt.render_decisions(book.states), "releases": _listed(gate["answers"]),
        "conditions": "; ".join(gate["conditions"]), "fields": prompt.render_fields(book.reply),
        "keys": ", ".join(field.name for field in book.reply.all)})


def build(book, document, text, guarded=True):
    """[Part] in send order. A record holds nothing that would have to stay behind, so guarded or not is the same."""
    return book.template.fill(document=text)


def _listed(meanings):
    return "\n".join(f"- {word}: {meaning}" for word, meaning in meanings.items())
