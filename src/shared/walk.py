"""Ordered rules as data: validate a table when it is read, walk it over one row of values, say what happened.

A table stops at its first *breach* (each rule is a requirement, as on a product label) or at its first *match* (each
rule is a case, as in a rulebook). A clause has five results: true, false, missing, not applicable and error. Whether a
rule applies is asked before its values are read, so a rule that does not apply never asks for a missing number.

    rule    {"id", "order", "field", "test", "value", "unit"?, "not_applicable"?, "decision", "why"}   stops_at breach
            {"id", "order", "when": clause, "decision", "why"}                                         stops_at match
    clause  {"field", "test", "value", "unit"?} | {"all": [clause…]} | {"any": [clause…]} | {"not": clause}
    value   a literal, or "$name" of another field

Not covered: expressions in strings, arithmetic, and rules that look at more than one row.
"""
import functools

from src.shared import shapes
from src.shared.fields import near
from src.shared.files import tell
from src.shared.values import Unreadable, cut, fold_name, shown

TRUE, FALSE, MISSING, NOT_APPLICABLE, ERROR = "true", "false", "missing", "not applicable", "error"
ORDERINGS = ("<", "<=", ">", ">=")
TESTS = ("==", "!=", *ORDERINGS, "in", "not in", "includes", "is stated", "is not stated")
ORDERED_TYPES = ("number", "date", "datetime")
DEEPEST = 20        # conditions inside conditions; nobody reads as many
CLAUSE = {"field": shapes.TEXT, "test": shapes.TEXT, "value": shapes.ANY, "unit": shapes.TEXT}
RULE = {"id": shapes.TEXT, "order": shapes.ANY, "class": shapes.TEXT, **CLAUSE, "not_applicable": shapes.OBJECT,
        "when": shapes.OBJECT, "decision": shapes.TEXT_OR_NULL, "why": shapes.TEXT, "source": shapes.TEXT}
MARK = {"id": shapes.TEXT, "when": shapes.OBJECT, "why": shapes.TEXT}
CLASS = {"decision": shapes.TEXT_OR_NULL, "why": shapes.TEXT}
ENDING = {"decision": shapes.TEXT_OR_NULL, "rule": shapes.TEXT}
STOPS = "breach", "match"
NAMED = shapes.Kind(lambda value: shapes.OBJECT.holds(value) and shapes.SAID.holds(value.get("id")),
                    "an object with an id")
TABLE = {"title": shapes.TEXT, "authority": shapes.TEXT,
         "stops_at": shapes.Kind(lambda value: value in STOPS, "breach or match"), "answers": shapes.TEXTS_BY_NAME,
         "decisions": shapes.some(shapes.TEXTS_BY_NAME),
         "passed": shapes.record(ENDING, ("decision",)), "missing": shapes.record(ENDING, ENDING),
         "classes": shapes.by_name(shapes.record(CLASS, ("why",))), "rules": shapes.some(shapes.LIST),
         "flags": shapes.list_of(shapes.record(MARK)), "hold": shapes.record(MARK), "notes": shapes.ANY}
NEEDED = ("stops_at", "decisions", "passed", "missing", "rules")


class Decision:
    """Where a walk ended: `.decision`, `.rule` (its id, or what `passed` names), `.trace`, `.error` (text or None)."""

    __slots__ = ("decision", "rule", "trace", "error")

    def __init__(self, decision, rule, trace, error=None):
        self.decision, self.rule, self.trace, self.error = decision, rule, trace, error


