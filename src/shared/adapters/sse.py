"""A server-sent event stream, from bytes to events: no character is decoded before its line is whole."""
import itertools
import re

from src.shared.files import BOM

_FIELDS = (b"data", b"event", b"id", b"retry", b"error")
_LINE_END = re.compile(rb"\r\n|\r|\n")


def lines(chunks):
    """Yield each line of a stream of byte chunks, without its end, however the chunks are cut.

    LF, CR and CRLF all end a line. A CR ends it at once; an LF that follows, even in the next chunk, belongs to it.
    """
    held, after_cr = [], False
    for chunk in chunks:
        if after_cr and chunk.startswith(b"\n"):
            chunk, after_cr = chunk[1:], False
        if not chunk:
            continue
        after_cr = chunk.endswith(b"\r")
        *whole, rest = _LINE_END.split(chunk)
        for piece in whole:
            yield b"".join(held) + piece
            held = []
        if rest:
            held.append(rest)
    if held:
        yield b"".join(held)


def may_begin(start):
    """Whether bytes can be the start of an event stream, however early it was cut; blank ones can."""
    field = _LINE_END.split(start.lstrip(BOM + b" \t\r\n\0"))[0].partition(b":")[0]
    return any(name.startswith(field) for name in _FIELDS)


def events(chunks):
    """Yield (name, data) for each event that carries data; name is "error" for an error event, else "".

    Comments, ids and unknown fields are dropped; the end of the stream ends an open event. A byte order mark is dropped
    before any line, since proxies that join streams leave one in the middle. Two habits of servers are read although no
    standard has them: an `error:` field, and an error object written bare between the events.
    """
    name, data = b"", []
    for line in itertools.chain(lines(chunks), [b""]):
        field, _, value = line.removeprefix(BOM).partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif not line:
            if any(piece.strip() for piece in data):
                yield ("error" if name == b"error" else ""), b"\n".join(data)
            name, data = b"", []
        elif field == b"event":
            name = value.strip()
        elif field == b"error":
            yield "error", value
        elif line.startswith(b"{"):
            yield "", line
