"""A prompt as it is sent: a list of named parts in send order, the ones that never change first."""
import itertools
from collections import namedtuple

Part = namedtuple("Part", "name role text fixed png", defaults=(False, None))
Part.__doc__ = """One named piece of a prompt.

name   what it is, such as "instructions" or "document"
role   "system" or "user"
text   its text; "" for an image
fixed  True when its bytes are the same on every call
png    the bytes of a PNG image, or None
"""


def messages(parts, image):
    """The parts as chat messages: each run of parts with one role is one message.

    Texts are joined with nothing between them. A run that holds an image becomes a list of content entries instead;
    `image(png)` gives the entry of an image.
    [Part("rules", "system", "a"), Part("form", "system", "b")] → [{"role": "system", "content": "ab"}]
    """
    return [{"role": role, "content": _content(list(group), image)}
            for role, group in itertools.groupby(parts, key=lambda part: part.role)]


def _content(parts, image):
    if not any(part.png for part in parts):
        return "".join(part.text for part in parts)
    return [image(part.png) if part.png else {"type": "text", "text": part.text} for part in parts]

Completion = namedtuple("Completion", "text finish usage attempts seconds error notes reported_cost model",
                        defaults=("", None, None, (), None, None, (), None, None))
Completion.__doc__ = """What a call brought. `error` is None for a whole answer; `text` may be kept beside an error, as evidence only.

finish         "stop"; "unknown" when the provider gave none; else length, refusal, content_filter, tool_calls, error, or
               the provider's own word; None where nothing was called
usage          {"input", "cached", "output", "reasoning"} of the last attempt: numbers as reported, None for not reported;
               None as a whole where nothing was called
attempts       one dict each: status, kind and message of its error or None, detail, wait_seconds before the next,
               seconds, usage
seconds        {"wait", "first_output", "receive", "total"}: what came before the last attempt (earlier ones, and the
               pauses between), its time to the first output and from there to its end (None without output), and the
               whole call's
error          None or {"kind", "message", "scope", "outcome", "detail"}, see `adapters.faults.KINDS`
notes          codes: no_done_marker, no_finish_reason, cumulative_deltas, text_from_reasoning, lone_surrogates,
               secret_removed, NAME_dropped, NAME_sent_as_OTHER
reported_cost  what the provider says it cost, in dollars, or None
model          as the provider names it, or None
"""
