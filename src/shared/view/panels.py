"""The panels a kit hands to the board: plain data that the page draws without knowing which kit it shows.

    document    title, blocks [{"withheld": why or None, "segments": [{"text", "fields", "value"}]}], groups {what
                several marks are called together: [fields]}; the view adds turns and blamed, the fields that the
                decision turns on and those that a run misread
    fields      title, columns [name], rows [{"field", "unit", "mark", "cells": [cell]}]
    ladder      title, columns [name], rungs [{"rule", "class", "says", "why", "steps": [step]}], ends [text], decides
                (the fields of an answer that say where its walk ended); the view adds answered [text], what the raw
                answers say of these. A step is {"result"} and where they apply compares [operand {"field", "text",
                "kind"} or the words between two], detail, at_limit and blame [text]
    arithmetic  title, steps [{"says", "left", "sign", "right", "result"}]
    state       title, items [{"name", "value", "why"}]
    table       title, columns [head], rows [[cell]]
    note        title, text, tone "plain", "warn" or "fixed" (a part of a prompt that no call changes); lines [str] is
                text to be shown as it stands; once, of one that is the same on every document of a kit

Pictures are panels too, made in `charts`. A panel that is folded is closed until somebody opens it.

A cell is {"text"} and where they apply kind (value, null, unread or none), why, hit (True or False), same (as the cell
before), head (a word before it), interval [low, rate, high] and link ({"document": id}, or the filters of a list). A
list of cells is one cell of several lines. The view adds hit and same; a kit gives each row of fields its mark: that of
the record, BY_VALUE for what the record does not mark and gold answers all the same, None for what nobody judges.

Text is cut here and not in the page: Python counts characters where the page would count UTF-16 units, and a highlight
would slip behind an emoji.
"""
import datetime
import decimal

from src.shared import citation
from src.shared.prompt import say
from src.shared.values import Absent
from src.shared.walk import ORDERINGS

BY_VALUE = "by value"
NOT_STATED, NOT_COMPUTED = "not stated", "not computed"
# What a clause's result is called where people read it.
UNREAD = "could not be read"
RESULTS = {"pass": "pass", "skipped": "skipped", "breached": "breached", "matched": "matched",
           "not readable": UNREAD, "error": UNREAD}
NO_CASE = "does not apply"      # what a pass is in a table of cases, which stops at the first that fits
TESTS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "in": "is one of", "not in": "is none of"}
PRESENCE = ("is stated", "is not stated")


def document(text, spans, withheld=(), title="The page", groups=None):
    """The page cut into blocks of segments that add up to `text`, character for character.

    spans {field: (start, end)} of values: such a segment is a `value`, and the lines around it carry the field too.
    withheld [(start, end, why)]: whole sections that stay on this machine. groups {name: [fields]}, by which board.json
    may name several marks at once, or what is made of them.
    """
    lines = {name: _lines(text, start, end) for name, (start, end) in spans.items()}
    edges = sorted({0, len(text), *(edge for pair in [*spans.values(), *lines.values(), *(w[:2] for w in withheld)]
                                    for edge in pair)})
    blocks = []
    for start, end in zip(edges, edges[1:]):
        why = next((why for first, last, why in withheld if first <= start and end <= last), None)
        if not blocks or blocks[-1]["withheld"] != why:
            blocks.append({"withheld": why, "segments": []})
        values, around = _covering(spans, start, end), _covering(lines, start, end)
        blocks[-1]["segments"].append({"text": text[start:end], "fields": values or around, "value": bool(values)})
    return {"kind": "document", "title": title, "blocks": blocks, "groups": groups or {}}


def fields(entries, answers, title="Fields"):
    """A row per field, a column per answer. `entries` [(field name, unit or None, mark id, {value: word} or None)].

    An answer that is None gives "no answer" on every row.
    """
    shown = list(answers.values())
    rows = [{"field": name, "unit": unit, "mark": mark, "cells": [cell(answer, name, words) for answer in shown]}
            for name, unit, mark, words in entries]
    return {"kind": "fields", "title": title, "columns": list(answers), "rows": rows}


