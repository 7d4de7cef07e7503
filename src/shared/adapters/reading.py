"""From the bytes of a 200 reply to an Answer: a stream or one body, told apart by what came, not by what was asked."""
import itertools
import json

from . import faults, sse
from .faults import Failure

DONE = "[DONE]"
_START_BYTES = 1024
_JSON = json.JSONDecoder(strict=False)       # servers send raw line breaks inside strings
_BLANK = b"\xef\xbb\xbf \t\r\n\0"            # a byte order mark, whole or cut, and what keeps a connection warm


def read(wire, response, answer):
    """Read a reply to its end into `answer`; Failure for an error in it or for bytes that are no reply."""
    if response.is_empty:
        raise Failure(faults.EMPTY_ANSWER, f"HTTP {response.status} with nothing in it")
    chunks, head = response.chunks(), b""
    while not head and (chunk := next(chunks, None)) is not None:
        head = chunk.lstrip(_BLANK)
    chunks = itertools.chain([head], chunks)
    if head.startswith(b"<"):
        raise Failure(faults.CONFIG, "a web page answers at BASE_URL", _shown(head))
    if head.startswith((b"{", b"[")):
        _read_body(wire, chunks, response, answer)
    else:
        _read_stream(wire, chunks, response, answer)


def _read_body(wire, chunks, response, answer):
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if chunk.strip(_BLANK):
            answer.clock.output(0)
    if response.broken:
        raise response.broken
    try:
        reply = _JSON.decode(body.rstrip(_BLANK).decode("utf-8"))
    except ValueError as error:
        raise Failure(faults.BAD_BODY, f"the reply is not one JSON object ({error})", _shown(body)) from None
    if error := faults.error_in(reply):
        raise faults.of_error(error)
    wire.read_body(reply, answer)


def _read_stream(wire, chunks, response, answer):
    garbled = None      # at the very end of a stream it only means that the stream is cut
    start = bytearray()
    name = None
    for name, data in sse.events(_kept(chunks, start)):
        if garbled:
            raise garbled
        try:
            events = _parsed(data)
        except ValueError:
            garbled = Failure(faults.BAD_BODY, "an event of the stream is not JSON", _shown(data))
            if name == "error":
                raise faults.of_error({"message": _shown(data)}) from None
            continue
        for event in events:
            if event == DONE:
                answer.is_done = True
            elif error := faults.error_in(event, name):
                raise faults.of_error(error)
            else:
                wire.read_event(event, answer)
            if answer.is_done:
                return
    if name is None and not response.broken and not sse.may_begin(start):
        raise Failure(faults.BAD_BODY, "the reply is neither JSON nor an event stream", _shown(start))


def _kept(chunks, start):
    """The chunks as they come, the first bytes of them kept in `start`."""
    for chunk in chunks:
        start += chunk[:max(0, _START_BYTES - len(start))]
        yield chunk


def _parsed(data):
    """The JSON values of one event. Some proxies drop the blank lines between events, so several may stand in one."""
    text = data.decode("utf-8")
    try:
        return [_value(text)]
    except ValueError:
        if "\n" not in text:
            raise
        return [_value(line) for line in text.split("\n") if line.strip()]


def _value(text):
    return DONE if text.strip() == DONE else _JSON.decode(text)


def _shown(data):
    return bytes(data).decode("utf-8", "replace")
