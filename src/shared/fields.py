"""The fields of a kit: `fields.json`, validated when read, and one raw row → typed values.

A field has a name, a type (string, text, list, number, enum, date, datetime), and where they apply a unit, allowed
words, a section and a line label on the page, and phrases that mean "not stated". Fields marked `decided` are answers
of the rules; fields marked `never_read` are copied and may be operands of no rule; names marked `one_name` are refused
where they may be several, or none.
"""
import functools

from src.shared import shapes
from src.shared import values as v
from src.shared.files import tell
from src.shared.values import near

TYPES = ("string", "text", "list", "number", "enum", "date", "datetime")
KINDS = {"name": shapes.TEXT, "type": shapes.TEXT, "unit": shapes.TEXT, "nullable": shapes.FLAG, "section": shapes.TEXT,
         "line": shapes.TEXT, "decided": shapes.FLAG, "never_read": shapes.FLAG, "one_name": shapes.FLAG,
         "allowed": shapes.TEXT_OR_TEXTS, "not_stated": shapes.TEXTS, "description": shapes.TEXT}
SECTIONS = {"sent": shapes.TEXTS, "withheld": shapes.TEXTS}
OUTLINE = {"fields": shapes.some(shapes.LIST), "units": shapes.WORDS_BY_NAME,
           "sections": shapes.record(SECTIONS, SECTIONS)}
NAMED = shapes.Kind(lambda value: shapes.OBJECT.holds(value) and shapes.SAID.holds(value.get("name")),
                    "an object with a name")
NO_UNIT = frozenset()
NO_LINE = "no line label; write how its line begins, or \"\" where the section is one value"
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
        read = {"string": v.read_one_name if self.one_name else v.read_name, "text": v.read_text,
                "list": lambda raw: v.read_list(raw, self.allowed, self.one_name),
                "enum": lambda raw: v.read_word(raw, self.allowed),
                "date": v.read_date, "datetime": v.read_date_time}[self.type]
        if not self.silent:
            return read
        return lambda raw: None if type(raw) is str and v.fold_name(raw) in self.silent else read(raw)


class Fields:
    """All fields of a kit in order, by name, and the sections that are sent or withheld.

    Where problems were collected, the fields that have one are in `.unsound` by name and nowhere else; None is among
    them where a name could not be read.
    """

    def __init__(self, path, document, vocabularies, unsound=frozenset()):
        self.path, self.unsound = path, unsound
        sections = document.get("sections") or {}
        self.sections_sent, self.sections_withheld = (tuple(sections.get(part, ())) for part in SECTIONS)
        entries = [entry for entry in document["fields"] or () if NAMED.holds(entry) and entry["name"] not in unsound]
        for entry in entries:
            if isinstance(entry.get("allowed"), str):
                entry["allowed"] = tuple(vocabularies[entry["allowed"][1:]])
        self.all = [Field(entry, document.get("units", {})) for entry in entries]
        self.by_name = {field.name: field for field in self.all}
        self.copied = [field for field in self.all if not field.decided]
        self.decided = [field for field in self.all if field.decided]

    def may_be(self, name):
        """Whether a field of this name may be meant by the file, and is only not sound."""
        return name in self.unsound or None in self.unsound

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


def load(path, vocabularies, problems=None, asked=None):
    """fields.json → Fields. `vocabularies` fills `"allowed": "$name"`, e.g. {"decisions": (…), "rules": (…)}; one that
    could not be read is None. `asked` {name: type, or None for any}: the fields that code asks for by their names.

    BadData lists every problem with its JSON pointer, what was expected and the nearest valid name. With a list of
    `problems` they are put into it instead, and the Fields have the fields that are sound.
    """
    found = []
    document = shapes.read(path, OUTLINE, found, ("units", "sections"))
    told = list(_problems(document, path, vocabularies, asked or {}))
    tell(found + [sentence for _, sentence in told if sentence], problems)
    return Fields(path, document, vocabularies, frozenset(name for name, _ in told))


def misspelt(given, known, beside=()):
    """A sentence for each given name that is none of the `known` and near one that is not given: it was not read.

    In a row {name: value} a name whose value is null is not given. A name with its letters turned round is a slip of
    the hand even beside the right one. Names `beside` are somebody else's and no slip.
    """
    strangers = tuple([name for name in given if name not in beside and name not in known])
    if not strangers:
        return []
    values = given if isinstance(given, dict) else dict.fromkeys(given, True)
    absent = tuple([name for name in known if values.get(name) is None])
    return list(_slips(strangers, absent, tuple(known)))


