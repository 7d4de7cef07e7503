"""A model's raw reply → exactly one JSON object, with what had to be mended to read it.

Stands between the adapter, which gives the text of one call, and a kit's normaliser, which reads the object's values.
One pass finds the objects that stand at top level outside reasoning; fences and tags are prose like any other. Only
then is each cut out and decoded, so that the work grows with the length of the reply and with nothing else.
"""
import re
from collections import deque, namedtuple

from src.shared import values
from src.shared.mend import BLANK, COMMENT, CURLY, DOUBLE, SINGLE, Fault
from src.shared.mend import canonical, decode, is_json, strict, why_unclosed

MAX_CHARS = 1 << 20
MAX_DEPTH = 64
MAX_OBJECTS = 1000  # of a reply with more objects than this the last ones are read

_REASONING = "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
_CLOSE = re.compile(rf"</\s*(?:\w+:)?(?:{_REASONING})\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
                    r"|<\|channel\|>final", re.IGNORECASE)
_OPEN = (rf"<(?:\w{{1,20}}:)?(?:{_REASONING})(?:\s[^<>]{{0,80}})?(?<!/)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
         r"|<\|channel\|>(?:analysis|commentary)")
_KEY = "|".join(rf"{opening}[^{stop}\\\n]*+(?:\\.[^{stop}\\\n]*+)*+{closing}{BLANK}*+(?:[:：]|\Z)" for
                opening, stop, closing in (('"', '"', '"'), ("'", "'", "'"), ("[“”„‟＂]", "“”„‟＂", "[“”＂]")))
_CUT_KEY = r"""["'“”„‟＂][^"'“”„‟＂{}\n]*+\Z"""
# A brace opens an object only where a key with its colon follows, or is cut off: `{n}`, `{1, 2}` and `{}` are prose.
_OBJECT = rf"\{{(?={BLANK}*+(?://|/\*|{_KEY}|{_CUT_KEY}))"
_EVENT = re.compile(f"(?i:(?P<close>{_CLOSE.pattern})|(?P<open>{_OPEN}))|(?P<object>{_OBJECT})", re.DOTALL)
_STRUCTURE = re.compile(rf"{DOUBLE}|{SINGLE}|{CURLY}|{COMMENT}|[{{}}\[\]]", re.DOTALL)
_NEXT = re.compile(rf"{BLANK}*+(.?)", re.DOTALL)
_SUSPECT = re.compile(r"[\f\b][A-Za-z]")

# Where an object stands: by itself, as the only one of a list, as one of several, as the last of an unclosed list.
_ALONE, _SOLE, _LISTED, _CUT = range(4)
_NOT_ONE = {_LISTED: ("not_object", "the reply is a list; one object is wanted"),
            _CUT: ("unfinished", "the reply ends inside a list")}
_TOO_DEEP = ("too_deep", f"the object is nested deeper than {MAX_DEPTH}")


class Reply(namedtuple("Reply", "value repairs error")):
    """value: the object or None. repairs: what was mended, and what a reader of the record should know.
    error: None, or {"kind", "message"} when there is no value."""
    __slots__ = ()

    @property
    def notes(self):
        """The repairs without details: repaired, unwrapped, conflicting_objects, unread_object, suspect_escape."""
        return sorted({repair.partition(":")[0] for repair in self.repairs})


def parse(text, required, vocabularies=None):
    """The last complete top-level object of `text` that has the keys in `required`, as a Reply. Raises nothing.

    `vocabularies` is {key: allowed words}: an object with a word outside loses against any without one, so that a
    format reminder behind the answer is not the answer. Numbers with a fraction are Decimal.
    Error kinds: no_object, not_object, not_json, unfinished, reasoning_unfinished, missing_keys, duplicate_key,
    too_deep, too_long.

    >>> parse('Here it is: {"verdict": "yes", "rate": 2.50,}', ["verdict"])
    Reply(value={'verdict': 'yes', 'rate': Decimal('2.50')}, repairs=['repaired: trailing comma'], error=None)
    """
    try:
        return _choose(text, tuple(required), vocabularies or {})
    except Fault as fault:
        return Reply(None, [], {"kind": fault.kind, "message": str(fault)})


def fold_word(raw, allowed):
    """The one word of `allowed` that `raw` is, or None; case, blanks, hyphens and underscores do not matter.

    None too where two words fold alike; `values.read_word` is the reader that says why.

    >>> fold_word("Wait Required", ("within_label", "wait_required"))
    'wait_required'
    """
    try:
        return values.read_word(raw, allowed)
    except values.Finding:
        return None


