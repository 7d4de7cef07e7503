"""Why a decision is wrong: the first clause at which gold's walk and the walk over the arm's own values part, by name.

    misread value       the arm's own values, walked in code, decide otherwise than gold's: a value was read wrong
    misapplied rule     its own values lead to gold's decision, and it stated another
    wrong arithmetic    the same, where the clause compares a figure that has to be computed first
    no answer           there is no reply that could be read, or it leaves the decision out

Of a value misread and a rule misapplied in one document the reading is named, since it comes first; what is stated
wrong is named before what is left out. Pure: answers with their traces in, one finding out.
"""
from collections import namedtuple

KINDS = MISREAD, MISAPPLIED, ARITHMETIC, NO_ANSWER = (
    "misread value", "misapplied rule", "wrong arithmetic", "no answer")
PRESENCE = ("is stated", "is not stated")       # tests that look for a figure and do not compute with it

# What a kit says of its headline. table: the walk.Table behind it; parts {field of an answer that the headline judges:
# the kind that its error is, or None where the walk tells}, in the order in which they come about; names: the field
# that names the deciding rule, or None; behind {operand of the table: fields of an answer that it is made of, one that
# ends in a dot for all that begin so}; computed: operands that are counted and not read
Headline = namedtuple("Headline", "table parts names behind computed", defaults=(None, {}, ()))


def find(headline, gold, own, answer, hits):
    """{"kind", "rule", "field"} of an answer whose headline is wrong; rule and field are None where there is none.

    gold and own: Answers that carry the traces of their walks, over gold's values and over the arm's own. answer: the
    one that is judged, `own` itself for the rechecked one, None where there is none. hits {mark: hit} of that answer.
    """
    if answer is None:
        return _told(NO_ANSWER)
    wrong = [part for part in headline.parts if not _is_right(part, gold, answer, hits)]
    if not wrong:
        return _told(MISREAD)
    part = next((part for part in wrong if answer.values.get(part) is not None), wrong[0])
    kind, parted = headline.parts[part], _parting(gold.trace, own.trace)
    # What code decides is missing where its values are; what the arm itself states, where it says nothing.
    if answer.values.get(part) is None and (kind == MISREAD or answer is not own):
        return _told(NO_ANSWER, None, part)
    if kind == MISREAD:
        return _told(MISREAD, parted, part)
    if own.values.get(part) != gold.values.get(part):
        return _told(MISREAD, parted, _misread(headline, parted, gold, own, hits))
    return _told(kind, None, part) if kind else _strayed(headline, own, answer, part)


def in_words(found):
    """A blame as people read it, or that none is told.

    >>> in_words({"kind": "misread value", "rule": "buffer_to_water", "field": "distance_to_water_m"})
    'misread value of distance_to_water_m, at buffer_to_water'
    """
    if not found:
        return "why is not recorded; score the run again"
    return (found["kind"] + (f" of {found['field']}" if found["field"] else "")
            + (f", at {found['rule']}" if found["rule"] else ""))


def _told(kind, rule=None, field=None):
    return {"kind": kind, "rule": rule, "field": field}


def _is_right(field, gold, answer, hits):
    """Whether a field is right: by its mark, since a quotation is credited and not compared, else by value."""
    hit = hits.get(f"field.{field}", hits.get(field))
    return hit if isinstance(hit, bool) else answer.values.get(field) == gold.values.get(field)


def _parting(gold, own):
    """The first rule that came out differently in two traces; None where none did, or nothing was walked."""
    return next((mine["rule"] for its, mine in zip(gold or (), own or ()) if its["result"] != mine["result"]), None)


def _misread(headline, rule, gold, own, hits):
    """The field, of those behind the rule's operands, that the arm read otherwise than gold; without a rule, of all."""
    known = list(dict.fromkeys([*gold.values, *own.values]))
    names = ([name for test in _tests_of(headline, rule) for name in _operands(test)] if rule
             else headline.behind or known)
    for name in names:
        for field in headline.behind.get(name, (name,)):
            found = [each for each in known if each.startswith(field)] if field.endswith(".") else [field]
            for each in found:
                if each in known and each not in headline.parts and not _is_right(each, gold, own, hits):
                    return each
    return next((field for name in names for field in headline.behind.get(name, ()) if field in headline.parts), None)


def _strayed(headline, own, answer, part):
    """The arm's own values lead to gold's decision, and it stated another: at which rule it left its own walk."""
    order = [rule["id"] for rule in headline.table.rules]
    rules = {rule["id"]: rule for rule in headline.table.rules}
    last_step = own.trace[-1] if own.trace else {"result": "pass"}
    end = None if last_step["result"] in ("pass", "skipped") else last_step["rule"]
    last = order.index(end) if end else len(order)
    stated = answer.values[part]
    named = answer.values.get(headline.names)
    taken = [named] if named in rules else [rule for rule in order if rules[rule]["decision"] == stated]
    # It overlooked the rule that stops its walk where what it states comes later, and else took an earlier one for it.
    earlier = [rule for rule in taken if order.index(rule) < last]
    rule = earlier[0] if taken and len(earlier) == len(taken) else end
    counted = [name for test in _tests_of(headline, rule) if test["test"] not in PRESENCE for name in _operands(test)
               if name in headline.computed]
    return _told(ARITHMETIC, rule, counted[0]) if counted else _told(MISAPPLIED, rule)


def _tests_of(headline, rule):
    """The single tests of a rule, its guard's first."""
    found = next((each for each in headline.table.rules if each["id"] == rule), {})
    clauses = (found.get("not_applicable"), found.get("when"), found if "field" in found else None)
    return [test for clause in clauses if clause for test in _leaves(clause)]


def _leaves(clause):
    if "field" in clause:
        return [clause]
    parts = clause.get("all") or clause.get("any") or [clause["not"]]
    return [test for part in parts for test in _leaves(part)]


def _operands(test):
    value = test.get("value")
    return [test["field"], *([value[1:]] if isinstance(value, str) and value[:1] == "$" else [])]
