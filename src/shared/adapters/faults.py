"""What can go wrong with a call: the named kinds, what each means for a run, and how a provider's words map to them."""
import json
import re
from collections import namedtuple

from . import waits

MANY = 1_000_000        # as often as RETRIES allows
ONCE = 1
NEVER = 0

# scope: "attempt" another try may do better (now or on --resume) · "document" this document will not be answered as it
# stands · "run" no document will, so stop. outcome: the column of the run record in which the document is counted.
Kind = namedtuple("Kind", "retries scope remedy outcome")
KINDS = {}


def _kind(name, retries, scope, remedy, outcome="transport_error"):
    KINDS[name] = Kind(retries, scope, remedy, outcome)
    return name


OUTPUT_LIMIT = _kind("output_limit", NEVER, "document", "raise MAX_TOKENS", "truncated")
REFUSAL = _kind("refusal", NEVER, "document", "the model declined; read its words", "refused")
CONTENT_FILTER = _kind("content_filter", NEVER, "document", "the provider's filter stopped it", "refused")
EMPTY_ANSWER = _kind("empty_answer", ONCE, "attempt", "nothing to score; --resume asks again", "no_output")
UNKNOWN_FINISH = _kind("unknown_finish", NEVER, "document", "not known to mean a whole reply", "no_output")
CONTEXT_LENGTH = _kind("context_length", NEVER, "document", "the document is too long for this model")
BAD_REQUEST = _kind("bad_request", NEVER, "document", "the provider does not accept this request")
TOO_LARGE = _kind("too_large", NEVER, "document", "no answer is that long")
RATE_LIMIT = _kind("rate_limit", MANY, "attempt", "lower EVAL_WORKERS, or --resume later")
OVERLOADED = _kind("overloaded", MANY, "attempt", "--resume later")
SERVER_ERROR = _kind("server_error", MANY, "attempt", "--resume later")
REPLY_CUT = _kind("reply_cut", MANY, "attempt", "half a reply is no reply; --resume asks again")
BAD_BODY = _kind("bad_body", MANY, "attempt", "check that PROVIDER fits the server at BASE_URL")
TRANSPORT = _kind("transport", ONCE, "attempt", "check that the server at BASE_URL is up")
TIMEOUT_FIRST_OUTPUT = _kind("timeout_first_output", ONCE, "attempt", "raise FIRST_OUTPUT_SECONDS")
TIMEOUT_BETWEEN_OUTPUTS = _kind("timeout_between_outputs", ONCE, "attempt", "raise BETWEEN_OUTPUT_SECONDS")
TIMEOUT_TOTAL = _kind("timeout_total", NEVER, "attempt", "raise TOTAL_SECONDS")
AUTH = _kind("auth", NEVER, "run", "check API_KEY")
PERMISSION = _kind("permission", NEVER, "run", "API_KEY may not use this; check MODEL and the account")
QUOTA = _kind("quota", NEVER, "run", "the account is used up; add credit, then --resume")
CONFIG = _kind("config", NEVER, "run", "check BASE_URL (does it need /v1?), PROVIDER and MODEL")
PARAM_UNSUPPORTED = _kind("param_unsupported", NEVER, "run", "unset the variable that sends it")
CANCELLED = _kind("cancelled", NEVER, "run", "--resume goes on")

SAID_CHARACTERS = 300      # of the provider's words in a message
SAID_LIMIT = 4_000         # of them kept until the secrets are out

_QUOTA_CODES = re.compile(r"insufficient_quota|usage_limit_reached|billing_(?:hard_)?limit|insufficient_credits?\b")
_QUOTA_WORDS = re.compile(
    r"quota used up|billing|credit balance|(?:insufficient|out of|not enough) (?:credit|balance|fund)"
    r"|month(?:ly)? (?:usage |spend\w* )?limit|limit: 0\b|exceeded your current quota")
