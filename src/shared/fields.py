"""The fields of a kit: `fields.json`, validated when read, and one raw row → typed values.

A field has a name, a type (string, text, list, number, enum, date, datetime), and where they apply a unit, allowed words,
a section and a line label on the page, and phrases that mean "not stated". Fields marked `decided` are answers of
the rules; fields marked `never_read` are copied and may be operands of no rule.
"""
from src.shared import values as v
from src.shared.files import BadData, read_json

TYPES = ("string", "text", "list", "number", "enum", "date", "datetime")
KEYS = ("name", "type", "unit", "nullable", "section", "line", "decided", "never_read", "one_name", "allowed", "not_stated",
        "description")
NO_UNIT = frozenset()
CONFIDENCE = "confidence"     # the one field of every kit that is a share


class Field:
    """One entry of fields.json. `.words` are the spellings of its unit, `.silent` the folded not-stated phrases."""

    def __init__(self, entry, units):
        self.name, self.type, self.unit = entry["name"], entry["type"], entry.get("unit")
        self.nullable, self.decided = entry["nullable"], entry.get("decided", False)
        self.never_read, self.one_name = entry.get("never_read", False), entry.get("one_name", False)
        self.section, self.line = entry.get("section"), entry.get("line")
        self.allowed, self.description = entry.get("allowed"), entry["description"]
        self.words = frozenset(v.fold_name(word) for word in [self.unit, *units[self.unit]]) if self.unit else NO_UNIT
        self.silent = frozenset(map(v.fold_name, entry.get("not_stated", ())))
        self.read = self._reader()

    def _reader(self):
        """raw value → value, None or a Finding raised."""
        if self.type == "number":
            unit, words, silent = self.unit, self.words, self.silent
            if not silent:
                return lambda raw: v.read_number(raw, unit, words)
            return lambda raw: (None if type(raw) is str and v.fold_name(raw) in silent
                                else v.read_number(raw, unit, words))
        read = {"string": v.read_one_name if self.one_name else v.read_name, "text": v.read_text, "list": lambda raw: v.read_list(raw, self.allowed), "date": v.read_date, "datetime": v.read_date_time,
                "enum": lambda raw: v.read_word(raw, self.allowed)}[self.type]
        if not self.silent:
            return read
        return lambda raw: None if type(raw) is str and v.fold_name(raw) in self.silent else read(raw)


class Fields:
    """All fields of a kit in order, by name, and the sections that are sent or withheld."""

    def __init__(self, path, document, vocabularies):
        self.path = path
        self.sections_sent = tuple(document.get("sections", {}).get("sent", ()))
        self.sections_withheld = tuple(document.get("sections", {}).get("withheld", ()))
        for entry in document["fields"]:
            if isinstance(entry.get("allowed"), str):
                entry["allowed"] = tuple(vocabularies[entry["allowed"][1:]])
        self.all = [Field(entry, document.get("units", {})) for entry in document["fields"]]
        self.by_name = {field.name: field for field in self.all}
        self.copied = [field for field in self.all if not field.decided]
        self.decided = [field for field in self.all if field.decided]

    def schema(self):
        """The JSON schema of a reply with these fields: every key required, no other allowed, null always possible."""
        properties = {field.name: {"type": ["number" if field.type == "number" else "string", "null"],
                                   **({"enum": [*field.allowed, None]} if field.type == "enum" else {}),
                                   "description": field.description} for field in self.all}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    def read_reply(self, reply, fields=None):
        """A reply's object → (values, findings): as `read`; what is left out is Absent, and a confidence is a share."""
        asked = self.all if fields is None else fields
        values, findings = self.read(reply, asked)
        findings |= v.unanswered([field.name for field in asked], reply)
        sure = values.get(CONFIDENCE)
        if sure is not None and not 0 <= sure <= 1:
            values[CONFIDENCE] = None
            findings[CONFIDENCE] = v.Unreadable(reply[CONFIDENCE], "is not between 0 and 1")
        return values, findings

    def read(self, raw, fields=None):
        """A raw row → (values, findings): every field's value or None, and {name: Finding} for what gave none.

        `raw` is {name: anything}; absent names read as not stated, extra names are ignored.
        """
        values, findings = {}, {}
        for field in self.all if fields is None else fields:
            name = field.name
            try:
                values[name] = field.read(raw.get(name))
            except v.Finding as finding:
                values[name], findings[name] = None, finding
        return values, findings


