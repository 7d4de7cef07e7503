"""Rules in two renderings, like the two sides of a ledger: JSON and the tables of a `policy.md`, for the label gates.

A condition is one line of text in both: `days_to_harvest < 0 days`, `partner == "none" or listed == "none"`. JSON
clauses are written out in that form, compared with the tables cell by cell, and walked from there, each rendering by
itself. Words stand in quotes, fields do not. Imports only the standard library.
"""
import operator
import re
import unicodedata
from collections import namedtuple
from decimal import Decimal
from functools import lru_cache
from itertools import zip_longest

from evals.shared.strict import fold, nearest, read_text, shape, shown

CLAUSE = {"field": str, "test": str}
CLAUSE_MORE = {"value": object, "unit": str}
GROUPS = {"any": " or ", "all": " and "}

# Printed for an apostrophe, for a hyphen; the signs of a trade mark, which are no part of a name.
ALIKE = {0x2019: "'", 0x2010: "-", 0x2011: "-", 0xae: None, 0x2122: None}

ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
TESTS = {
    "in": lambda one, many: _name(one) in _names(many),
    "not in": lambda one, many: _name(one) not in _names(many),
    "includes": lambda many, one: _name(one) in _names(many),
    "==": lambda one, other: _folded(one) == _folded(other),
    "!=": lambda one, other: _folded(one) != _folded(other),
    **ORDER,
}
STATED, UNSTATED = "is stated", "is not stated"
OPERAND = r'(?:"([^"]*)"|(-?[0-9]+(?:\.[0-9]+)?)|(\w+))(?: (\S+))?'
ATOM = re.compile(rf"(\w+) ({STATED}|{UNSTATED}|not in|includes|in|[<>=!]=|[<>])(?: {OPERAND})?")

# Of running text: what names a word of the tables, a pair of outcome and rule, and a number of days.
CODE = re.compile(r"`([^`]+)`|\b[A-Z]{2,}(?:-[A-Z0-9]+)+\b")
BY = re.compile(r"`([^`]+)` by `([^`]+)`")
NUMBERS = {word: str(number) for number, word in enumerate(
    "no one two three four five six seven eight nine ten eleven twelve".split())} | {
        "thirty": "30", "sixty": "60", "ninety": "90"}
DAYS = re.compile(rf"\b([0-9]+|{'|'.join(NUMBERS)}) days\b", re.IGNORECASE)

Atom = namedtuple("Atom", "field test word number name unit")  # one of word, number, name is the operand, or none is


def tables(report, file, heads):
    """The rows of cells under each of the named heads, {name: [cells]}; None where the file or a head is missing."""
    text, found, rows, ruled = read_text(report, file), {}, None, True
    if text is None:
        return None
    for number, line in enumerate(text.split("\n"), 1):
        cells = tuple(" ".join(cell.replace("`", "").split()) for cell in line.strip().split("|")[1:-1])
        name = next((name for name, head in heads.items() if head == cells), None)
        if not ruled and set("".join(cells)) != {"-"}:
            report.add(file, f"line {number}", "stands below the head of a table; write a line of dashes between them")
        ruled = not name
        if name in found:
            report.add(file, f"line {number}", f"a second table headed {' | '.join(cells)}; keep one")
        if name:
            head, rows = heads[name], found.setdefault(name, [])
        elif not cells:
            rows = None
        elif rows is not None and set("".join(cells)) != {"-"}:
            rows.append(cells if len(cells) == len(head) else None)
            if rows[-1] is None:
                report.add(file, f"line {number}", f"{len(cells)} cells; one for each of {' | '.join(head)} is wanted")
    missing = [head for name, head in heads.items() if name not in found]
    for head in missing:
        report.add(file, "", f"no table headed | {' | '.join(head)} |; write one, a row for each row of the JSON file")
    return None if missing else found


def prose(report, file, rows, ruled):
    """Hold what a file says between its tables against them; returns its paragraphs and points, each as one line.

    A word in backticks, or in capitals with a hyphen, has to be a cell of the tables or a file beside this one; an
    outcome said to come by a rule has to be that rule's; days in a point about one rule are days of that rule. `rows`
    as `tables` gives them; those under the heads in `ruled` are (order, rule, …, outcome).
    """
    text = "\n".join("" if line.startswith("|") else line for line in (read_text(report, file) or "").split("\n"))
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=\* )", text) if block.strip()]
    known = {cell for table in rows.values() for row in table if row for cell in row}
    rules = {row[1]: row for name in ruled for row in rows[name] if row}
    for block in blocks:
        for word in dict.fromkeys(found[1] or found[0] for found in CODE.finditer(block)):
            if word not in known and not (report.folder / word).is_file():
                report.add(file, shown(block, 40), f"{word} stands in no table of this file; {nearest(word, known)}")
        for outcome, rule in BY.findall(block):
            if rule in rules and rules[rule][-1] != outcome:
                report.add(file, shown(block, 40), f"{outcome} by {rule}: that rule gives {rules[rule][-1]}; make them "
                                                   f"agree")
        named = [word for word in rules if f"`{word}`" in block]
        for number in DAYS.findall(block) if len(named) == 1 else ():
            days = NUMBERS.get(number.lower(), number)
            if days not in re.findall("[0-9]+", " ".join(rules[named[0]][2:])):
                report.add(file, shown(block, 40), f"{number} days: {named[0]} reads "
                                                   f"{' | '.join(filter(None, rules[named[0]][2:]))}; make them agree")
    return blocks


