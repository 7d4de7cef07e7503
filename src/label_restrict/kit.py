"""label_restrict as one value: what the commands, the board and the tests call."""
from pathlib import Path

from src.label_restrict import checks, corpus, panels, prompt, recheck
from src.shared import blame, walk
from src.shared.files import Problems
from src.shared.kit import Definition


def load(data):
    """Everything read once from a data folder, validated. BadData lists what is wrong."""
    wrong = Problems()
    fields, table = checks.load_rules(data, wrong.found)
    template = wrong.of(prompt.load, data, fields, table)
    wrong.refuse()
    when = table.document["hold"]["when"]
    answers = table.document["answers"]
    return checks.Book(Path(data), fields, table, walk.compile_clause(when, fields), tuple(walk.operands(when)),
                       answers["decision"], answers["rule"], template)


def keys(book):
    """The keys that a reply is asked for: every field of fields.json."""
    return [field.name for field in book.fields.all]


def required(book):
    """The keys without which an object is no reply: the decided ones. Any other absent key is a miss on its field."""
    return [book.verdict, book.restriction]


def vocabularies(book):
    """{key: allowed words} of the fields that have a closed list."""
    return {field.name: field.allowed for field in book.fields.all if field.type == "enum"}


def headline(book):
    """What the verdict hangs on: the walk of the checks over the copied values."""
    return blame.Headline(book.table, {book.verdict: None}, names=book.restriction)


KIT = Definition(load=load, keys=keys, required=required, schema=lambda book: book.fields.schema(),
                 prompt=prompt.build, normalise=recheck.normalise, recheck=recheck.recheck, decide=checks.decide,
                 panels=panels.panels, build=corpus.build, vocabularies=vocabularies, headline=headline)
