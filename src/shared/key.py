"""The key of a labelled set: a facts row and its decision → a gold row, and what the rows of a set cover.

Every kit's generator writes its gold key and its stats through this file, and `python -m tools.build_corpus` derives a
key again with it. Nothing here decides anything: the rules have walked before.
"""
from collections import Counter

from src.shared.files import to_json
from src.shared.walk import ORDERINGS

# What a decision carries beside its answer, or says a second time for people who read lines; no part of the key.
ASIDE = ("trace", "flags", "notes", "carried", "hold_status")
# Where a value may stand to a limit, in units of that limit's step.
SIDES = {"just_below": -1, "exactly_at": 0, "just_above": 1}


def gold_row(facts, answers, names):
    """One row of the key: id and case, every field of `names` in that order, then the further decided values.

    `facts` {"id", "case", copied fields…}; `answers` as a kit's `decide` returns them.
    """
    decided = {name: value for name, value in answers.items() if name not in ASIDE}
    fields = {name: decided.get(name, facts.get(name)) for name in names}
    return {"id": facts["id"], "case": facts.get("case"), **fields, **decided}


def json_lines(rows):
    """Rows → the text of a JSON-lines file."""
    return "".join(to_json(row) + "\n" for row in rows)


def coverage(table, traces, steps):
    """How often each rule ended in each of its results, and how many rows stand on each side of each limit.

    `traces` as walks of `table` leave them; `steps` {unit: the smallest step of such a value}, 1 where none is given.
    Only results that a rule can have are listed, so a 0 is a gap. A row counts for a limit if its walk got there.
    """
    entries = [entry for trace in traces for entry in trace]
    ended = Counter((entry["rule"], entry["result"]) for entry in entries)
    rules = {rule["id"]: {result: ended[rule["id"], result] for result in _results(table, rule)}
             for rule in table.rules}
    limits = {rule["id"]: _sides(rule, entries, steps) for rule in table.rules if rule.get("test") in ORDERINGS}
    return {"rules": rules, "limits": limits}


def gaps(stats):
    """A sentence for each rule's result and each side of a limit that no row shows, and for each constant field."""
    for rule, results in stats["rules"].items():
        yield from (f"{rule}: no document where it is {result}" for result, count in results.items() if not count)
    for rule, sides in stats["limits"].items():
        for side in SIDES:
            if not sides[side]:
                yield f"{rule}: no document {side.replace('_', ' ')} the limit (step {sides['step']} {sides['unit']})"
    yield from (f"{field}: has one value in every document" for field, number in stats["distinct_values"].items()
                if number < 2)


def variety(rows, names):
    """Per field, how many different values the rows have and how many rows state none."""
    distinct = {name: len({to_json(row[name]) for row in rows}) for name in names}
    nulls = {name: count for name in names if (count := sum(row[name] is None for row in rows))}
    return {"distinct_values": distinct, "nulls": nulls}


def counts(words):
    """How often each word occurs, most frequent first, ties by the word."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], str(item[0]))))


def _results(table, rule):
    if table.document["stops_at"] == "match":
        return ["matched"]
    return ["pass", "breached", "not readable"] + ["skipped"] * ("not_applicable" in rule)


def _sides(rule, entries, steps):
    step = steps.get(rule.get("unit"), 1)
    apart = Counter(entry["value"] - entry["limit"] for entry in entries
                    if entry["rule"] == rule["id"] and entry["result"] in ("pass", "breached"))
    return {"step": step, "unit": rule.get("unit"), **{side: apart[step * away] for side, away in SIDES.items()}}
