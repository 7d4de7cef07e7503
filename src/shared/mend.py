"""One piece of a reply that looks like an object → the object, mended where that needs no guess.

Strict decoding comes first. Mended then, outside strings only: trailing commas, comments, Python's literals and
quotes, curly quotes and full-width marks, odd blanks; raw line breaks within strings are read as they stand. Never
mended: a missing quote, bracket, brace, key or value, a quote that stands unescaped inside a string, an escape that
JSON does not know. `reply.py` finds the pieces and bounds their depth.
"""
import json
import math
import re
from decimal import Decimal

MAX_DIGITS = 1000

ZERO_WIDTH = r"\u200b-\u200f\u2060\ufeff"
BLANK = rf"[\s{ZERO_WIDTH}]"
# An unclosed string runs to the end, so that no later quote starts the same search again.
DOUBLE = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
SINGLE = r"'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)"
CURLY = r"[“”„‟＂][^“”＂\\]*+(?:\\.[^“”＂\\]*+)*+(?:[“”＂]|\\?\Z)"
COMMENT = r"//[^\n]*+|/\*.*?(?:\*/|\Z)"

_TOKEN = re.compile(rf"(?P<string>{DOUBLE})|(?P<single>{SINGLE})|(?P<curly>{CURLY})|(?P<comment>{COMMENT})"
                    rf"|(?P<space>[ \t\n\r]+)|(?P<blank>{BLANK}+)|(?P<word>[\w.+-]+)"
                    rf"|(?P<marks>[^\w\s{ZERO_WIDTH}.+\-/,，：\"'“”„‟＂]+|.)", re.DOTALL)
_REPAIR = {"single": "repaired: single quotes", "curly": "repaired: curly quotes", "comment": "repaired: comment",
           "blank": "repaired: odd blank"}
_LITERAL = {"True": "true", "False": "false", "None": "null"}
_MARK = {"：": ":", "，": ","}
_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_LONE = re.compile(r"[\ud800-\udfff]")
_MAYBE_LONE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_WORD_TO_THE_END = re.compile(r"[-+.\w\\/]*")


class Fault(ValueError):
    """Why a reply, or a piece of one, gives no object: `.kind` is one of the error kinds of `reply.parse`."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def decode(piece):
    """A balanced `{…}` → (object, repairs). Fractions are Decimal, halves of surrogate pairs are U+FFFD.

    Raises Fault: not_json; duplicate_key where a key stands twice with different values; too_deep.

    >>> decode("{'rate': 2.50, 'sealed': None,}")
    ({'rate': Decimal('2.50'), 'sealed': None}, \
['repaired: single quotes', 'repaired: Python literal', 'repaired: trailing comma'])
    """
    try:
        return strict(piece), []
    except json.JSONDecodeError:
        mended, repairs = _mend(piece)
    try:
        return _load(_LENIENT, mended), repairs
    except json.JSONDecodeError as e:
        raise _not_json(e) from None


def why_unclosed(piece):
    """The Fault of an object that never closes: `unfinished` where it was well up to its end, else what broke it."""
    mended, _ = _mend(piece)
    try:
        _load(_LENIENT, mended)
    except json.JSONDecodeError as e:
        if not e.msg.startswith("Unterminated") and not _WORD_TO_THE_END.fullmatch(mended, e.pos):
            return _not_json(e)
    except Fault as fault:
        return fault
    return Fault("unfinished", "the object never closes; nothing is added to a cut reply")


def strict(text):
    """The value of a text that is JSON as it stands. ValueError for any other, Fault where it is JSON but refused."""
    return _load(_STRICT, text)


def is_json(text):
    """Whether the whole text is a JSON value of any kind."""
    try:
        strict(text)
    except ValueError:
        return False
    return True


def canonical(value):
    """The same text for the same JSON: true is not 1, and the order of keys does not matter."""
    return json.dumps(value, sort_keys=True, default=str)


def _mend(piece):
    """(the tokens as JSON spells them with blanks between, the repairs that took, each once)."""
    tokens, repairs = [], {}
    for token in _TOKEN.finditer(piece):
        kind, word = token.lastgroup, token[0]
        if kind in _REPAIR:
            repairs[_REPAIR[kind]] = True
        if kind in ("space", "blank", "comment"):
            continue
        if kind in ("string", "single", "curly"):
            if _CONTROL.search(word):
                repairs["repaired: raw control character"] = True
            if kind != "string":  # one that runs to the end of the piece was never closed, and is not closed here
                word = '"' + _ESCAPE.sub(_straighten, word[1:-1]) + '"' * (token.end() < len(piece))
        elif word in _LITERAL:
            word = _LITERAL[word]
            repairs["repaired: Python literal"] = True
        elif word in _MARK:
            word = _MARK[word]
            repairs["repaired: full-width mark"] = True
        elif word[0] in "}]" and tokens[-1] == "," and tokens[-2][-1] not in "{[,":
            tokens.pop()
            repairs["repaired: trailing comma"] = True
        tokens.append(word)
    return " ".join(tokens), list(repairs)


def _straighten(escape):
    """An escape, or a bare double quote, of a string in other quotes → what it is between double quotes."""
    if escape[0] == '"':
        return '\\"'
    return escape[1] if escape[1] in "'“”＂" else escape[0]


def _load(decoder, text):
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise Fault("too_deep", "the value is nested too deeply to be read") from None
    return _without_halves(value) if _MAYBE_LONE.search(text) else value


def _without_halves(value):
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    if isinstance(value, dict):
        return _pairs([(_without_halves(key), _without_halves(item)) for key, item in value.items()])
    return value


def _not_json(error):
    near = error.doc[max(error.pos - 20, 0):error.pos + 20]
    return Fault("not_json", f"not JSON: {error.msg} near {near!r}")


def _pairs(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        for key, value in pairs:
            if value is not found[key] and canonical(value) != canonical(found[key]):
                raise Fault("duplicate_key", f"key {key!r} stands twice in one object with different values")
    return found


def _whole(digits):
    if len(digits) > MAX_DIGITS:
        raise Fault("not_json", f"a number has {len(digits):,} digits; at most {MAX_DIGITS:,} are read")
    return int(digits)


def _fraction(digits):
    try:
        if math.isfinite(float(digits)):
            return Decimal(digits)
    except ArithmeticError:
        pass
    raise Fault("not_json", f"{digits[:40]} is out of range for a number")


def _constant(word):
    raise Fault("not_json", f"{word} is not a JSON number")


_HOOKS = {"parse_int": _whole, "parse_float": _fraction, "parse_constant": _constant, "object_pairs_hook": _pairs}
_STRICT = json.JSONDecoder(**_HOOKS)
_LENIENT = json.JSONDecoder(**_HOOKS, strict=False)
