"""One call to a model: `complete` sends a prompt and gives a Completion, whatever happens on the way.

The only network code of the project. A wire is one module here and one line in `config.PROVIDERS`.
"""
import functools
import importlib
import random
import threading
import time
from collections import Counter

from src.shared.config import PROVIDERS
from src.shared.files import BadData, to_json
from src.shared.parts import Completion

from . import faults, reading, transport
from .answer import MEANINGS, Answer
from .faults import Failure

FIRST_WAIT_SECONDS = 1.0        # doubled with each retry, times a random half to whole
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 120.0    # a provider that asks for more is obeyed by stopping the run


def complete(settings, parts, *, max_tokens=None, schema=None, on_progress=None, stop=None, connections=None,
             again=lambda: True):
    """Send a prompt and return its Completion; trouble with the model or the network is in it, never raised.

    parts        list of `parts.Part`
    max_tokens   instead of settings.max_tokens
    schema       JSON schema of the answer; JSON_MODE=schema needs it, the other modes do not look at it
    on_progress  called with the number of characters so far whenever output comes
    stop         threading.Event or callable; once it is set the call ends as `cancelled`, within a second or, while
                 the connection is still being made, within transport.CONNECT_SECONDS
    connections  `transport.Connections` of a run, so that its calls need not each connect anew
    again        asked before each attempt behind the first, right before it is made; False ends the call as it stands
    Raises BadData, before anything is sent, for settings that cannot make a call.
    """
    settings.require_provider()
    body = request_body(settings, parts, max_tokens=max_tokens, schema=schema)
    is_stopped = getattr(stop, "is_set", stop) or (lambda: False)
    started, attempts, retried = time.monotonic(), [], Counter()
    deadline = started + settings.total_seconds
    while True:
        sent, notes = _adapted(settings, body)
        answer = Answer(transport.Clock(settings, deadline, is_stopped, on_progress), notes)
        text, failure = _attempt(settings, sent, answer, connections)
        attempts.append(_record(settings, answer, failure))
        if failure is None:
            break
        if _learn(settings, sent, failure):
            if again():
                continue
            break
        wait = _wait(settings, failure, retried, deadline)
        if wait is None:
            break
        attempts[-1]["wait_seconds"] = round(wait, 3)
        if not _pause(wait, is_stopped):
            failure = Failure(faults.CANCELLED, "stopped on request while waiting to try again")
            break
        if not again():
            break
    return _completion(settings, answer, text, failure, attempts, started)


def request_body(settings, parts, *, max_tokens=None, schema=None):
    """The JSON body of a call as a dict, nothing sent and no key needed: what a cache key and a dry run are made of."""
    if settings.json_mode == "schema" and schema is None:
        raise BadData("JSON_MODE=schema: this call has no schema; set JSON_MODE to object or off")
    extra = settings.thinking if isinstance(settings.thinking, dict) else {}
    thinking = None if isinstance(settings.thinking, dict) else settings.thinking
    body = _wire(settings).request(settings, parts, max_tokens or settings.max_tokens, thinking, schema)
    if taken := sorted(extra.keys() & body.keys()):
        raise BadData(f"THINKING: the object may not set {', '.join(taken)}, which other settings already send")
    return body | extra


def _attempt(settings, body, answer, connections):
    """(text, None) for a whole answer, else ("", Failure). `answer` keeps what came either way."""
    wire = _wire(settings)
    headers = {"Content-Type": "application/json", "User-Agent": "touchstone"}
    data = to_json(body).encode("utf-8", "backslashreplace")       # a lone surrogate goes out as its JSON escape
    try:
        with transport.post(wire.url(settings.base_url.reveal()), headers | wire.headers(settings.key), data,
                            answer.clock, connections) as response:
            answer.status = response.status
            _reached.add(_model(settings)[0])
            if not 200 <= response.status < 300:
                answer.clock.finish()
                raise faults.of_response(response.status, response.headers, response.error_body(), time.time())
            reading.read(wire, response, answer)
            return answer.settle(response.broken), None
    except Failure as failure:
        if failure.detail == "unknown_host" and _model(settings)[0] not in _reached:
            return "", Failure(faults.CONFIG, failure.what)
        return "", failure
    except RecursionError:
        return "", Failure(faults.BAD_BODY, "the reply is nested too deeply")


