"""Reading for the label gates: everything wrong in a file becomes a problem of the report, and the reading goes on.

A report is anything with `.folder` and `.add(file, row, message)`; `labels.Report` is the one. Imports only the
standard library, so that a gate shares no reader with the code that it judges.
"""
import json
import weakref
from collections import Counter
from decimal import Decimal
from functools import lru_cache

BOM = b"\xef\xbb\xbf"
KINDS = {str: "a text", list: "a list", dict: "an object", bool: "true or false", int: "a whole number",
         "text?": "a text or null", "whole?": "a whole number or null", "texts": "a list of texts", object: "a value"}


def read_text(report, file):
    """The text of a file with `\\n` line ends, or None where it cannot be read at all; each fault is reported."""
    try:
        data = (report.folder / file).read_bytes()
    except OSError as error:
        report.add(file, "", f"cannot be read ({error.strerror}); put the file there")
        return None
    return _decode(report, file, data)


def read_json(report, file):
    """The JSON value of a file, fractions as Decimal; None where there is none."""
    text = read_text(report, file)
    return None if text is None else _parse(report, file, text)


def read_named(report, file, name, required, optional=None):
    """The objects of a JSON list by what each has under `name`; what is none is reported and left out."""
    data, found = read_json(report, file), {}
    if type(data) is not list:
        report.add(file, "", f"{shown(data)}: a list of objects is wanted")
        return found
    for place, entry in enumerate(data, 1):
        called = entry.get(name, place) if type(entry) is dict else place
        if shape(report, file, called, entry, required, optional or {}):
            if called in found:
                report.add(file, called, "stands twice; keep one")
            found[called] = entry
    return found


class Rows:
    """A JSON-lines file by `id`. `places` holds {id: (line, offset)} and no row, so memory does not grow with them."""

    def __init__(self, report, file):
        self.report, self.file, self.places = report, file, {}
        try:
            self._lines = (report.folder / file).open("rb")
            weakref.finalize(self, self._lines.close)
            self._index(self._lines)
        except OSError as error:
            report.add(file, "", f"cannot be read ({error.strerror}); put the file there")

    def get(self, name):
        """The row of a document, read again from its place; None where there is none."""
        if name not in self.places:
            return None
        line, start = self.places[name]
        self._lines.seek(start)
        return self._row(self._lines.readline(), line)

    def _index(self, handle):
        start = 0
        for line, data in enumerate(handle, 1):
            row = self._row(data, line)
            name = row.get("id") if row is not None else None
            if row is not None and type(name) is not str:
                self.report.add(self.file, f"line {line}", f"id {shown(name)}: the id of a document is wanted, a text")
            elif name in self.places:
                self.report.add(self.file, f"line {line}", f"{name} has a row on line {self.places[name][0]}; keep one")
            elif row is not None:
                self.places[name] = line, start
            start += len(data)

    def _row(self, data, line):
        text = _decode(self.report, self.file, data, f"line {line}")
        row = _parse(self.report, self.file, text, f"line {line}") if text.strip() else None
        if row is not None and type(row) is not dict:
            self.report.add(self.file, f"line {line}", f"{shown(row)}: one JSON object a line is wanted")
        return row if type(row) is dict else None


def shape(report, file, row, value, required, optional=None):
    """Whether an object holds every required key and only values of the wanted kinds ({key: one of KINDS}).

    Unknown keys are reported and leave it sound; with `optional` None they are not looked at.
    """
    if type(value) is not dict:
        if value is None and row == "" and any(problem.file == file for problem in report.problems):
            return False    # what has been refused is none, and that has been said
        report.add(file, row, f"{shown(value)}: an object with {', '.join(required)} is wanted")
        return False
    known = {**required, **(optional or {})}
    unknown = [key for key in value if key not in known] if optional is not None else []
    missing = [key for key in required if key not in value]
    unfit = [key for key in value if key in known and not _is(value[key], known[key])]
    for key in unknown:
        report.add(file, row, f"unknown key {shown(key)}; {nearest(key, known)}")
    for key in unfit:
        report.add(file, row, f"{key} {shown(value[key])}: {KINDS[known[key]]} is wanted")
    if missing:
        report.add(file, row, f"{', '.join(missing)} missing; write {'it' if len(missing) == 1 else 'them'}")
    return not (missing or unfit)


def same(one, other):
    """Whether two JSON values are the same in kind as well: 1 is neither true nor 1.0."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return len(one) == len(other) and all(map(same, one, other)) if type(one) is list else one == other


def fold(text):
    """Trimmed, blanks collapsed, casefolded: the form in which names are compared, whole."""
    return " ".join(text.split()).casefold()


@lru_cache(maxsize=4096)
def fold_word(text):
    """`fold`, remembered: for words that come again and again, not for pages, which it would keep."""
    return fold(text)


def shown(value, limit=100):
    """A value as it would stand in a file, cut to `limit` characters."""
    text = json.dumps(value, ensure_ascii=False, default=_number)
    return text if len(text) <= limit else text[:limit - 3] + "..."


def nearest(word, words):
    """Advice after an unknown word: the nearest known one, or all of them."""
    from difflib import get_close_matches  # only a broken file pays for this import
    words = [str(known) for known in words]
    near = get_close_matches(str(word), words, 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(words) or 'none'}"


def _is(value, kind):
    if kind in ("text?", "whole?"):
        return value is None or type(value) is (str if kind == "text?" else int)
    if kind == "texts":
        return type(value) is list and all(type(part) is str for part in value)
    return kind is object or type(value) is kind


def _number(value):
    return int(value) if value == value.to_integral_value() else float(value)


def _decode(report, file, data, row=""):
    def at(place):
        return row or f"line {data.count(10, 0, place) + 1}"

    if data.startswith(BOM):
        report.add(file, row, "begins with a byte order mark (EF BB BF); save it as UTF-8 without BOM")
        data = data[len(BOM):]
    if b"\r" in data:
        report.add(file, at(data.index(b"\r")), "ends in a carriage return; save the file with LF line ends")
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        report.add(file, at(error.start), f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8")
        return data.decode("utf-8", "replace")


def _parse(report, file, text, row=""):
    def pairs(found):
        value = dict(found)
        if len(value) < len(found):
            for key, times in Counter(key for key, _ in found).items():
                if times > 1:
                    report.add(file, row, f"key {shown(key)} stands {times} times in one object; keep one")
        return value

    def constant(word):
        report.add(file, row, f"{word} is not a JSON number; write null or a number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_float=Decimal, parse_constant=constant)
    except json.JSONDecodeError as error:
        report.add(file, row or f"line {error.lineno}", f"not JSON: {error.msg} at column {error.colno}; mend it there")
    except (ValueError, ArithmeticError, RecursionError) as error:
        report.add(file, row, f"cannot be read as JSON: {error or 'nested too deeply'}; shorten the value")
