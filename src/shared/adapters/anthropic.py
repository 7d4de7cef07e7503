"""The wire of messages: Anthropic and the servers that speak its format."""
import base64
import itertools

from src.shared.files import BadData
from src.shared.parts import messages

from . import faults
from .faults import Failure

VERSION = "2023-06-01"
# Fields that a model may refuse, with the name to use instead, or None to go on without.
ADAPTABLE = {"temperature": None}


def url(base):
    """The address of the call under BASE_URL, which may end in /v1 or not."""
    return base.removesuffix("/v1") + "/v1/messages"


def headers(key):
    """Request headers that carry the key, or none for a server that wants no key."""
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def request(settings, parts, max_tokens, thinking, schema):
    """The request body as a dict. BadData for JSON_MODE=object, which this wire cannot say: use schema or off."""
    if settings.json_mode == "object":
        raise BadData("JSON_MODE=object: the anthropic wire has no such option; set JSON_MODE to schema or off")
    body = {"model": settings.model, "max_tokens": max_tokens, **_messages(parts)}
    if settings.stream:
        body["stream"] = True
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    body |= _thinking(thinking)
    if settings.json_mode == "schema":
        wanted = {"format": {"type": "json_schema", "schema": schema}}
        body["output_config"] = body.get("output_config", {}) | wanted
    return body if body["system"] else {k: v for k, v in body.items() if k != "system"}


def read_body(body, answer):
    """Take a reply that came in one piece into `answer`."""
    if not isinstance(body.get("content"), list):
        raise Failure(faults.BAD_BODY, "the reply is no message", str(body))
    _read_message(body, answer)
    for block in body["content"]:
        _read_block(block, answer)
    answer.end(body.get("stop_reason"))
    answer.is_done = True


def read_event(event, answer):
    """Take one event of a stream into `answer`. Pings and unknown events are passed over."""
    kind = event.get("type")
    if kind == "message_start":
        _read_message(event.get("message"), answer)
    elif kind == "content_block_start":
        _read_block(event.get("content_block"), answer)
    elif kind == "content_block_delta":
        _read_block(event.get("delta"), answer)
    elif kind == "message_delta":
        answer.count(event.get("usage"))
        delta = event.get("delta")
        answer.end(delta.get("stop_reason") if isinstance(delta, dict) else None)
    elif kind == "message_stop":
        answer.is_done = True


def _read_message(message, answer):
    message = message if isinstance(message, dict) else {}
    answer.count(message.get("usage"))
    answer.model = message.get("model") or answer.model


def _read_block(block, answer):
    """A block or the delta of one: by its type, never by its position."""
    if not isinstance(block, dict):
        raise Failure(faults.BAD_BODY, "a content block of the reply is no object", str(block))
    kind = block.get("type")
    if kind in ("text", "text_delta"):
        answer.say(block.get("text"))
    elif kind in ("thinking", "thinking_delta"):
        answer.think(block.get("thinking"))
    elif kind in ("tool_use", "input_json_delta"):
        answer.call_tool()


def _messages(parts):
    """{"system", "messages"}: the leading system parts as one string, the rest as messages."""
    system = list(itertools.takewhile(lambda part: part.role == "system", parts))
    rest = parts[len(system):]
    if any(part.role == "system" for part in rest):
        raise BadData("prompt: a system part after a user part; on the anthropic wire system parts come first")
    return {"system": "".join(part.text for part in system), "messages": messages(rest, _image)}


def _image(png):
    data = base64.b64encode(png).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _thinking(thinking):
    """THINKING as this wire says it: a number is a budget in tokens; else `off`, `adaptive`, or an effort word."""
    if thinking is None:
        return {}
    if isinstance(thinking, int):
        return {"thinking": {"type": "enabled", "budget_tokens": thinking}}
    if thinking == "off":
        return {"thinking": {"type": "disabled"}}
    effort = {} if thinking == "adaptive" else {"output_config": {"effort": thinking}}
    return {"thinking": {"type": "adaptive"}} | effort
