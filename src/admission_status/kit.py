"""admission_status as one value: what the commands, the board and the tests call."""
from src.admission_status import corpus, elements, panels, policy, prompt, recheck
from src.shared import blame
from src.shared.kit import Definition


def keys(book):
    """The keys that a reply is asked for."""
    return list(elements.KEYS)


def required(book):
    """The keys without which an object is no reply; whatever else is absent is a miss where it belongs."""
    return ["elements", elements.SUPPORT]


def vocabularies(book):
    """{key: allowed words} at the top of a reply."""
    return {elements.SUPPORT: book.table.decisions}


def headline(book):
    """What the support verdict hangs on: the order, and the midnights that are counted from the expectation."""
    return blame.Headline(book.table, {elements.SUPPORT: None}, computed=(policy.COUNT,),
                          behind={policy.COUNT: (elements.EXPECTATION, *elements.VALUES)})


KIT = Definition(load=policy.load, keys=keys, required=required, schema=prompt.schema, prompt=prompt.build,
                 normalise=recheck.normalise, recheck=recheck.recheck, decide=policy.decide, panels=panels.panels,
                 build=corpus.build, vocabularies=vocabularies, headline=headline,
                 settings=("coverage_min", "precision_min"))