def unread(row, known, beside=()):
    """One sentence on all keys of a row that have a value and are none of the `known`, each with the near one; or [].

    Other than `misspelt` it does not ask how near: where a value is missing, any of them may have been meant for it.
    """
    keys = [f"{v.cut(str(key))}{near(key, known)}" for key, value in row.items()
            if value is not None and key not in known and key not in beside]
    return [f"given and not read: {', '.join(keys)}"] if keys else []


@functools.lru_cache(maxsize=256)
def _slips(strangers, absent, known):
    """The sentences of `misspelt`, remembered: the rows of one file have their slips in common."""
    turned = {"".join(sorted(name)): name for name in known}
    slips = {name: [*absent, *filter(None, [turned.get("".join(sorted(str(name))))])] for name in strangers}
    return tuple(f"{name} is no field{close}; {name} was not read" for name, meant in slips.items()
                 if (close := near(name, meant, 0.75)))


def _problems(document, path, vocabularies, asked):
    """(name of the field, sentence) of everything that is wrong in single fields.

    The name is None where it cannot be read, the sentence where what the field hangs on has been refused already.
    """
    types, lines = {}, {}
    if document["fields"] is None:
        yield None, None
    for i, entry in enumerate(document["fields"] or ()):
        if not NAMED.holds(entry):
            yield None, f"{path}: /fields/{i}: {v.shown(entry)} is not {NAMED.words}"
            continue
        name, at = entry["name"], f"{path}: /fields/{i} ({v.cut(entry['name'])})"
        if name in types:
            yield name, f"{at}: the name stands twice; names are unique"
        for problem in _entry_problems(entry, at, document, vocabularies, lines):
            yield name, problem
        types[name] = entry.get("type")
    for name, type_ in asked.items() if document["fields"] else ():
        if name not in types:
            yield name, f"{path}: /fields: {name} is missing; code asks for a field of this name{near(name, types)}"
        elif type_ not in (None, types[name]):
            yield name, f"{path}: /fields ({name}): type {v.shown(types[name])}: code asks for a {type_} here"


def _entry_problems(entry, at, document, vocabularies, lines):
    for key in entry.keys() - KINDS.keys():
        yield f"{at}: unknown key {key!r}{near(key, KINDS)}"
    unfit = list(shapes.misfits(entry, KINDS, at, ("type", "nullable", "description")))
    yield from unfit
    if unfit:
        return
    units, sent = document.get("units", {}), (document.get("sections") or {}).get("sent", [])
    if entry["type"] not in TYPES:
        yield f"{at}: type {v.shown(entry['type'])} is not one of {', '.join(TYPES)}{near(entry['type'], TYPES)}"
    if "unit" in entry and units is None:
        yield None
    elif "unit" in entry and entry["unit"] not in units:
        yield f"{at}: unit {v.shown(entry['unit'])} is not one of {', '.join(units)}{near(entry['unit'], units)}"
    yield from _vocabulary(entry, at, vocabularies)
    if sent and not entry.get("decided"):
        yield from _place(entry, at, sent, lines)
    elif "section" in entry and "line" not in entry:
        yield f"{at}: {NO_LINE}"


def _vocabulary(entry, at, vocabularies):
    allowed = entry.get("allowed")
    if entry["type"] not in ("enum", "list"):
        if allowed is not None:
            yield f"{at}: allowed belongs to the type enum or list, not to {v.shown(entry['type'])}"
    elif isinstance(allowed, str):
        if allowed[:1] != "$" or allowed[1:] not in vocabularies:
            yield f"{at}: allowed {v.shown(allowed)} is not one of {', '.join('$' + name for name in vocabularies)}"
        elif vocabularies[allowed[1:]] is None:
            yield None
    elif not allowed and (entry["type"] == "enum" or allowed == []):
        yield f"{at}: allowed is missing; write the list of its words"


def _place(entry, at, sent, lines):
    section, line = entry.get("section"), entry.get("line")
    if section not in sent:
        yield f"{at}: section {v.shown(section)} is not one of the sections sent: {', '.join(sent)}"
    if line is None:
        yield f"{at}: {NO_LINE}"
    elif (section, line) in lines:
        yield f"{at}: line {line!r} of section {section} already belongs to {lines[section, line]}"
    else:
        lines[section, line] = entry["name"]