def _choose(text, required, vocabularies):
    if len(text) > MAX_CHARS:
        raise Fault("too_long", f"the reply has {len(text):,} characters; at most {MAX_CHARS:,} are read")
    readings = _plain(text, required) or _readings(text, required)
    whole = [i for i, reading in enumerate(readings) if not isinstance(reading, Fault) and _has(reading[0], required)]
    if not whole:
        raise _why_none(text, readings, required)
    inside = [i for i in whole if _in_vocabulary(readings[i][0], vocabularies)] or whole
    value, repairs = readings[inside[-1]]
    if len(inside) > 1 and len({canonical(readings[i][0]) for i in inside}) > 1:
        repairs.append("conflicting_objects")
    if any(isinstance(reading, Fault) for reading in readings[inside[-1]:]):
        repairs.append("unread_object: a later one is broken or cut off")
    # Without a backslash a string holds nothing that does not stand in the text itself.
    if ("\\" in text or "\f" in text or "\b" in text) and any(map(_SUSPECT.search, _strings(value))):
        repairs.append("suspect_escape")
    return Reply(value, repairs, None)


def _plain(text, required):
    """The reading of a reply that is one strict JSON object and nothing else, as most are; [] for any other."""
    if text[:1] != "{" or text[-1:] != "}" or text.count("{") + text.count("[") > MAX_DEPTH:
        return []
    try:
        value = strict(text)
    except ValueError:
        return []
    return [_unwrapped(value, [], required)] if value else []


def _readings(text, required):
    """What each top-level object says, or why it says nothing, in order."""
    objects, ending = _outline(text)
    return [_read(text[start:end], place, required) for start, end, place in objects] + ([ending] if ending else [])


def _outline(text):
    """The top-level objects outside reasoning as (start, end, place) in order, and the Fault of one without an end."""
    objects, at, place = deque(maxlen=MAX_OBJECTS), 0, _ALONE
    while event := _EVENT.search(text, at):
        start, before, at = event.start(), at, event.end()
        if event["close"]:
            objects.clear()  # text before a closing tag without an opening one is reasoning
        elif event["open"]:
            close = _CLOSE.search(text, at)
            if not close:
                raise Fault("reasoning_unfinished", "the reply ends inside its reasoning; it holds no answer")
            at = close.end()
        else:
            end, is_too_deep = _extent(text, start)
            if end:
                place = _place(text[before:start].strip(), _NEXT.match(text, end)[1], place)
                objects.append((start, end, place))
                at = end
            elif tags := deque(_CLOSE.finditer(text, start), maxlen=1):
                objects.clear()  # a draft in reasoning whose opening tag is missing: go on behind the last closing tag
                at = tags[0].end()
            else:
                return objects, Fault(*_TOO_DEEP) if is_too_deep else why_unclosed(text[start:])
    return objects, None


def _extent(text, start):
    """(where the object that opens at `start` closes, or 0 for nowhere; whether it is nested too deeply to look on).

    Braces alone decide the end, so that a wrong bracket spoils one object and not those behind it.
    """
    braces = depth = 0
    for token in _STRUCTURE.finditer(text, start):
        mark = text[token.start()]
        if mark in "{[":
            depth += 1
            braces += mark == "{"
            if depth > MAX_DEPTH:
                return 0, True
        elif mark in "}]":
            depth -= 1
            braces -= mark == "}"
            if not braces:
                return token.end(), False
    return 0, False


def _place(before, after, previous):
    """Where an object stands, by the text before it, the character behind it and the place of the object before."""
    opened = before[-1:]
    if opened == "[" and after == "]":
        return _SOLE
    if opened == "[" or opened == "," and (after == "]" or before == "," and previous == _LISTED):
        return _LISTED if after else _CUT
    return _ALONE


def _read(piece, place, required):
    """(value, repairs) of one balanced object, or the Fault for which it does not count."""
    if place in _NOT_ONE:
        return Fault(*_NOT_ONE[place])
    try:
        value, repairs = decode(piece)
    except Fault as fault:
        return fault
    if place == _SOLE:
        return value, repairs + ["unwrapped"]
    return _unwrapped(value, repairs, required)


def _unwrapped(value, repairs, required):
    """(value, repairs), the value out of an object that holds nothing else."""
    inner = next(iter(value.values())) if len(value) == 1 and not _has(value, required) else None
    if isinstance(inner, dict) and _has(inner, required):
        return inner, repairs + ["unwrapped"]
    return value, repairs


def _why_none(text, readings, required):
    """The Fault of a reply without an answer: that of its last object, or what the reply is instead."""
    if readings and isinstance(readings[-1], Fault):
        return readings[-1]
    if readings:
        missing = ", ".join(key for key in required if key not in readings[-1][0])
        return Fault("missing_keys", f"the object lacks {missing}")
    text = text.strip("\ufeff \t\r\n")
    if text == "{}":
        return Fault("missing_keys", "the object is empty")
    if is_json(text):
        return Fault("not_object", f"the reply is the JSON value {text[:40]}; one object is wanted")
    return Fault("no_object", "the reply holds no JSON object" if text else "the reply is empty")


def _has(value, required):
    return all(key in value for key in required)


def _in_vocabulary(value, vocabularies):
    """Whether each word is one of its vocabulary; null is no word, and no reason to prefer an earlier object."""
    return all(fold_word(value[key], allowed) for key, allowed in vocabularies.items() if value.get(key) is not None)


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
