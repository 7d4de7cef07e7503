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

# What one call gave. text str; finish: the provider's own word or None; usage {"input", "cached", "output",
# "reasoning": int or None for not reported}; attempts [{"status", "kind", "message", "wait_seconds"}]; seconds
# {"first_output", "receive", "total": float or None}; error None or {"kind", "message"}; notes [str]; model as named
# by the provider, or None
Completion = namedtuple("Completion", "text finish usage attempts seconds error notes reported_cost model",
                        defaults=("", None, None, (), None, None, (), None, None))