class Table:
    """A validated table: `.rules` in order, `.decisions` and `.rule_ids` as vocabularies, `.reads` the operands."""

    def __init__(self, document, fields):
        self.document = document
        self.rules = sorted(document["rules"], key=lambda rule: rule["order"])
        self.decisions = tuple(document["decisions"])
        self.rule_ids = rule_ids(document)
        self.reads = tuple(sorted({name for rule in self.rules for name in _operands(rule)}))
        self.flags = document.get("flags", [])
        self._walk = [(rule, *_compiled(rule, document, fields)) for rule in self.rules]
        self._flags = [(flag, compile_clause(flag["when"], fields)) for flag in self.flags]
        self._breach = document["stops_at"] == "breach"

    def decide(self, values, findings):
        """Walk the rules over one row. `values` {field: value or None}, `findings` {field: Finding} of what gave none.

        The trace has an entry for each rule looked at: rule, result (pass, skipped, breached, matched, not readable,
        error), and where values were compared field, value, test, limit, unit and by how much they are apart.
        """
        trace = []
        for rule, applies, clause, show, entry in self._walk:
            step = entry.copy()
            trace.append(step)
            result = applies(values, findings) if applies else FALSE
            if result is TRUE:
                step["result"] = "skipped"
                continue
            if result is FALSE:
                result = clause(values, findings)
                if show:
                    show(step, values, findings)
            if result is MISSING:
                step["result"] = "not readable"
                return Decision(self.document["missing"]["decision"], rule["id"], trace)
            if result is ERROR:
                step["result"] = "error"
                return Decision(None, rule["id"], trace, _why_error(rule, findings))
            if (result is FALSE) is self._breach:
                step["result"] = "breached" if self._breach else "matched"
                if show:
                    _show_gap(step)
                return Decision(rule["decision"], rule["id"], trace)
            step["result"] = "pass"
            if step.get("test") == "not in":
                _show_gap(step)
        return Decision(self.document["passed"]["decision"], self.document["passed"]["rule"], trace)

    def raised(self, values, findings):
        """The flags (entries of the table's `flags`) whose condition holds on this row."""
        return [flag for flag, clause in self._flags if clause(values, findings) is TRUE]


def rule_ids(document):
    """The words that may name a deciding rule: every rule's id, then what `passed` says."""
    return (*(rule["id"] for rule in document["rules"]), document["passed"]["rule"])


def read_document(path, problems=None, needed=()):
    """A table file as JSON with the outline that `fields.load` and `load` need; see `outline`."""
    found = []
    document = shapes.read(path, TABLE, found, TABLE.keys() - {*NEEDED, *needed})
    tell(found, problems)
    return document


def outline(path, document, problems, needed=()):
    """The keys of one table, None for each that is broken or needed and missing; `path` names where it stands.

    `needed` are the keys that the kit wants beside those of every table. What is wrong is put into `problems`; of a
    document that is None that has been done already.
    """
    return shapes.sound(document, TABLE, path, problems, TABLE.keys() - {*NEEDED, *needed})


def vocabulary(document):
    """{"decisions", "rules"}: the words of an outline that a field may have, each None where it is broken."""
    is_known = document["passed"] and document["rules"] and all(map(NAMED.holds, document["rules"]))
    return {"decisions": document["decisions"] and tuple(document["decisions"]),
            "rules": rule_ids(document) if is_known else None}


def load(path, document, fields, problems=None, given=None):
    """The outline of a table and the kit's Fields → Table. BadData lists every problem with JSON pointer and remedy.

    With a list of `problems` they are put into it instead. Of what is broken itself nothing more is said, since its own
    problem comes first; with any such there is no Table: None. `given`: names of the fields that the kit gives this
    table, all where it is None.
    """
    found = list(_problems(document, path, fields))
    if given is not None and not found:
        read = [name for rule in document["rules"] or () for name in _operands(rule)]
        read += [name for flag in document.get("flags") or () for name in operands(flag["when"])]
        found = [f"{path}: {name} is given to no rule of this table; it may read {', '.join(given)}"
                 for name in dict.fromkeys(read) if name not in given]
    tell(found, problems)
    is_sound = not found and not fields.unsound and None not in (*document.values(), *vocabulary(document).values())
    return Table(document, fields) if is_sound else None


def compile_clause(clause, fields):
    """A clause → function(values, findings) → TRUE, FALSE, MISSING or ERROR."""
    if "all" in clause:
        parts = [compile_clause(part, fields) for part in clause["all"]]
        return lambda values, findings: _joined([part(values, findings) for part in parts], FALSE, TRUE)
    if "any" in clause:
        parts = [compile_clause(part, fields) for part in clause["any"]]
        return lambda values, findings: _joined([part(values, findings) for part in parts], TRUE, FALSE)
    if "not" in clause:
        part = compile_clause(clause["not"], fields)
        turned = {TRUE: FALSE, FALSE: TRUE}
        return lambda values, findings: turned.get(result := part(values, findings), result)
    return _compile_test(clause, fields)


def operands(clause):
    """Names of the fields that a clause reads, in order."""
    if "field" in clause:
        value = clause.get("value")
        return [clause["field"], *([value[1:]] if isinstance(value, str) and value[:1] == "$" else [])]
    parts = clause.get("all") or clause.get("any") or [clause["not"]]
    return [name for part in parts for name in operands(part)]


