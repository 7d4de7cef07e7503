"""Read and write the project's files: strict JSON, JSON lines, whole-file replacement.

Everything a person may have edited is read here, so that a broken file always answers with its name, the place and
what would be right.
"""
import contextlib
import decimal
import json
import os
import tempfile
from pathlib import Path

BOM = b"\xef\xbb\xbf"
LEFT_BY_SYSTEMS = ("Thumbs.db", "desktop.ini")       # beside whatever begins with a dot
_UMASK = os.umask(0o022)
os.umask(_UMASK)        # there is no way to read it but to set it; done once, before there are threads


class BadData(ValueError):
    """The one error base: a message that names the file, the row, the bad value and the remedy.

    `problems` lists every problem found; the message joins them, one a line.
    """

    def __init__(self, *problems):
        self.problems = [str(p) for p in problems]
        super().__init__("\n".join(self.problems))


def tell(found, problems=None):
    """Put sentences into a list of `problems` that somebody gathers, else raise BadData with them where there are any.
    """
    if problems is not None:
        problems += found
    elif found:
        raise BadData(*found)


class Problems:
    """What several files have wrong, gathered so that all of it is said at once.

    >>> wrong = Problems()
    >>> wrong.of(parse_json, "{", "a.json"), wrong.of(parse_json, "1", "b.json")
    (None, 1)
    >>> len(wrong.found)
    1
    """

    def __init__(self):
        self.found = []

    def of(self, read, *arguments):
        """What `read(*arguments)` gives, or None where it is refused; what is wrong is kept."""
        try:
            return read(*arguments)
        except BadData as e:
            self.found += e.problems
            return None

    def then(self, read, *arguments):
        """As `of`, once none of the arguments is None: what that was read from has been refused already."""
        return None if None in arguments else self.of(read, *arguments)

    def refuse(self):
        """Raise BadData with every problem kept so far, each once; nothing where there is none."""
        if self.found:
            raise BadData(*dict.fromkeys(self.found))


def visible(folder):
    """The paths in a folder, sorted, but for those that systems leave in any folder; none where there is no folder."""
    return sorted(path for path in Path(folder).glob("*")
                  if not path.name.startswith(".") and path.name not in LEFT_BY_SYSTEMS)


def read_text(path):
    """The text of a UTF-8 file with `\\n` line ends. BadData for a missing file, a BOM, other bytes or CRLF."""
    try:
        with open(path, "rb") as handle:
            data = handle.read()
    except FileNotFoundError:
        raise BadData(f"{path}: no such file") from None
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    return decode(data, path)


def decode(data, path):
    """Bytes → text under the same rules as `read_text`; `path` only names the file in messages."""
    if data.startswith(BOM):
        raise BadData(f"{path}: begins with a byte order mark (EF BB BF); save it as UTF-8 without BOM")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadData(f"{path}: is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise BadData(f"{path}: line {line}: byte 0x{data[e.start]:02x} is not UTF-8; save the file as UTF-8") from None
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        raise BadData(f"{path}: line {line}: ends in a carriage return; save the file with LF line ends")
    return text


def parse_json(text, where):
    """JSON text → value, numbers with a fraction as Decimal of their own digits.

    Refused with BadData naming `where`: syntax errors, a key given twice in one object, NaN and Infinity,
    numbers and nestings too large to hold.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as e:
        place = f"line {e.lineno}, column {e.colno}" if "\n" in text.rstrip("\n") else f"column {e.colno}"
        raise BadData(f"{where}: {place}: not JSON: {e.msg}") from None
    except RecursionError:
        raise BadData(f"{where}: nested too deeply to be read") from None
    except decimal.InvalidOperation:
        raise BadData(f"{where}: holds a number too large to be read") from None
    except ValueError as e:
        too_long = "integer string conversion" in str(e)
        raise BadData(f"{where}: {'holds a number of thousands of digits' if too_long else e}") from None


def read_json(path):
    """The JSON value of a file; see `parse_json` for what is refused."""
    return parse_json(read_text(path), path)


def read_jsonl(path):
    """Yield (line number, object) for each line of a JSON-lines file, counting from 1, one line in memory at a time.

    Blank lines are skipped. BadData on the first line that is not a JSON object or not clean UTF-8.
    """
    path = Path(path)
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        raise BadData(f"{path}: no such file") from None
    except OSError as e:
        raise BadData(f"{path}: cannot be read: {e.strerror}") from None
    with handle:
        for number, data in enumerate(handle, 1):
            where = f"{path}: line {number}"
            text = decode(data, where)
            if text.strip():
                value = parse_json(text, where)
                if not isinstance(value, dict):
                    raise BadData(f"{where}: {_shown(value)} is not a JSON object; one object a line is wanted")
                yield number, value


def to_json(value, indent=None):
    """A value as JSON text, Decimals as numbers, non-ASCII kept, keys in the order they stand."""
    return _ENCODER.encode(value) if indent is None else json.dumps(
        value, ensure_ascii=False, indent=indent, default=as_number, allow_nan=False)


def write_text(path, text):
    """Replace a whole file at once: written beside it, flushed to disk, then renamed over it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as handle:
        handle.write(text)


@contextlib.contextmanager
def replacing(path, is_kept=True):
    """A text handle whose content takes the place of `path` when the block ends well, and vanishes when it does not.

    It is on the disk when the block has ended; not `is_kept` is what can be made again at no cost, and need not be.
    """
    path = Path(path)
    handle = tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.",
                                         delete=False)
    try:
        with handle:
            yield handle
            if is_kept:
                handle.flush()
                os.fsync(handle.fileno())
        os.chmod(handle.name, 0o666 & ~_UMASK)
        os.replace(handle.name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(handle.name)
        raise


def as_number(value):
    """Decimal → the shortest number that reads back as the same Decimal: what JSON is told to do with one."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def _pairs(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set()
        for key, value in pairs:
            if key in seen:
                raise ValueError(f"key {_shown(key)} stands twice in one object; keep one")
            seen.add(key)
    return found


def _constant(word):
    raise ValueError(f"{word} is not a JSON number; write null or a number")


def _shown(value):
    text = to_json(value)
    return text if len(text) <= 80 else text[:77] + "..."


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=as_number, allow_nan=False)
_DECODER = json.JSONDecoder(parse_float=decimal.Decimal, parse_constant=_constant, object_pairs_hook=_pairs)