def load(path, vocabularies):
    """fields.json → Fields. `vocabularies` fills `"allowed": "$name"`, e.g. {"decisions": (…), "rules": (…)}.

    BadData lists every problem with its JSON pointer, what was expected and the nearest valid name.
    """
    document = read_json(path)
    problems = _shape(document, path) or list(_problems(document, path, vocabularies))
    if problems:
        raise BadData(*problems)
    return Fields(path, document, vocabularies)


def near(name, known, alike=0.5):
    """' (did you mean …?)' for the nearest known name, or ''."""
    import difflib
    close = difflib.get_close_matches(str(name), list(map(str, known)), 1, alike)
    return f" (did you mean {close[0]}?)" if close else ""


def misspelt(given, known, beside=()):
    """A sentence for each given name that is none of the `known` and near one that is not given: it was not read.

    In a row {name: value} a name whose value is null is not given. A name with its letters turned round is a slip of
    the hand even beside the right one. Names `beside` are somebody else's and no slip.
    """
    absent = [name for name in known if name not in given or isinstance(given, dict) and given[name] is None]
    turned = {"".join(sorted(name)): name for name in known}
    slips = {name: [*absent, *filter(None, [turned.get("".join(sorted(str(name))))])] for name in given
             if name not in known and name not in beside}
    return [f"{name} is no field{close}; {name} was not read" for name, meant in slips.items()
            if (close := near(name, meant, 0.75))]


def _shape(document, path):
    if not isinstance(document, dict) or not isinstance(document.get("fields"), list) or not document["fields"]:
        return [f"{path}: /fields: a list of fields is wanted"]
    if not isinstance(document.get("units", {}), dict) or not isinstance(document.get("sections", {}), dict):
        return [f"{path}: /units and /sections: objects are wanted"]
    return [f"{path}: /fields/{i}: {v.shown(entry)} is not an object with a name" for i, entry in
            enumerate(document["fields"]) if not isinstance(entry, dict) or not isinstance(entry.get("name"), str)]


def _problems(document, path, vocabularies):
    units, seen, lines = document.get("units", {}), set(), {}
    sent = document.get("sections", {}).get("sent", [])
    for i, entry in enumerate(document["fields"]):
        at = f"{path}: /fields/{i} ({entry['name']})"
        if entry["name"] in seen:
            yield f"{at}: the name stands twice; names are unique"
        seen.add(entry["name"])
        for key in entry.keys() - set(KEYS):
            yield f"{at}: unknown key {key!r}{near(key, KEYS)}"
        if entry.get("type") not in TYPES:
            yield f"{at}: type {v.shown(entry.get('type'))} is not one of {', '.join(TYPES)}"
        for key, kind in (("nullable", bool), ("description", str)):
            if not isinstance(entry.get(key), kind):
                yield f"{at}: {key} is missing or not {'true or false' if kind is bool else 'text'}"
        if entry.get("unit") is not None and entry["unit"] not in units:
            yield f"{at}: unit {v.shown(entry['unit'])} is not one of {', '.join(units)}{near(entry['unit'], units)}"
        yield from _vocabulary(entry, at, vocabularies)
        if sent and not entry.get("decided"):
            yield from _place(entry, at, sent, lines)


def _vocabulary(entry, at, vocabularies):
    allowed = entry.get("allowed")
    if entry.get("type") not in ("enum", "list") or (entry["type"] == "list" and allowed is None):
        if allowed is not None:
            yield f"{at}: allowed belongs to the type enum or list, not to {entry.get('type')}"
    elif isinstance(allowed, str):
        if allowed[:1] != "$" or allowed[1:] not in vocabularies:
            yield f"{at}: allowed {allowed!r} is not one of {', '.join('$' + name for name in vocabularies)}"
    elif not (isinstance(allowed, list) and allowed and all(isinstance(word, str) for word in allowed)):
        yield f"{at}: allowed is missing; write the list of its words"


def _place(entry, at, sent, lines):
    section, line = entry.get("section"), entry.get("line")
    if section not in sent:
        yield f"{at}: section {v.shown(section)} is not one of the sections sent: {', '.join(sent)}"
    if not isinstance(line, str):
        yield f"{at}: no line label; write how its line begins, or \"\" where the section is one value"
    elif (section, line) in lines:
        yield f"{at}: line {line!r} of section {section} already belongs to {lines[section, line]}"
    else:
        lines[section, line] = entry["name"]
