"""Two free readers of a pend record: one goes by phrases, one says that there is time on every clock.

`rules` is an honest attempt: the words of the trade for each cause, from the top of the record, first hit wins; then
the kit's own policy, clock and gate. `within-clock` is the null baseline of the clock.
"""
import functools
import re

from src.pend_resolve import policy, recheck
from src.shared import sections, shapes
from src.shared.files import tell

PHRASES = "phrases.json"
WORDS = shapes.list_of(shapes.SAID)
# The facts and the register decide without any reading; a reader that saw them would be no reader of causes.
OUT_OF_REACH = ("CLAIM FACTS", "ADJUDICATION REGISTER")


def rules(kit, document, text):
    """The reply of a phrase list over message, notes and trail, top down; the decided answers as code gives them."""
    cause, citation = next(_hits(kit, text), (None, None))
    asked = dict.fromkeys(kit.definition.keys(kit.book))
    read = recheck.normalise(kit.book, {**asked, policy.CAUSE: cause, "citation": citation})
    return recheck.recheck(kit.book, kit.source(document), read).values


def within_clock(kit, document, text):
    """The reply of somebody who says of every claim that there is still time, and nothing else."""
    return {**dict.fromkeys(kit.definition.keys(kit.book)), "clock": "WITHIN-CLOCK"}


def _hits(kit, text):
    listed = _listed(kit.book.data / PHRASES, tuple(kit.book.policy["causes"]))
    for unit in sections.units(text, listed["reads"]):
        yield from ((cause, unit) for cause, pattern in listed["patterns"] if pattern.search(unit))


@functools.lru_cache(maxsize=None)
def _listed(path, causes):
    """phrases.json with its patterns. BadData where it would let the floor read the facts or the register too."""
    phrases, problems = shapes.record(dict.fromkeys(causes, shapes.some(WORDS)), causes), []
    listed = shapes.read(path, {"reads": WORDS, "phrases": phrases}, problems)
    problems += (f"{path}: /reads: {title} decides without any reading and is out of this floor's reach"
                 for title in listed["reads"] or () if title in OUT_OF_REACH)
    tell(problems)
    listed["patterns"] = [(cause, re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})", re.IGNORECASE))
                          for cause, words in listed["phrases"].items()]
    return listed
