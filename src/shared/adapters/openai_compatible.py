"""The wire of chat completions: what OpenAI, its many compatible services and most local servers speak."""
import base64

from src.shared.files import BadData
from src.shared.parts import messages

from . import faults
from .faults import Failure

# Fields that a model may refuse, with the name to use instead, or None to go on without.
ADAPTABLE = {"max_tokens": "max_completion_tokens", "temperature": None, "stream_options": None}


def url(base):
    """The address of the call under BASE_URL."""
    return base + "/chat/completions"


def headers(key):
    """Request headers that carry the key, or none for a server that wants no key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def request(settings, parts, max_tokens, thinking, schema):
    """The request body as a dict: messages in the order of the parts, and only those options that are set."""
    body = {"model": settings.model, "messages": messages(parts, _image), "max_tokens": max_tokens}
    if settings.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.json_mode == "object":
        body["response_format"] = {"type": "json_object"}
    if settings.json_mode == "schema":
        wanted = {"name": "answer", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return body | _thinking(thinking)


def read_body(body, answer):
    """Take a reply that came in one piece into `answer`."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise Failure(faults.BAD_BODY, "the reply is no chat completion", str(body))
    choice = _choice(choices)
    if choices and not (isinstance(choice.get("message"), dict) or isinstance(choice.get("text"), str)):
        raise Failure(faults.BAD_BODY, "the reply has a choice without a message", str(body))
    read_event(body, answer)
    answer.is_done = True


def read_event(event, answer):
    """Take one chunk of a stream into `answer`: its text first, then its finish word, which may share the chunk."""
    choice = _choice(event.get("choices"))
    error = choice.get("error")
    if error:
        raise faults.of_error(error if isinstance(error, dict) else {"message": str(error)})
    answer.model = event.get("model") or answer.model
    answer.count(event.get("usage") or choice.get("usage"))
    # Some streams end in a message that repeats the whole text; it counts only where no text came before it.
    said = choice.get("delta") or not answer.pieces and choice.get("message")
    said = said if isinstance(said, dict) else {"content": choice.get("text")}
    _read_content(said.get("content"), answer)
    answer.think(said.get("reasoning_content") or said.get("reasoning"))
    answer.refuse(said.get("refusal"))
    if said.get("tool_calls") or said.get("function_call"):
        answer.call_tool()
    answer.end(choice.get("finish_reason"))


def _choice(choices):
    """The first answer asked for; further ones, which nobody asked for, are passed over."""
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            return choice
    return {}


def _read_content(content, answer):
    """Content is a string, null, or a list of typed parts of which only the text is answer."""
    for part in content if isinstance(content, list) else [content]:
        if part is None or isinstance(part, str):
            answer.say(part)
        elif not isinstance(part, dict):
            raise Failure(faults.BAD_BODY, "the content of the reply is no text", str(part))
        elif part.get("type") in ("text", "output_text"):
            answer.say(part.get("text"))
        elif part.get("type") == "refusal":
            answer.refuse(part.get("refusal"))
        else:
            answer.think(str(part))


def _image(png):
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(png).decode()}}


def _thinking(thinking):
    """THINKING as this wire says it: a word is the reasoning effort."""
    if thinking is None:
        return {}
    if isinstance(thinking, int):
        raise BadData(f"THINKING={thinking}: this provider takes a word (low, medium, high, off) or a JSON object")
    return {"reasoning_effort": "none" if thinking == "off" else thinking}