_CONTEXT_WORDS = re.compile(
    r"context.?(?:length|window|size)|maximum context|reduce the length|too many (?:input )?tokens"
    r"|(?:prompt|input|request)(?: is)? too (?:long|large)|exceeds? the max(?:imum)? (?:number of )?(?:input )?tokens")
_FILTER_WORDS = re.compile(
    r"content_?filter|content management policy|content policy|moderation|flagged|responsible.?ai|safety system")
_TEMPLATE_WORDS = re.compile(
    r"chat template|template exception|jinja|roles? must alternate|system role|only user and assistant roles")
_UNSUPPORTED_WORDS = re.compile(
    r"unsupported|not support|not permitted|unrecogni[sz]ed|unknown (?:name|field|param|arg)|extra.?inputs"
    r"|extra_forbidden|only (?:be|the default)|must be 1\b|cannot (?:be used|both)|not allowed|deprecated|unexpected")
_MODEL_WORDS = re.compile(
    r"model.{0,80}(?:not found|not exist|n.t exist|not a valid|invalid)|(?:invalid|unknown) model|model_not_found")
_PARAMETERS = re.compile(
    r"\b(temperature|max_completion_tokens|max_tokens|stream_options|response_format|output_config|reasoning_effort"
    r"|thinking|prefill)\b")
# How the type or code of an error that comes inside a 200 reads as a status; the first match counts, else 500.
_WORD_STATUS = ((r"rate.?limit|too.?many.?requests|resource_exhausted|quota|usage_limit", 429), (r"overloaded", 529),
                (r"billing|credit", 402), (r"authentication|api_key|unauthorized", 401), (r"permission|forbidden", 403),
                (r"not_found", 404), (r"too_large", 413), (r"invalid_request|bad_request|content_filter|context", 400))


class Failure(Exception):
    """One failed attempt. `said` is the provider's own text, cut to size only after the secrets are out of it."""

    def __init__(self, kind, what, said="", *, detail=None, wait=None):
        super().__init__(kind)
        self.kind, self.what, self.said, self.detail, self.wait = kind, what, said[:SAID_LIMIT], detail, wait
        self.retries, self.scope = KINDS[kind].retries, KINDS[kind].scope

    def message(self, redact):
        """One line for people: what happened, what the provider said, what to do. `redact` is that of messages."""
        said = redact(plain(redact(self.said)))
        said = said if len(said) <= SAID_CHARACTERS else said[:SAID_CHARACTERS] + "…"
        return redact(self.what) + (f": {said}" if said else "") + f" ({KINDS[self.kind].remedy})"


def of_response(status, headers, body, now):
    """The Failure that a status other than 2xx stands for; `body` may be any bytes, `now` is epoch seconds.

    The status has been seen, so it decides, however broken the body is.
    """
    if 300 <= status < 400:
        what = f"HTTP {status}: a redirect, not followed because the key would travel along; set BASE_URL to its end"
        return Failure(CONFIG, what, headers.get("Location") or "")
    error, said = _error_of_body(body)
    asked = waits.asked(headers, said, now, limited=status == 429)
    failure = _failure(status, error, said, asked, f"HTTP {status}")
    order = (headers.get("x-should-retry") or "").strip().casefold()
    if order == "false" and failure.retries:
        failure.retries, failure.scope = NEVER, "document"
    elif order == "true" and failure.scope != "run":
        failure.retries = MANY
    return failure


def of_error(error):
    """The Failure that an error object inside a 200 stands for; its code or type is read like a status."""
    said = _said(error)
    tags = _tags(error)
    codes = [int(tag) for tag in tags if re.fullmatch("[45][0-9][0-9]", tag)]
    words = " ".join(tags)
    named = [status for pattern, status in _WORD_STATUS if re.search(pattern, words)]
    status = (codes + named + [500])[0]
    return _failure(status, error, said, waits.asked({}, said, 0), "error inside a 200 reply")


