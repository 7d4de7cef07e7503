"""pend_resolve as one value: what the commands, the board and the tests call."""
from src.pend_resolve import corpus, panels, policy, prompt, recheck
from src.shared import blame
from src.shared.kit import Definition


def keys(book):
    """The keys that a reply is asked for: every field of fields.json."""
    return [field.name for field in book.reply.all]


def required(book):
    """The keys without which an object is no reply: the class and what follows from it. An absent other is a miss."""
    return [policy.CAUSE, *(field.name for field in book.reply.decided)]


def vocabularies(book):
    """{key: allowed words} of the asked fields that have a closed list."""
    return {field.name: field.allowed for field in book.reply.all if field.type == "enum"}


def headline(book):
    """What the five answers of a record hang on: two are read, one is walked, one counted, one given by the gate."""
    return blame.Headline(book.table, {policy.CAUSE: blame.MISREAD, "citation": blame.MISREAD, "resolution": None,
                                       "clock": blame.ARITHMETIC, "release": blame.MISAPPLIED})


KIT = Definition(load=policy.load, keys=keys, required=required, schema=lambda book: book.reply.schema(),
                 prompt=prompt.build, normalise=recheck.normalise, recheck=recheck.recheck, decide=policy.decide, panels=panels.panels,
                 build=corpus.build, vocabularies=vocabularies, headline=headline,
                 settings=("coverage_min", "precision_min"))