def near_names(name, names):
    """Names of a list that resemble `name` without being it: shown to a person, never part of a decision."""
    return list(_near_names(name, tuple(names)))


def _joined(results, decides, otherwise):
    """Kleene's `any` (decides TRUE) or `all` (decides FALSE); an error is an error in any company."""
    if ERROR in results:
        return ERROR
    return decides if decides in results else MISSING if MISSING in results else otherwise


def _compile_test(clause, fields):
    name, test, value = clause["field"], clause["test"], clause.get("value")
    if test in ("is stated", "is not stated"):
        hit, miss = (FALSE, TRUE) if test == "is stated" else (TRUE, FALSE)
        return lambda values, findings: (_unset(findings, name) if name in findings and
                                         _unset(findings, name) is ERROR else hit if values[name] is None else miss)
    compare = _comparison(test, fields.by_name[name].type)
    if isinstance(value, str) and value[:1] == "$":
        other = value[1:]

        def against_field(values, findings):
            left, right = values[name], values[other]
            if left is None or right is None:
                return _unset(findings, name, other)
            return TRUE if compare(left, right) else FALSE
        return against_field

    value = _literal_of(fields.by_name[name], value)

    def against_literal(values, findings):
        left = values[name]
        return _unset(findings, name) if left is None else TRUE if compare(left, value) else FALSE
    return against_literal


def _literal_of(field, value):
    """A literal of the file as the field's own type: a date text becomes a date, a list stays a list of such."""
    if isinstance(value, list):
        return tuple(field.read(entry) for entry in value)
    return value if field.type == "list" else field.read(value)


def _unset(findings, *names):
    """Why an operand has no value: MISSING where none is stated, ERROR where something stands that cannot be read."""
    for name in names:
        finding = findings.get(name)
        if isinstance(finding, Unreadable):
            return ERROR
    return MISSING


def _comparison(test, type_):
    """The comparison of one test for one field type; names are compared folded and whole."""
    if type_ in ORDERED_TYPES:
        return {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
                "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
                "in": lambda a, b: a in b, "not in": lambda a, b: a not in b}[test]
    if type_ == "list":
        return {"==": lambda a, b: _folded(a) == (fold_name(b),), "!=": lambda a, b: _folded(a) != (fold_name(b),),
                "includes": lambda a, b: fold_name(b) in _folded(a)}[test]
    return {"==": lambda a, b: fold_name(a) == fold_name(b), "!=": lambda a, b: fold_name(a) != fold_name(b),
            "in": lambda a, b: fold_name(a) in _folded(b), "not in": lambda a, b: fold_name(a) not in _folded(b)}[test]


def _folded(names):
    return _folded_tuple(tuple(names))


@functools.lru_cache(maxsize=4096)
def _folded_tuple(names):
    return tuple(map(fold_name, names))


@functools.lru_cache(maxsize=1024)
def _near_names(name, names):
    import difflib
    wanted = fold_name(name)
    close = set(difflib.get_close_matches(wanted, [fold_name(other) for other in names], 3, 0.6))
    return tuple(other for other in names if fold_name(other) != wanted and
                 (fold_name(other) in close or wanted in fold_name(other) or fold_name(other) in wanted))


def _compiled(rule, document, fields):
    """(applies-not function or None, clause function, what shows its operands or None, the constant part of its entry).
    """
    guard = rule.get("not_applicable")
    applies_not = compile_clause(guard, fields) if guard else None
    if document["stops_at"] == "match":
        return applies_not, compile_clause(rule["when"], fields), None, {"rule": rule["id"], "result": None}
    entry = {"rule": rule["id"], "result": None, "field": rule["field"], "test": rule["test"], "against": rule["value"]}
    if rule.get("unit"):
        entry["unit"] = rule["unit"]
    return applies_not, _compile_test(rule, fields), _shown_operands(rule), entry


def _shown_operands(rule):
    """function(trace entry, values, findings) that puts both operands of a rule into its entry."""
    field, against, (_, *other) = rule["field"], rule["value"], operands(rule)

    def show(step, values, findings):
        step["value"] = values[field]
        step["limit"] = values[other[0]] if other else against
        raw = {name: findings[name].raw for name in (field, *other) if name in findings} if findings else None
        if raw:
            step["raw"] = raw
    return show