def cell(answer, name, words=None):
    """One value of an answer as a cell; `words` names values that are no text, such as {True: "hold", None: …}."""
    if answer is None:
        return {"text": "no answer", "kind": "none"}
    finding = answer.problems.get(name)
    if isinstance(finding, Absent):
        return {"text": "not answered", "kind": "none"}
    if finding is not None:
        return {"text": str(finding.raw), "kind": "unread", "why": finding.why}
    value = answer.values.get(name)
    if words and value in words:
        return {"text": words[value], "kind": "null" if value is None else "value"}
    return {"text": words_of(value), "kind": "null" if value is None else "value"}


def quoted(text, answer, name):
    """The cell of a quotation, with whether and how it stands in the page `text`."""
    found = cell(answer, name)
    if found["kind"] == "value":
        located = citation.locate(text, answer.values[name])
        found["why"] = f"stands in the document ({located.how})" if located.spans else f"not found: {located.reason}"
    elif found["kind"] == "null":
        found["text"] = "nothing quoted"
    return found


def ladder(table, answers, title="The walk", read=None, decides=None):
    """The rules of a walk.Table as rungs, a column for each answer that carries a trace, and where each walk ended.

    read(answer) → (values, findings) that its walk was over: a table of cases keeps none in its trace. decides: the
    fields of an answer that say where its walk ended, where the table's own `answers` do not name them.
    """
    walks = {name: answer for name, answer in answers.items() if answer is None or answer.trace is not None}
    given = [read(answer) if read and answer else None for answer in walks.values()]
    traces = [{entry["rule"]: entry for entry in answer.trace} if answer else None for answer in walks.values()]
    rungs = [{"rule": rule["id"], "class": rule.get("class"), "says": says(rule), "why": rule["why"],
              "steps": [_step(table, rule, *pair) for pair in zip(traces, given)]} for rule in table.rules]
    return {"kind": "ladder", "title": title, "columns": list(walks), "rungs": rungs,
            "decides": list(decides or table.document.get("answers", {}).values()),
            "ends": [_end(table, answer) for answer in walks.values()]}


def arithmetic(steps, title):
    """A calculation, one line a step: [(what it is, left, sign, right, result)]."""
    return {"kind": "arithmetic", "title": title,
            "steps": [dict(zip(("says", "left", "sign", "right", "result"), map(words_of, step))) for step in steps]}


def state(items, title):
    """Named values with the reason for each: [(name, value, why or None)]."""
    return {"kind": "state", "title": title, "items": [{"name": name, "value": words_of(value), "why": why}
                                                       for name, value, why in items]}


def table(columns, rows, title):
    """A plain table; an entry of a row is a cell or anything that has words."""
    return {"kind": "table", "title": title, "columns": list(columns),
            "rows": [[entry if isinstance(entry, (dict, list)) else {"text": words_of(entry)} for entry in row]
                     for row in rows]}


def note(text, title=None, tone="plain", lines=None, once=False):
    """A sentence or two, and where something is quoted the `lines` of it; a report tells but `once` what never changes.
    """
    return {"kind": "note", "title": title, "text": text, "tone": tone, "lines": lines, "once": once}


def says(rule):
    """A rule's condition in words, with the case where it does not apply."""
    text = say(rule["when"]) if "when" in rule else say(rule)
    return text + (f"; not applicable when {say(rule['not_applicable'])}" if "not_applicable" in rule else "")


def words_of(value):
    """A typed value as people read it; None is "not stated", which the word none and 0 are not.

    >>> words_of(("carrots", "leeks")), words_of(decimal.Decimal("2.50")), words_of(None)
    ('carrots, leeks', '2.50', 'not stated')
    """
    if value is None:
        return NOT_STATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(words_of, value))
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _lines(text, start, end):
    """The whole lines that a span stands on, without the last line's end."""
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop


def _covering(spans, start, end):
    return [name for name, (first, last) in spans.items() if first <= start and end <= last]


