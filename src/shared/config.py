"""The settings of a provider and of a run: read from `.env` and the environment, where the real environment wins.

Every variable, its default and its unit stand in `.env.example`. What is not set stays None and is not sent.
"""
import contextlib
import dataclasses
import decimal
import functools
import json
import os
import re
import urllib.parse
from pathlib import Path

from src.shared.files import BadData

ENV_FILE = Path(__file__).resolve().parents[2] / ".env"
EXAMPLE = ".env.example"
# The registry of wires: the word in PROVIDER → its module in src/shared/adapters.
PROVIDERS = {"openai-compatible": "openai_compatible", "anthropic": "anthropic"}
REDACTED = "[redacted]"
KEY_PREFIX = 12         # this much of a key gives it away, so whatever follows such a beginning goes too
SHORT_KEY = 8           # a key of fewer characters is a word, such as EMPTY or ollama, and may stand in any answer
NO_KEY = "none"
MOST_WORKERS = 256      # calls at a time


class Secret:
    """A value that shows itself only when asked to: printing, formatting or logging it gives `[redacted]`."""

    __slots__ = ("_value",)

    def __init__(self, value):
        self._value = value

    def reveal(self):
        """The value itself; for the line that sends it, and for no message."""
        return self._value

    def __repr__(self):
        return REDACTED