def _show_gap(step):
    """How far a compared value is from its limit, or which names of the list come near it."""
    if step["test"] in ORDERINGS:
        gap = step["limit"] - step["value"] if step["test"] in (">", ">=") else step["value"] - step["limit"]
        step["off_by"] = gap.days if hasattr(gap, "days") else gap
    elif step["test"] in ("in", "not in"):
        names = near_names(step["value"], step["limit"])
        if names:
            step["near"] = names


def _why_error(rule, findings):
    read = [name for name in _operands(rule) if name in findings and isinstance(findings[name], Unreadable)]
    return "; ".join(f"{name}: {findings[name]}" for name in read) + f" (needed by {rule['id']})"


def _operands(rule):
    """Field names that a rule reads, guard first, in order, each once."""
    names = []
    for clause in (rule.get("not_applicable"), rule.get("when"), rule if "field" in rule else None):
        names += operands(clause) if clause else []
    return list(dict.fromkeys(names))


# Validation: everything below yields sentences and changes nothing.

def _problems(document, path, fields):
    decisions, passed = document["decisions"], document["passed"] or {}
    rules = [(i, rule) for i, rule in enumerate(document["rules"] or ()) if NAMED.holds(rule)]
    yield from (f"{path}: /rules/{i}: {shown(rule)} is not {NAMED.words}"
                for i, rule in enumerate(document["rules"] or ()) if not NAMED.holds(rule))
    for key in ("passed", "missing") if decisions else ():
        if document[key] is not None and document[key].get("decision", "") not in (*decisions, None):  # null: nothing
            yield (f"{path}: /{key}/decision: {shown(document[key].get('decision'))} is not one of "
                   f"{', '.join(decisions)}{near(document[key].get('decision'), decisions)}")
    yield from _orders(rules, path)
    for place, (i, rule) in enumerate(rules):
        at = f"{path}: /rules/{i} ({cut(rule['id'])})"
        yield from _rule_problems(rule, at, document, fields)
        if rule["id"] == passed.get("rule"):
            yield f"{at}: the id is the word for 'no rule decided'; give the rule another"
        for _, earlier in rules[:place]:
            if earlier["id"] == rule["id"]:
                yield f"{at}: the id stands twice; ids are unique"
            elif _same_condition(earlier, rule):
                yield f"{at}: can never decide, {earlier['id']} before it has the same condition; delete one"
    for i, flag in enumerate(document.get("flags") or ()):
        yield from _clause_problems(flag["when"], f"{path}: /flags/{i}/when", fields)
    if document.get("hold"):
        yield from _clause_problems(document["hold"]["when"], f"{path}: /hold/when", fields, True)


def _orders(rules, path):
    taken = {}
    for i, rule in rules:
        order = rule.get("order")
        if type(order) is not int or order < 1:
            yield f"{path}: /rules/{i}/order: {shown(order)} is not a whole number from 1"
        elif taken.setdefault(order, rule) is not rule:
            yield f"{path}: /rules/{i}/order: {order} is already the order of {cut(taken[order]['id'])}"


def _rule_problems(rule, at, document, fields):
    yield from shapes.unknown(rule, RULE, at)
    unfit = list(shapes.misfits(rule, RULE, at))
    yield from unfit
    if unfit:
        return
    if document["decisions"] and rule.get("decision") not in document["decisions"]:
        yield (f"{at}: decision {shown(rule.get('decision'))} is not one of "
               f"{', '.join(document['decisions'])}{near(rule.get('decision'), document['decisions'])}")
    if not isinstance(rule.get("why"), str):
        yield f"{at}: why is missing; say the rule in one sentence"
    classes = document.get("classes")
    if classes:
        kind = classes.get(rule.get("class"))
        if kind is None:
            yield f"{at}: class {shown(rule.get('class'))} is not one of {', '.join(classes)}"
        elif kind["decision"] != rule.get("decision"):
            yield (f"{at}: class {rule['class']} breaches to {shown(kind['decision'])}, the rule says "
                   f"{shown(rule.get('decision'))}")
    if "not_applicable" in rule:
        yield from _clause_problems(rule["not_applicable"], f"{at}/not_applicable", fields)
    if document["stops_at"] == "match":
        yield from _clause_problems(rule.get("when"), f"{at}/when", fields)
    elif document["stops_at"] == "breach":
        yield from _test_problems(rule, at, fields)