def _step(table, rule, trace, given):
    """What became of a rule in one walk, {rule: entry} or None where there was no answer to walk, over given values."""
    if trace is None:
        return {"result": "no answer"}
    if rule["id"] not in trace:
        return {"result": "not reached"}
    entry = trace[rule["id"]]
    is_case = table.document["stops_at"] == "match"
    step = {"result": NO_CASE if is_case and entry["result"] == "pass" else RESULTS[entry["result"]]}
    if given and "when" in rule and entry["result"] != "skipped":
        step |= {"compares": list(_compared(rule["when"], *given))}
    if "value" in entry:
        unit = f" {entry['unit']}" if entry.get("unit") not in (None, "count") else ""
        against = entry["against"]
        other = against[1:] if isinstance(against, str) and against[:1] == "$" else None
        step |= {"compares": [_operand(entry, entry["field"], entry["value"], unit),
                              TESTS.get(entry["test"], entry["test"]),
                              _operand(entry, other, entry["limit"], unit)],
                 "detail": _detail(entry, unit), "at_limit": is_at_limit(entry)}
    elif step["result"] == UNREAD and "compares" not in step:
        step["detail"] = "whether it applies hangs on a value that is not there"
    return step


def _compared(clause, values, findings):
    """Yield the operands of a condition with the words between them, as they stood in one walk."""
    if "field" in clause:
        name, value = clause["field"], clause.get("value")
        unit = f" {clause['unit']}" if clause.get("unit") not in (None, "count") else ""
        other = value[1:] if isinstance(value, str) and value[:1] == "$" else None
        raw = {"raw": {each: findings[each].raw for each in (name, other) if each in findings}}
        yield _operand(raw, name, values[name], unit)
        if clause["test"] not in PRESENCE:
            yield TESTS.get(clause["test"], clause["test"])
            yield _operand(raw, other, values[other] if other else value, unit)
    elif "not" in clause:
        yield from ("not (", *_compared(clause["not"], values, findings), ")")
    else:
        word = "all" if "all" in clause else "any"
        for number, part in enumerate(clause[word]):
            yield from [{"all": "and", "any": "or"}[word]] * (number > 0)
            yield from _compared(part, values, findings)


def is_at_limit(entry):
    """Whether a step of a trace compared a value that is exactly its limit."""
    return entry.get("test") in ORDERINGS and entry.get("value") is not None and entry["value"] == entry["limit"]


def _operand(entry, field, value, unit):
    raw = entry.get("raw", {})
    if value is None and field in raw:
        return {"field": field, "text": str(raw[field]), "kind": "unread"}
    if value is None:
        return {"field": field, "text": f"{field}: {NOT_STATED}", "kind": "null"}
    return {"field": field, "text": words_of(value) + unit, "kind": "value"}


def _detail(entry, unit):
    """By how much a breached limit is missed, or which names of the list come near."""
    if entry.get("near"):
        return f"near, and another name: {', '.join(entry['near'])}"
    if entry.get("off_by") is None:
        return "exactly at the limit" if is_at_limit(entry) else None
    if entry["off_by"] == 0:
        return "exactly at the limit, which is not enough"
    return f"{'over' if entry['test'] in ('<', '<=') else 'short'} by {words_of(entry['off_by'])}{unit}"


def _end(table, answer):
    if answer is None:
        return "no answer to walk"
    last = answer.trace[-1] if answer.trace else {"rule": None, "result": "pass"}
    if last["result"] == "error":
        return f"nothing is decided: {last['rule']} needs a value that cannot be read"
    if last["result"] == "not readable":
        decision = table.document["missing"]["decision"]
        return f"{decision} by {last['rule']}" if decision else f"nothing is decided: {last['rule']} lacks a value"
    if last["result"] in ("breached", "matched"):
        rule = next(rule for rule in table.rules if rule["id"] == last["rule"])
        return f"{rule['decision']} by {last['rule']}"
    return f"{table.document['passed']['decision']}: no rule stops it"