@dataclasses.dataclass(frozen=True)
class Settings:
    """One field per variable, named as the variable in lower case. None means not set.

    thinking is a word, a whole number of tokens, or a dict that is added to the request as it stands.
    """

    provider: str = "openai-compatible"
    base_url: Secret = None
    api_key: Secret = None
    model: str = None
    max_tokens: int = 8192
    stream: bool = True
    json_mode: str = "off"
    thinking: object = None
    temperature: float = None
    first_output_seconds: float = 120.0
    between_output_seconds: float = 60.0
    total_seconds: float = 900.0
    retries: int = 4
    eval_workers: int = 4
    max_calls_per_day: int = None
    max_cost_usd: decimal.Decimal = None
    port: int = 8765

    def require_provider(self):
        """BadData that names every variable a call needs and does not have."""
        missing = [name for name in ("base_url", "model") if getattr(self, name) is None]
        if self.api_key is None and not (self.base_url and is_loopback(self._address.hostname)):
            missing.append("api_key")
        if missing:
            hints = {"api_key": f" (API_KEY={NO_KEY} for a server that wants no key)"}
            raise BadData(*(f"{name.upper()} is not set: put it into .env, see {EXAMPLE}{hints.get(name, '')}"
                            for name in missing))

    @property
    def key(self):
        """The key to send, or None."""
        key = self.api_key and self.api_key.reveal()
        return None if key and key.casefold() == NO_KEY else key

    @property
    def host(self):
        """Host and port of BASE_URL, or None: what a record may say about where the calls went."""
        return self.base_url and self._address.netloc

    def public(self):
        """The settings as a record keeps them: a dict without key and base URL, with the host instead."""
        names = [f.name for f in dataclasses.fields(self) if f.name.upper() not in _SECRETS]
        return {"host": self.host} | {name: getattr(self, name) for name in names}

    def redact(self, text):
        """The text without key and base URL, also where they stand escaped, encoded, in part or in other letter case."""
        folded = text.casefold()
        # Most texts hold neither a secret nor anything that could hide one: the long search is for the others.
        for mark in self._marks:
            if mark in folded:
                return self._secrets.sub(REDACTED, text)
        return text

    def redact_answer(self, text):
        """The same for what will be scored, where a key that is a mere word stays: the answer may mean that word."""
        return self._worded.redact(text)

    def redact_message(self, text):
        """The same for what only people read, also where tags, blanks or signs without width part the key, or where
        the text was cut amid it."""
        text = self.redact(text)
        if not self.key:
            return text
        places = [place for match in _TOGETHER.finditer(text) for place in range(*match.span(1)) if match[1]]
        together, key, clean, done = "".join(text[place] for place in places).casefold(), self.key.casefold(), [], 0
        at = together.find(key[:KEY_PREFIX])
        while at >= 0:
            end = at + len(os.path.commonprefix([key, together[at:at + len(key)]]))
            clean += [text[done:places[at]], REDACTED]
            done, at = places[end - 1] + 1, together.find(key[:KEY_PREFIX], end)
        for length in range(min(len(key), KEY_PREFIX) - 1, 3, -1):
            if together.endswith(key[:length]) and places[-length] >= done:
                return "".join([*clean, text[done:places[-length]], REDACTED])
        return "".join([*clean, text[done:]])

    @property
    def _address(self):
        return urllib.parse.urlsplit(self.base_url.reveal())

    @functools.cached_property
    def _marks(self):
        """What every text that holds a secret holds too: its plain beginning, or a sign that characters are escaped."""
        plain = [secret.casefold() for secret in (self.key and self.key[:KEY_PREFIX], self.host) if secret]
        return [*plain, *map(str.casefold, self._encoded), "%", "\\", "&#", "u00"] if plain else []

    @functools.cached_property
    def _encoded(self):
        """The beginning of the key in base64, wherever in the encoded text it stands, and in hexadecimal digits."""
        import base64       # here, because the free path reads settings too
        if not self.key or len(self.key) < SHORT_KEY:
            return []
        begin = self.key[:KEY_PREFIX].encode()
        found = [begin.hex()]
        for before in range(3):
            whole = base64.b64encode(bytes(before) + begin)[:(before + len(begin)) * 4 // 3].decode()
            found.append(whole[-(-before * 4 // 3):])
        return found + [text.translate(_URL_SAFE) for text in found if text != text.translate(_URL_SAFE)]

    @functools.cached_property
    def _worded(self):
        """These settings without a key where it is a mere word."""
        return self if not self.key or len(self.key) >= SHORT_KEY else dataclasses.replace(self, api_key=None)

    @functools.cached_property
    def _secrets(self):
        patterns = []
        if self.key:
            rest = r"[\w\-.~+/=%\\&#;]*" if len(self.key) > KEY_PREFIX else ""
            patterns.append(_disguised(self.key[:KEY_PREFIX]) + rest)
            patterns += [re.escape(text) + r"[\w\-+/=]*" for text in self._encoded]
        if self.base_url:
            scheme, place = self.base_url.reveal().split("://")
            path = place.removeprefix(self.host)
            patterns.append(f"(?:{_disguised(scheme + '://')})?{_disguised(self.host)}(?:{_disguised(path)})?")
        return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def load(path=ENV_FILE, environ=None):
    """Settings from the file (it need not exist) and the environment; for the same name the environment wins.

    A name set to nothing counts as not set. BadData names all bad values at once, each with the variable, the value
    (never that of BASE_URL or API_KEY) and what would be right, and every name in the file that is none of ours.
    """
    environ = os.environ if environ is None else environ
    found, problems = _read_env(path)
    found |= {name: (environ[name], name) for name in _READERS if name in environ}
    values = {}
    for name, (text, where) in found.items():
        if text.strip() == "":
            continue
        try:
            values[name.lower()] = _READERS[name](text.strip())
        except ValueError as error:
            shown = "the value" if name in _SECRETS else repr(text)
            problems.append(f"{where}: {shown} is not {error}; see {EXAMPLE}")
    if problems:
        raise BadData(*problems)
    return Settings(**values)


def write_env(values, path=ENV_FILE):
    """Set variables in an `.env` file, {name: text}; other lines stay. The file is private before anything is in it."""
    path = Path(path)
    unknown = sorted(set(values) - set(_READERS))
    if unknown:
        raise BadData(*(f"{name} is not a variable of this project; see {EXAMPLE}" for name in unknown))
    kept = [line for line in _env_lines(path) if not ((m := _LINE.match(line)) and m["name"] in values)]
    lines = kept + [f"{name}={_quoted(name, value)}" for name, value in values.items()]
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write("\n".join(lines) + "\n")
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@functools.lru_cache(maxsize=64)
@functools.lru_cache(maxsize=16)        # asked for at each connection
def is_loopback(host):
    """True when a host name or address can only mean this machine."""
    import ipaddress        # here, because the free path reads settings too
    if not host or host == "localhost" or host.endswith(".localhost"):
        return bool(host)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_URL_SAFE = str.maketrans("+/", "-_")
# Group 1: what is neither a tag nor a blank, a control character or a sign without width.
_TOGETHER = re.compile(r"<[^<>]*>|([^\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2060-\u2064\ufeff])")
_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*$")
_VALUE = re.compile(r"""'(?P<single>[^']*)'\s*(?:\#.*)?$ | "(?P<double>(?:[^"\\]|\\.)*)"\s*(?:\#.*)?$
                        | (?P<bare>(?!['"]).*?)(?:(?:^|\s)\#.*)?$""", re.VERBOSE)


def _read_env(path):
    """({name: (text, where)}, problems) of an `.env` file. A line not understood is never quoted: it may be a key."""
    found, problems = {}, []
    for number, line in enumerate(_env_lines(path), 1):
        where = f"{path}: line {number}"
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        value = match and _VALUE.match(match["value"])
        if not value:
            problems.append(f"{where}: not of the form NAME=value, with the same quote at both ends or none")
        elif match["name"] in _READERS:
            found[match["name"]] = _unquoted(value), f"{where}: {match['name']}"
        else:       # on purpose an error: a misspelt limit would guard nothing, and nobody would be told
            near = _near(match["name"])
            shown = match["name"] if near or re.fullmatch("[A-Z_]{1,40}", match["name"]) else "what stands before the ="
            problems.append(f"{where}: {shown} is not a variable of this project"
                            + (f"; did you mean {near}?" if near else f"; take the line out, see {EXAMPLE}"))
    return found, problems


def _env_lines(path):
    try:
        return re.split("\r\n|\r|\n", Path(path).read_bytes().decode("utf-8-sig").rstrip("\r\n"))
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise BadData(f"{path}: is not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise BadData(f"{path}: cannot be read: {error.strerror}") from None


def _unquoted(value):
    if value["double"] is not None:
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), value["double"])
    return value["bare"] if value["single"] is None else value["single"]


def _quoted(name, value):
    if re.search(r"[\r\n\x00]", value):
        raise BadData(f"{name}: a value of .env is one line of text")
    if re.fullmatch(r"[\w./:@%+,=-]*", value):
        return value
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _near(name):
    import difflib
    return next(iter(difflib.get_close_matches(name.upper(), _READERS, 1, 0.6)), None)


def _disguised(secret):
    """A pattern for a text however its characters are escaped: as in JSON, in a URL or in HTML, all or some of them.

    subtle: the repeats are bounded, so that a reply made of backslashes cannot stall the search.
    """
    return "".join(rf"\\{{0,4}}(?:{re.escape(c)}|%(?:25){{0,3}}{ord(c):02x}|u{ord(c):04x}"
                   rf"|&\#(?:x0{{0,4}}{ord(c):x}|0{{0,4}}{ord(c)});)" for c in secret)


def _one_of(words):
    def read(text):
        if text.casefold() not in words:
            raise ValueError("one of " + ", ".join(words))
        return text.casefold()
    return read


def _switch(text):
    words = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
    if text.casefold() not in words:
        raise ValueError("on or off")
    return words[text.casefold()]


def _whole(low, high):
    def read(text):
        if not re.fullmatch(r"[0-9]{1,12}", text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(text)
    return read


def _decimal(low, high, as_type):
    def read(text):
        is_number = re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12}", text)
        if not is_number or not low <= decimal.Decimal(text) <= high:
            raise ValueError(f"a number from {low} to {high}")
        return as_type(text)
    return read


def _base_url(text):
    right = ("an address such as https://api.example.com/v1, without user, query or fragment, "
             "and without the name of the call at its end")
    try:
        url = urllib.parse.urlsplit(text)
        port_is_fine = url.port != 0
    except ValueError:
        raise ValueError(right) from None
    path = url.path.rstrip("/")
    clean = re.fullmatch(r"[!-~]+", text) and not (url.query or url.fragment or "@" in url.netloc or "?" in text)
    if not (clean and port_is_fine and url.scheme in ("http", "https") and url.hostname) \
            or path.endswith(("/chat/completions", "/messages")):
        raise ValueError(right)
    return Secret(f"{url.scheme}://{url.netloc}{path}")


def _key(text):
    if not re.fullmatch(r"[!-~]{4,}", text):
        raise ValueError("a key: four or more printable ASCII characters without blanks")
    return Secret(text)


def _thinking(text):
    if text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("a JSON object, though it begins like one") from None
    if not re.fullmatch(r"[0-9]{1,7}|[a-z]+", text):
        raise ValueError("a word (off, low, medium, high, adaptive), a number of tokens, or a JSON object")
    return int(text) if text.isdigit() else text


_SECRETS = ("BASE_URL", "API_KEY")
_SECONDS = _decimal(decimal.Decimal("0.01"), 86400, float)
_READERS = {
    "PROVIDER": _one_of(tuple(PROVIDERS)), "BASE_URL": _base_url, "API_KEY": _key, "MODEL": str,
    "MAX_TOKENS": _whole(1, 10_000_000), "STREAM": _switch, "JSON_MODE": _one_of(("off", "object", "schema")),
    "THINKING": _thinking, "TEMPERATURE": _decimal(0, 2, float),
    "FIRST_OUTPUT_SECONDS": _SECONDS, "BETWEEN_OUTPUT_SECONDS": _SECONDS, "TOTAL_SECONDS": _SECONDS,
    "RETRIES": _whole(0, 20), "EVAL_WORKERS": _whole(1, MOST_WORKERS), "MAX_CALLS_PER_DAY": _whole(0, 10_000_000),
    "MAX_COST_USD": _decimal(0, 1_000_000, decimal.Decimal), "PORT": _whole(0, 65535),
}