def _clause_problems(clause, at, fields, decided=False, deep=0):
    if not isinstance(clause, dict) or deep > DEEPEST:
        yield f"{at}: {shown(clause)} is not a condition" + f", it nests more than {DEEPEST} deep" * (deep > DEEPEST)
        return
    groups = clause.keys() & {"all", "any", "not"}
    if not groups:
        yield from shapes.unknown(clause, CLAUSE, at)
        yield from list(shapes.misfits(clause, CLAUSE, at)) or _test_problems(clause, at, fields, decided)
    elif len(clause) > 1:
        yield f"{at}: {', '.join(sorted(clause))} stand in one condition; nest them"
    elif "not" in groups:
        yield from _clause_problems(clause["not"], f"{at}/not", fields, decided, deep + 1)
    else:
        (key, parts), = clause.items()
        if not isinstance(parts, list) or not parts:
            yield f"{at}/{key}: a list of conditions is wanted"
        for i, part in enumerate(parts if isinstance(parts, list) else ()):
            yield from _clause_problems(part, f"{at}/{key}/{i}", fields, decided, deep + 1)


def _test_problems(clause, at, fields, decided=False):
    name, test, value = clause.get("field"), clause.get("test"), clause.get("value")
    field = fields.by_name.get(name)
    if field is None and not fields.may_be(name):
        yield f"{at}: field {shown(name)} is not in {fields.path.name}{near(name, fields.by_name)}"
    elif field and (field.never_read or field.decided and not decided):
        yield f"{at}: field {name} is {'copied only' if field.never_read else 'an answer'} and may reach no rule"
    if test not in TESTS:
        yield f"{at}: test {shown(test)} is not one of {', '.join(TESTS)}"
    elif field is not None:
        yield from _operand_problems(clause, at, field, fields)


def _operand_problems(clause, at, field, fields):
    test, value = clause["test"], clause.get("value")
    if test in ("is stated", "is not stated"):
        if "value" in clause:
            yield f"{at}: test {test!r} takes no value"
        return
    if test in ORDERINGS and field.type not in ORDERED_TYPES:
        yield f"{at}: {field.name} is a {field.type}; {test} orders numbers and dates only"
    if field.type == "list" and test not in ("==", "!=", "includes"):
        yield f"{at}: {field.name} is a list; put it on the right of `in`, or compare it with == or includes"
    if field.type != "list" and test == "includes":
        yield f"{at}: {field.name} is a {field.type}; only a list includes a word"
    if clause.get("unit") != field.unit:
        yield (f"{at}: {field.name} is in {field.unit}, the rule says {cut(str(clause.get('unit')))}; so it stands in "
               f"{fields.path.name}")
    if isinstance(value, str) and value[:1] == "$":
        yield from _other_operand(clause, at, field, fields)
    else:
        yield from _literal(clause, at, field, fields)


def _other_operand(clause, at, field, fields):
    name = clause["value"][1:]
    other = fields.by_name.get(name)
    if other is None and fields.may_be(name):
        return
    if other is None:
        yield f"{at}: value {shown(clause['value'])} names no field of {fields.path.name}{near(name, fields.by_name)}"
    elif other.never_read or other.decided:
        why = "copied only" if other.never_read else "an answer"
        yield f"{at}: value {clause['value']} is {why} and may reach no rule"
    elif clause["test"] in ("in", "not in"):
        if other.type != "list":
            yield f"{at}: {other.name} is a {other.type}; `{clause['test']}` wants a list"
    elif other.type != field.type:
        yield f"{at}: {field.name} is a {field.type} and {other.name} a {other.type}; compare like with like"
    elif other.unit != field.unit:
        yield (f"{at}: {field.name} is in {field.unit} and {other.name} in {other.unit}; "
               f"compare values of one unit, see {fields.path.name}")


def _literal(clause, at, field, fields):
    value, listed = clause.get("value"), clause["test"] in ("in", "not in")
    if listed and (not isinstance(value, list) or not value):
        yield f"{at}: value {shown(value)} is not a list of values"
        return
    for each in value if listed else [value]:
        try:
            wanted = field.read(each)
        except ValueError as e:
            yield f"{at}: value {e}; so {field.name} stands in {fields.path.name}"
            continue
        if wanted is None or (field.type == "number" and isinstance(each, str)):
            yield f"{at}: value {shown(each)} is no {field.type} to compare {field.name} with"


def _same_condition(one, other):
    return all(one.get(key) == other.get(key) for key in ("field", "test", "value", "not_applicable", "when"))
