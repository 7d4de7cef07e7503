"""Pages read a second way: fields.json and the documents, by a reader of its own for the label gates.

A document is cut at its underlined section titles; a field's value stands behind its line label in its section, or is
the section's whole text where the field has no label. Imports only the standard library.
"""
import re
from collections import Counter, namedtuple
from decimal import Decimal

from evals.shared.strict import fold, fold_word, nearest, read_json, read_text, shape, shown

FIELD = {"name": str, "type": str, "nullable": bool, "description": str}
FIELD_MORE = {"section": str, "line": str, "unit": str, "not_stated": "texts", "allowed": object, "decided": bool,
              "never_read": bool, "one_name": bool}
# How a row of fields.json stands in a table of policy.md, behind its name.
FIELD_CELLS = ("type", "words or unit", "null", "kept apart as", "place", "what it holds")
KEPT_APART = ("decided", "never_read", "one_name")
TYPES = ("string", "list", "enum", "number")
UNDERLINE = re.compile("-{3,}")
NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+|,[0-9]{1,2})?)(?![0-9.,])\s*(.*)")

# {name: field} of all and of the copied ones, names that no page is read for, {unit: folded spellings}, section titles
Fields = namedtuple("Fields", "all copied unsound units sent withheld")
# {copied field: value} as far as they could be read, the text of the sent sections and of the withheld ones
Page = namedtuple("Page", "values sent withheld")


def read_fields(report, words, never_read=frozenset()):
    """fields.json as Fields; what is wrong in it is reported and what can be read is kept.

    `words` resolves `"allowed": "$decisions"`; the fields in `never_read` have to be marked so.
    """
    data = read_json(report, "fields.json")
    if not (shape(report, "fields.json", "", data, {"units": dict, "sections": dict, "fields": list}, {})
            and shape(report, "fields.json", "units", data["units"], dict.fromkeys(data["units"], "texts"))
            and shape(report, "fields.json", "sections", data["sections"], {"sent": "texts", "withheld": "texts"}, {})):
        return Fields({}, {}, set(), {}, [], [])
    units = {unit: {fold(word) for word in spellings} for unit, spellings in data["units"].items()}
    fields = Fields({}, {}, set(), units, data["sections"]["sent"], data["sections"]["withheld"])
    for place, field in enumerate(data["fields"], 1):
        name = field.get("name", place) if type(field) is dict else place
        if shape(report, "fields.json", name, field, FIELD, FIELD_MORE):
            if name in fields.all:
                report.add("fields.json", name, "stands twice; keep one field of that name")
            fields.all[name] = {**field, "allowed": _allowed(report, field, words)}
            if not field.get("decided"):
                fields.copied[name] = fields.all[name]
            _vet_field(report, field, fields, never_read)
    _vet_places(report, fields)
    for word, times in Counter(word for spellings in units.values() for word in spellings).items():
        if times > 1:
            report.add("fields.json", "units", f"{shown(word)} spells {times} units; leave it to one")
    return fields


def field_rows(report, file, beside=()):
    """The fields and units of a file as rows for tables of policy.md: (fields, units); a row without shape is None.

    Keys `beside` them are somebody else's to judge.
    """
    data = read_json(report, file)
    if not (shape(report, file, "", data, {"fields": list}, {"units": dict, **dict.fromkeys(beside, object)})
            and shape(report, file, "units", data.get("units", {}), dict.fromkeys(data.get("units", ()), "texts"))):
        return [None], [None]
    return [_field_row(report, file, place, field) for place, field in enumerate(data["fields"], 1)], [
        (unit, ", ".join(spellings)) for unit, spellings in data.get("units", {}).items()]


