"""Follow one document: page → call → reply → raw answer → rechecked answer.

This is the line that the run, the injection arm and the board all call; what differs between them is `call`.
"""
import time
import traceback
from collections import namedtuple

from src.shared import reply
from src.shared.parts import Completion

# Every document ends in exactly one of these. Only the first has answers; the last is the kit's fault and no model's.
ANSWERED, UNPARSED, TRUNCATED, REFUSED, NO_OUTPUT, FAILED, HARNESS = OUTCOMES = (
    "answered", "unparsed", "truncated", "refused", "no_output", "transport_error", "harness_error")
# Where a reply is still owed: a run with any of these is incomplete, and --resume asks again.
OWED = (NO_OUTPUT, FAILED, HARNESS)

# outcome and why (None when answered); raw and rechecked Answers or None; repairs the reply needed; seconds of "parse"
# (to the raw answer) and "recheck"
Followed = namedtuple("Followed", "document outcome why raw rechecked repairs completion seconds")


def follow(kit, document, call):
    """Send one document down the line. `call(document, text)` → Completion; see `read` for the rest."""
    return read(kit, document, call(document, kit.text(document)))


def read(kit, document, completion):
    """Everything behind the call: what a re-score repeats from the cache. Never raises for what a model wrote."""
    seconds = {}
    if completion.error:
        return Followed(document, completion.error["outcome"], completion.error["message"], None, None, [], completion,
                        seconds)
    with timed(seconds, "parse"):
        parsed = parse(kit, completion.text)
        raw = None if parsed.error else kit.definition.normalise(kit.book, parsed.value)
    if parsed.error:
        return Followed(document, UNPARSED, parsed.error["message"], None, None, parsed.repairs, completion, seconds)
    with timed(seconds, "recheck"):
        rechecked = kit.definition.recheck(kit.book, kit.source(document), raw)
    return Followed(document, ANSWERED, None, raw, rechecked, parsed.repairs, completion, seconds)


def parse(kit, text):
    """The one object of a reply's text, as `reply.Reply`, by what the kit asks of it."""
    return reply.parse(text, kit.definition.required(kit.book), kit.definition.vocabularies(kit.book))


def safely(kit, document, completion):
    """`read`, with a fault of the kit's own code as an outcome of its own: it counts for no model and ends no run."""
    try:
        return read(kit, document, completion)
    except Exception:
        return broken(document, traceback.format_exc())


def broken(document, report):
    """The end of a document at which the kit's own code failed, with its traceback."""
    return Followed(document, HARNESS, report, None, None, [], Completion(), {})


class timed:
    """Seconds spent in a block, under its name."""

    def __init__(self, seconds, name):
        self.seconds, self.name = seconds, name

    def __enter__(self):
        self.start = time.perf_counter()

    def __exit__(self, *_):
        self.seconds[self.name] = time.perf_counter() - self.start