def compare(report, heads, file, ours, other_file, theirs):
    """Report every cell in which two renderings differ. Rows are {table: [cells]}; a row that is None has no shape."""
    for table, head in heads.items():
        for place, (one, other) in enumerate(zip_longest(ours[table], theirs[table], fillvalue=()), 1):
            if one is None or other is None:
                continue
            if not (one and other):
                report.add(other_file, f"{table} row {place}", f"{' | '.join(map(str, one or other))}: stands only in "
                                                               f"{file if one else other_file}; write it in both")
            for column, here, there in zip(head, one, other):
                if here != there:
                    report.add(file, f"{table} row {place}", f"{column} is {here or 'blank'} here and "
                                                             f"{there or 'blank'} in row {place} of {other_file}; make "
                                                             f"the two agree")


def condition(report, file, row, data):
    """A JSON condition, one clause or one `any` or `all` of clauses, as text; what has no shape is reported, and ""."""
    group = next((key for key in GROUPS if type(data) is dict and key in data), None)
    if group is None:
        return clause(report, file, row, data) if shape(report, file, row, data, CLAUSE, CLAUSE_MORE) else ""
    if not shape(report, file, row, data, {group: list}, {}):
        return ""
    if not data[group]:
        report.add(file, row, f"{group} []: at least one clause is wanted; write it, or take the condition out")
    return GROUPS[group].join(condition(report, file, row, part) for part in data[group])


def clause(report, file, row, data, with_unit=True):
    """One clause `field test operand unit` as text; `$name` is a field, any other text a word."""
    value, operand = data.get("value"), ""
    if type(value) is str:
        operand = f" {value[1:]}" if value.startswith("$") else f' "{value}"'
    elif type(value) in (int, Decimal):
        operand = f" {value}" if type(value) is int else f" {value.normalize():f}"
    elif "value" in data:
        report.add(file, row, f"value {shown(value)}: a number, a word or $field is wanted")
    unit = f" {data['unit']}" if with_unit and "unit" in data else ""
    return f"{data['field']} {data['test']}{operand}{unit}"


@lru_cache(maxsize=1024)
def parse(text):
    """Condition text → (the truth that settles it alone, its atoms); an atom that cannot be read is None.

    >>> parse("days < 0 days")
    (False, [Atom(field='days', test='<', word=None, number='0', name=None, unit='days')])
    """
    word = " or " if " or " in text else " and "
    atoms = [ATOM.fullmatch(part) for part in text.split(word)]
    return word == " or ", [atom and Atom(*atom.groups()) for atom in atoms]


def truth(text, values):
    """True, False, or None where a value that matters is not stated."""
    settling, atoms = parse(text)
    results = [_holds(atom, values) for atom in atoms]
    if settling in results:
        return settling
    return None if None in results else not settling


def vet(report, file, row, text, unit, known):
    """Whether a condition can be walked: fields known ({name: field}), kinds that compare, one unit on every side.

    `unit` is the one declared beside the text, "" where the text carries its own.
    """
    atoms = parse(text)[1]
    if None in atoms:
        report.add(file, row, f"{shown(text)} is no condition; write field, test and operand with a test of "
                              f"{', '.join(TESTS)}, {STATED}, {UNSTATED}")
        return False
    return all([_vet_atom(report, file, row, atom, unit or atom.unit, known) for atom in atoms])


def _vet_atom(report, file, row, atom, unit, known):
    def refuse(message):
        report.add(file, row, message)
        return False

    operand = next((part for part in atom[2:5] if part is not None), None)
    for name in filter(None, (atom.field, atom.name)):
        if name not in known:
            return refuse(f"field {shown(name)} is not known here; {nearest(name, known)}")
        if known[name].get("never_read"):
            return refuse(f"{name} reaches no rule; take it out")
    if (operand is None) != (atom.test in (STATED, UNSTATED)):
        return refuse(f"{atom.test} {'needs an' if operand is None else 'takes no'} operand; mend the clause")
    if operand is None:
        return True
    left = known[atom.field]
    right = known.get(atom.name) or {"type": "string" if atom.number is None else "number", "unit": unit}
    if not _comparable(atom.test, left["type"], right["type"]):
        return refuse(f"{atom.field} ({left['type']}) {atom.test} {operand} ({right['type']}) has no truth; compare "
                      f"numbers with numbers, a name with a list of names")
    if left["type"] == "enum" and atom.word is not None and atom.word not in left["allowed"]:
        return refuse(f"{atom.field} is never {shown(atom.word)}; {nearest(atom.word, left['allowed'])}")
    units = left.get("unit"), right.get("unit") if atom.word is None else None, unit
    if len(set(units)) > 1:
        left, right, declared = (name or "no unit" for name in units)
        return refuse(f"{atom.field} is in {left}, {operand} in {right}, the rule in {declared}; compare one unit with "
                      f"itself")
    return True


def _comparable(test, left, right):
    numbers = (left, right).count("number")
    if test in ORDER:
        return numbers == 2 or (left, right) == ("date", "date")     # dates stand as ISO text, which sorts as they do
    if test == "includes":
        return left == "list" and right in ("string", "enum")
    return numbers != 1 if test in ("==", "!=") else right == "list" and left in ("string", "enum")


def _holds(atom, values):
    left = values[atom.field]
    if atom.test in (STATED, UNSTATED):
        return (left is None) == (atom.test == UNSTATED)
    right = atom.word if atom.word is not None else Decimal(atom.number) if atom.number else values[atom.name]
    return None if left is None or right is None else TESTS[atom.test](left, right)


@lru_cache(maxsize=1024)
def _names(text):
    return frozenset(map(_name, text.split(",")))


@lru_cache(maxsize=4096)
def _name(text):
    """A name as it is compared, always whole: one hyphen and one apostrophe for all, no sign of a trade mark, no full stop."""
    return unicodedata.normalize("NFC", fold(text.translate(ALIKE))).rstrip(". ")


def _folded(value):
    return _name(value) if type(value) is str else value