def _field_row(report, file, place, field):
    name = field.get("name", place) if type(field) is dict else place
    if not shape(report, file, name, field, FIELD, FIELD_MORE):
        return None
    allowed = field.get("allowed", "")
    if not (type(allowed) is list and all(type(word) is str for word in allowed) or type(allowed) is str):
        report.add(file, name, f"allowed {shown(allowed)}: a list of words or the $name of one is wanted")
        return None
    words = [allowed if type(allowed) is str else ", ".join(allowed), field.get("unit"), *field.get("not_stated", ())]
    return (name, field["type"], "; ".join(filter(None, words)), "yes" if field["nullable"] else "no",
            ", ".join(part for part in KEPT_APART if field.get(part)),
            field.get("section", "") + _line(field.get("line")), field["description"])


def _line(label):
    """Where in its section a field stands, as a cell says it: "" is the whole of it, and no label is nowhere."""
    return "" if label is None else f" / {label}" if label else " /"


def read_page(report, file, fields):
    """A document as Page; each value that cannot be read from its line is reported and left out."""
    sections, values = cut(report, file, fields), {}
    for name, field in fields.copied.items():
        line, raw = _locate(report, file, field, sections) if name not in fields.unsound else (None, None)
        if raw is not None:
            try:
                values[name] = value_of(raw, field, fields.units)
            except ValueError as error:
                report.add(file, f"line {line}", f"{name} {shown(raw)}: {error}")
    _vet_lines(report, file, fields, sections)
    sent, withheld = ("\n".join(text for title in titles for _, text in sections.get(title, ()))
                      for titles in (fields.sent, fields.withheld))
    return Page(values, sent, withheld)


def value_of(raw, field, units):
    """A printed text as the field's value: Decimal, text, or None where a phrase says that nothing is stated.

    ValueError says what is wanted. A number needs its unit, behind it or in the line label, and no other.

    >>> value_of("2,5 L/ha", {"type": "number", "unit": "L/ha", "line": "rate:"}, {"L/ha": {"l/ha"}})
    Decimal('2.5')
    """
    kind, phrases = field["type"], field.get("not_stated", ())
    found = NUMBER.fullmatch(raw) if kind == "number" else None
    if found:
        return _number(*found.groups(), field, units[field["unit"]])
    if phrases and fold_word(raw) in map(fold_word, phrases):
        return None
    if kind == "enum" and raw not in field["allowed"]:
        raise ValueError(f"one of {', '.join(field['allowed'])} is wanted")
    if kind == "number":
        raise ValueError(f"a number in {field['unit']} is wanted" + (f" or one of {shown(phrases)}" if phrases else ""))
    return raw


def _number(digits, unit, field, spellings):
    bare = not unit and not spellings.isdisjoint(fold_word(field["line"]).rstrip(":").split())
    if not bare and fold_word(unit) not in spellings:
        raise ValueError(f"{field['unit']} is wanted behind the number, spelled {', '.join(sorted(spellings))}")
    return Decimal(digits.replace(",", "."))


def _allowed(report, field, words):
    allowed = field.get("allowed", [])
    if type(allowed) is str and (allowed in words or not words):
        return words.get(allowed, [])
    if type(allowed) is list and all(type(word) is str for word in allowed):
        return allowed
    report.add("fields.json", field["name"], f"allowed {shown(allowed)}: a list of words, or {' or '.join(words)}")
    return []


def _vet_field(report, field, fields, never_read):
    def refuse(key, remedy):
        fields.unsound.add(field["name"])
        given = shown(field[key]) if key in field else "is missing"
        report.add("fields.json", field["name"], f"{key} {given}: {remedy}")

    kind = field["type"]
    if kind not in TYPES:
        refuse("type", nearest(kind, TYPES))
    if kind == "number" and field.get("unit") not in fields.units:
        refuse("unit", f"a number is read in one of this file's units; {nearest(field.get('unit'), fields.units)}")
    if kind != "number" and "unit" in field:
        refuse("unit", "only a number has one; take it out")
    if (kind == "enum") != ("allowed" in field):
        refuse("allowed", "an enum lists its words, and nothing else does")
    if field["nullable"] != bool(field.get("not_stated")) and (field["nullable"] or not field.get("one_name")):
        refuse("not_stated", "a nullable field lists what the page prints in place of a value; beside it only a name that "
                             "is compared whole does, for a word that is none")
    if field["name"] in never_read and not field.get("never_read"):
        refuse("never_read", "no rule of this kit reads it; write true")
    for key in ("section", "line"):
        if (key in field) == field.get("decided", False):
            refuse(key, "a copied field says where it stands on the page, a decided one stands nowhere")
    if field.get("section") in fields.withheld:
        refuse("section", "is withheld from every call; read the field in a section that is sent")
    elif "section" in field and field["section"] not in fields.sent:
        refuse("section", nearest(field["section"], fields.sent))