def _wait(settings, failure, retried, deadline):
    """Seconds until the next attempt, or None when there is to be none."""
    asked = failure.wait or 0.0
    if failure.retries and asked > LONGEST_WAIT_SECONDS:
        failure.scope = "run"
        failure.what += f"; asked to come back in {asked:.0f} s"
        return None
    if retried[failure.kind] >= failure.retries or retried.total() >= settings.retries:
        return None
    backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_WAIT_SECONDS * 2 ** retried.total())
    wait = max(asked * random.uniform(1.0, 1.1), backoff * random.uniform(0.5, 1.0))
    if time.monotonic() + wait > deadline:
        return None
    retried[failure.kind] += 1
    return wait


def _pause(seconds, is_stopped):
    """Wait; False as soon as the caller wants no more."""
    until = time.monotonic() + seconds
    while not is_stopped():
        left = until - time.monotonic()
        if left <= 0:
            return True
        time.sleep(min(left, transport.POLL_SECONDS))
    return False


def _learn(settings, sent, failure):
    """Remember, for this process, a field the model refuses; True when the call is worth sending again without it."""
    adaptable = _wire(settings).ADAPTABLE
    if failure.kind != faults.PARAM_UNSUPPORTED or failure.detail not in adaptable or failure.detail not in sent:
        return False
    with _lock:
        known = _learned.get(_model(settings), {})
        _learned[_model(settings)] = known | {failure.detail: adaptable[failure.detail]}
    return True


def _adapted(settings, body):
    """(body, notes): the body as this model is known to take it, and what was changed for that."""
    body, notes = dict(body), []
    for name, other in _learned.get(_model(settings), {}).items():
        if name in body:
            value = body.pop(name)
            notes.append(f"{name}_sent_as_{other}" if other else f"{name}_dropped")
            if other:
                body[other] = value
    return body, notes


def _record(settings, answer, failure):
    return {
        "status": answer.status,
        "kind": failure and failure.kind,
        "message": failure and failure.message(settings.redact_message),
        "detail": failure and failure.detail,
        "wait_seconds": 0.0,
        "seconds": round(time.monotonic() - answer.clock.started, 3),
        "usage": answer.usage,
    }


def _completion(settings, answer, text, failure, attempts, started):
    redact, clock, error = settings.redact_message, answer.clock, None
    if failure:
        error = {"kind": failure.kind, "message": failure.message(redact), "scope": failure.scope,
                 "outcome": faults.KINDS[failure.kind].outcome, "detail": failure.detail}
        text = answer.text() if failure.kind in _WITH_EVIDENCE else ""
    clean, finish = settings.redact_answer(text), answer.meaning() if answer.finish or not failure else None
    return Completion(
        text=clean,
        finish=finish if finish is None or finish in MEANINGS else redact(faults.plain(finish)),
        usage=answer.usage,
        attempts=attempts,
        seconds={"wait": round(clock.started - started, 3),
                 "first_output": clock.first and round(clock.first - clock.started, 3),
                 "receive": clock.first and round(clock.last - clock.first, 3),
                 "total": round(time.monotonic() - started, 3)},
        error=error,
        notes=answer.notes + (["secret_removed"] if clean != text else []),
        reported_cost=answer.cost,
        model=redact(faults.plain(answer.model)) if isinstance(answer.model, str) else None,
    )


def _model(settings):
    return settings.base_url.reveal(), settings.model


def _wire(settings):
    return _module(settings.provider)


@functools.lru_cache(maxsize=None)      # asked for at each step of each call
def _module(provider):
    return importlib.import_module(f"{__name__}.{PROVIDERS[provider]}")


_WITH_EVIDENCE = (faults.OUTPUT_LIMIT, faults.REFUSAL, faults.CONTENT_FILTER, faults.UNKNOWN_FINISH)
_lock = threading.Lock()
_learned = {}       # (base URL, model) → {field the model refuses: the name it wants instead, or None}
_reached = set()    # base URLs that have answered: an unknown host is a typing error only before that
