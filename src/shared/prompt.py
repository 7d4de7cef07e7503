"""A kit's prompt: `prompt.md`, cut into named parts, with rules and fields rendered into it from the data files.

A part begins with a line `# name (system)` or `# name (user)`. `{{word}}` is filled by the kit; the parts before the
first one that holds `{{document}}` are the fixed prefix, byte-identical on every call, and must come first.
"""
import re
import time

from src.shared.fields import near
from src.shared.files import BadData, read_text
from src.shared.parts import Part

_HEADING = re.compile(r"^# ([a-z_]+) \((system|user)\)\n", re.MULTILINE)
_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
PER_DOCUMENT = "document"
KEEPERS = "## For those who keep this page"     # the last heading of a page of which the rest is sent
WORDS = {"==": "is", "!=": "is not", "in": "is one of", "not in": "is none of", "includes": "includes", "is stated": "is stated",
         "is not stated": "is not stated"}


class Prompt(list):
    """The [Part] of one call in send order. `.filled_in`: the seconds that filling them in took, once the page was read."""

    filled_in = 0.0


class Template:
    """A validated prompt.md with its fixed parts already filled."""

    def __init__(self, path, parts, filled, per_document):
        self.path, self.per_document = path, per_document
        self.parts = [(name, role, _PLACE.sub(lambda m: filled.get(m[1], m[0]), text), _moves(text, per_document))
                      for name, role, text in parts]

    def fill(self, **per_document):
        """The Prompt of one document. Document text is inserted once and never read again."""
        begun = time.perf_counter()
        prompt = Prompt(Part(name, role, _PLACE.sub(lambda m: per_document[m[1]], text) if moves else text, not moves, None)
                        for name, role, text, moves in self.parts)
        prompt.filled_in = time.perf_counter() - begun
        return prompt


def load(path, filled, per_document=(PER_DOCUMENT,)):
    """Read prompt.md. `filled` {placeholder: text} for the fixed parts; `per_document` names those filled on each call.

    BadData for a file without parts, an unknown or unused placeholder, or a fixed part behind one that changes. With a
    text that is None, since what it says has been refused, the file is judged and there is no Template: None.
    """
    text = read_text(path)
    heads = list(_HEADING.finditer(text))
    if not heads or text[:heads[0].start()].strip():
        raise BadData(f"{path}: line 1: a part begins with a line like `# instructions (system)`")
    ends = [head.start() for head in heads[1:]] + [len(text)]
    parts = [(head[1], head[2], text[head.end():end].strip("\n") + "\n\n") for head, end in zip(heads, ends)]
    problems = list(_problems(parts, path, filled.keys() | set(per_document), per_document))
    if problems:
        raise BadData(*problems)
    return None if None in filled.values() else Template(path, parts, filled, per_document)


def rendered(renders, *given):
    """{placeholder: text} of {placeholder: function of what is given}; None for each where some of that was refused."""
    return {name: None if None in given else render(*given) for name, render in renders.items()}


def read_page(path):
    """What a page in prose says to its readers: all that stands before its heading KEEPERS, the last of the page.

    BadData where that heading is missing, stands twice or is not the last: then nobody can tell what is to be sent.
    """
    told, *kept = read_text(path).split(f"\n{KEEPERS}\n")
    if len(kept) != 1 or re.search("^#", kept[0], re.MULTILINE):
        raise BadData(f"{path}: one last heading {KEEPERS!r} is wanted; what stands behind it is not sent to a model")
    return told.strip() + "\n"


def render_rules(table):
    """The rules of a Table as numbered text: id, class and outcome, the condition in words, when it does not apply."""
    return "\n".join(_rule(number, rule) for number, rule in enumerate(table.rules, 1))


def render_decisions(table):
    """What each decision means, one a line."""
    return "\n".join(f"- {name}: {why}" for name, why in table.document["decisions"].items())


def render_fields(fields):
    """Every field, one a line: name, type, unit, allowed words, whether it may be null, description."""
    return "\n".join(f"- {field.name} ({_type(field)}): {field.description}" for field in fields.all)


def say(clause):
    """A clause in words, fields by name.

    >>> say({"field": "days_to_harvest", "test": ">=", "value": "$pre_harvest_interval_days", "unit": "days"})
    'days_to_harvest >= pre_harvest_interval_days (days)'
    """
    if "field" in clause:
        value = clause.get("value")
        value = "" if value is None else str(value).removeprefix("$") if isinstance(value, str) else _literal(value)
        unit = f"({clause['unit']})" if clause.get("unit") not in (None, "count") else ""
        return " ".join(filter(None, [clause["field"], WORDS.get(clause["test"], clause["test"]), value, unit]))
    if "not" in clause:
        return f"not ({say(clause['not'])})"
    word = "all" if "all" in clause else "any"
    return {"all": ", and ", "any": ", or "}[word].join(say(part) for part in clause[word])


def _rule(number, rule):
    head = f"{number}. {rule['id']}: "
    kind = f"{rule['class']}, " if "class" in rule else ""
    if "when" in rule:
        lines = [f"{head}{kind}{rule['decision']}", f"   when {say(rule['when'])}"]
    else:
        lines = [f"{head}{kind}breach means {rule['decision']}", f"   requires {say(rule)}"]
    if "not_applicable" in rule:
        lines.append(f"   does not apply when {say(rule['not_applicable'])}")
    return "\n".join([*lines, f"   {rule['why']}"])


def _type(field):
    kind = {"list": "string, names with commas between them", "enum": "one of " + ", ".join(field.allowed or ()),
            "text": "string, copied character for character", "date": "string, YYYY-MM-DD"}.get(field.type, field.type)
    return kind + (f", in {field.unit}" if field.unit else "") + (", or null" if field.nullable else "")


def _literal(value):
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _moves(text, per_document):
    return any(place in per_document for place in _PLACE.findall(text))


def _problems(parts, path, known, per_document):
    used, moved = set(), None
    for name, _, text in parts:
        used.update(_PLACE.findall(text))
        if _moves(text, per_document):
            moved = name
        elif moved:
            yield f"{path}: part {name} is the same on every call but stands behind {moved}; put fixed parts first"
    for place in sorted(used - known):
        yield f"{path}: {{{{{place}}}}} is no placeholder of this kit{near(place, known)}"
    for place in sorted(known - used):
        yield f"{path}: {{{{{place}}}}} is used nowhere; the prompt must carry it"