def _vet_places(report, fields):
    """Every sent section has its fields; a field without a line label has its section to itself."""
    places = [(field.get("section"), field.get("line")) for field in fields.copied.values()]
    homes, lines = Counter(section for section, _ in places), Counter(places)
    for name, (section, line) in zip(fields.copied, places):
        if line is not None and (lines[section, line] > 1 or not line and homes[section] > 1):
            report.add("fields.json", name, f"line {shown(line)}: {section} holds {homes[section]} fields; give the "
                                            f"label that stands before this value and before no other")
    for title, times in Counter(fields.sent + fields.withheld).items():
        if times > 1:
            report.add("fields.json", "sections", f"{title} stands {times} times; it is sent or withheld, once")
        if title in fields.sent and not homes[title]:
            report.add("fields.json", "sections", f"{title} is sent although no field is read there; withhold it")


def cut(report, file, fields):
    """{title: [(line number, text)]} without blank lines; titles missing, repeated or out of order are reported."""
    lines = (read_text(report, file) or "").split("\n")
    heads = [place for place, line in enumerate(lines[1:]) if UNDERLINE.fullmatch(line)]
    sections, wanted = {}, fields.sent + fields.withheld
    for place, end in zip(heads, heads[1:] + [len(lines)]):
        title, row = lines[place], f"line {place + 1}"
        if len(lines[place + 1]) != len(title):
            report.add(file, row, f"{title} is underlined with {len(lines[place + 1])} dashes; write {len(title)}")
        if title not in wanted:
            report.add(file, row, f"{shown(title)} is no section of fields.json; {nearest(title, wanted)}")
        if title in sections:
            report.add(file, row, f"{title} stands a second time; keep one section of that title")
        sections.setdefault(title, [(n + 1, lines[n].strip()) for n in range(place + 2, end) if lines[n].strip()])
    for title in wanted:
        if not sections.get(title):
            report.add(file, "", f"section {title} is {'empty' if title in sections else 'missing'}; write it, with an "
                                 f"underlined title")
    if [title for title in sections if title in fields.sent] != [title for title in fields.sent if title in sections]:
        report.add(file, "", f"the sections stand as {', '.join(sections)}; put them in the order of fields.json")
    if any(line.strip() for line in lines[:heads[0] if heads else 0]):
        report.add(file, "line 1", "stands before the first section; move it into one")
    return sections


def _locate(report, file, field, sections):
    """(line number, text of the value) of a field, (None, None) where it has no single line."""
    lines, label = sections.get(field["section"]), field["line"]
    if not lines:
        return None, None
    if not label:
        return lines[0][0], "\n".join(text for _, text in lines)
    found = [(line, text[len(label):].strip()) for line, text in lines if text.startswith(label)]
    if len(found) != 1:
        report.add(file, field["section"], f"{len(found)} lines begin with {shown(label)}; exactly one is wanted")
        return None, None
    return found[0]


def _vet_lines(report, file, fields, sections):
    """Every line of a sent section is read by a field, so that nothing on a page stands outside the key."""
    for title in fields.sent if not fields.unsound else ():
        known = tuple(field["line"] for field in fields.copied.values() if field["section"] == title)
        for line, text in sections.get(title, ()):
            if not text.startswith(known):
                report.add(file, f"line {line}", f"{shown(text)} is read by no field; name its label in fields.json or "
                                                 f"take the line out")