def error_in(event, name=None):
    """The error object of a reply or stream event, or None. BAD_BODY when it is no JSON object at all.

    A list that begins with an error object, as some servers answer, stands for that.
    """
    if isinstance(event, list) and event and isinstance(event[0], dict) and event[0].get("error"):
        event = event[0]
    if not isinstance(event, dict):
        raise Failure(BAD_BODY, "the reply is no JSON object", str(event))
    if event.get("error"):
        return event["error"] if isinstance(event["error"], dict) else {"message": str(event["error"])}
    is_error = name == "error" or event.get("type") == "error" or event.get("object") == "error"
    return event if is_error else None


def plain(text):
    """Provider text on one line: mark-up, control characters, halves of characters and runs of blanks taken out."""
    if text.isascii() and text.isprintable() and "<" not in text:       # as the name of a model, once a call
        return " ".join(text.split())
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", text).encode("utf-8", "replace").decode()
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())


def _failure(status, error, said, asked, what):
    kind, detail = _classify(status, " ".join(_tags(error)), said.casefold(), asked is not None)
    if kind == PARAM_UNSUPPORTED:
        what += f": the model does not take {detail}"
    return Failure(kind, what, said, detail=detail, wait=asked)


def _classify(status, tags, said, may_come_back):
    """(kind, detail) of an error. `may_come_back`: the provider named a time to try again."""
    words = f"{tags} {said}"
    if status in (400, 402, 403, 429):
        if _QUOTA_CODES.search(tags) or _QUOTA_WORDS.search(words) and not may_come_back:
            return QUOTA, None
    too_long = "request too large" in said if status == 429 else _CONTEXT_WORDS.search(words)
    if status == 413 or too_long and status not in (401, 404):
        return CONTEXT_LENGTH, None
    if status in (400, 403, 422) and _FILTER_WORDS.search(words):
        return CONTENT_FILTER, None
    if status in (400, 422, 500) and _TEMPLATE_WORDS.search(words):
        return PARAM_UNSUPPORTED, "system"
    if status in (400, 422):
        return _classify_bad_request(status, words)
    by_status = {401: AUTH, 402: QUOTA, 403: PERMISSION, 429: RATE_LIMIT, 529: OVERLOADED}
    if status in by_status:
        return by_status[status], None
    if status in (408, 409, 425) or status >= 500:
        return (OVERLOADED if "overloaded" in tags else SERVER_ERROR), None
    return CONFIG, None


def _classify_bad_request(status, words):
    named = _PARAMETERS.search(words)
    if named and _UNSUPPORTED_WORDS.search(words):
        return PARAM_UNSUPPORTED, named[1]
    if named or status == 422 or _MODEL_WORDS.search(words):
        return CONFIG, named and named[1]
    return BAD_REQUEST, None


def _error_of_body(body):
    """(error object, text) of an error body; {} and the text itself when it is no JSON object."""
    text = body.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        parsed = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return {}, text
    if isinstance(parsed, list) and parsed:
        parsed = parsed[0]
    if not isinstance(parsed, dict):
        return {}, text
    error = error_in(parsed) or parsed
    return error, _said(error) or text


def _said(error, levels=3):
    """The human sentence of an error object in any of the shapes that servers use."""
    for key in ("message", "msg", "detail", "error", "errors", "error_description"):
        found = error.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, list) and found:
            return "; ".join(map(_item, found))
        if isinstance(found, dict) and found and levels:
            return _said(found, levels - 1)
    return json.dumps(error)[:SAID_LIMIT] if error else ""


def _item(item):
    """One entry of a validation list, such as {"loc": ["body", "max_tokens"], "msg": "Field required"}."""
    if not isinstance(item, dict):
        return str(item)
    place = ".".join(map(str, item["loc"])) + ": " if isinstance(item.get("loc"), list) else ""
    return f"{place}{item.get('msg') or item.get('message') or ''} {item.get('type') or ''}".strip()


def _tags(error):
    """The machine words of an error object, lower case: type, code, status, param."""
    words = (error.get(name) for name in ("type", "code", "status", "param"))
    return [str(word).casefold() for word in words if isinstance(word, (str, int))]
