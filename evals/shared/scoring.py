"""Grade what came down the line: each document becomes one entry of the record, each entry is counted once.

What is read is the gold key, one row at a time, so memory does not grow with the number of documents.
"""
import hashlib
from collections import namedtuple

from evals.shared import record, tally
from src.shared import cost
from src.shared.files import read_text
from src.shared.follow import OUTCOMES
from src.shared.values import plain

RULE_FILES = ("checks.json", "policy.json", "policy.md", "fields.json", "facts.json")


# A document's row of the key and what every arm needs of it: gold Answer, the null baseline's Marks, a hash of its page
Labelled = namedtuple("Labelled", "row gold null page")


def labelled(kit, bench, row):
    """The Labelled of one row of the key: made once where several arms go over the same document."""
    normalise = kit.definition.normalise
    gold = normalise(kit.book, row)._replace(document=kit.source(row["id"]))
    nothing = normalise(kit.book, dict.fromkeys(kit.definition.keys(kit.book)))
    return Labelled(row, gold, bench.judge(kit, gold, nothing), record.sha(row["id"], kit.text(row["id"])))


class Scoring:
    """The grading of one run: feed it what `follow` gave, take entries, then the aggregates."""

    def __init__(self, kit, bench, pricer=None):
        self.kit, self.bench, self.pricer = kit, bench, pricer
        self.tally, self.null = tally.Tally(error.id for error in bench.errors), tally.Tally()
        self.overrides = self.repaired = self.calls = 0
        self.tokens, self.money = {}, cost.Sum()
        self._corpus = hashlib.sha256()
        # What the recheck cannot move is said once, raw.
        self._rechecked = {item.id for item in (*bench.metrics, *bench.errors) if item.rechecked}

    def entry(self, row, followed, stations=None, at=None):
        """The record entry of one document, counted as it is made. `row` is its row of the key, or its Labelled.

        `stations` {name: seconds} beside the call's own; `at` the time of the call in UTC, for its price.
        """
        known = row if isinstance(row, Labelled) else labelled(self.kit, self.bench, row)
        document = known.row["id"]
        marks, cells = {}, {}
        for column, answer in (("raw", followed.raw), ("rechecked", followed.rechecked)):
            marks[column], cells[column] = self.bench.judge(self.kit, known.gold, answer)
        marks["rechecked"] = {mark: hit for mark, hit in marks["rechecked"].items() if mark in self._rechecked}
        entry = {"id": document, "cluster": self.bench.cluster(document), "case": known.row.get("case"),
                 "outcome": followed.outcome, "why": followed.why,
                 "raw": _answer(followed.raw), "rechecked": _answer(followed.rechecked),
                 "overrides": _overrides(followed), "marks": marks, "cells": cells, "repairs": list(followed.repairs),
                 **_call(followed.completion, stations),
                 "cost": self.pricer and self.pricer.call(followed.completion._asdict(), at)}
        self.count(known, entry)
        return entry

    def count(self, row, entry):
        """Count an entry that was made before, as by a shard; `row` is its row of the key, or its Labelled."""
        known = row if isinstance(row, Labelled) else labelled(self.kit, self.bench, row)
        self._corpus.update(known.page.encode())
        self.tally.add(entry)
        self.overrides += bool(entry["overrides"])
        self.repaired += bool(entry["repairs"])
        self._count_call(entry["usage"])
        self.money.add(entry["cost"])
        self.null.add({**entry, "marks": dict.fromkeys(tally.COLUMNS, known.null.hits),
                       "cells": dict.fromkeys(tally.COLUMNS, known.null.cells)})

    def _count_call(self, usage):
        self.calls += usage is not None
        for kind, number in (usage or {}).items():
            total = self.tokens.setdefault(kind, {"sum": 0, "calls": 0})
            if number is not None:
                total["sum"] += number
                total["calls"] += 1

    def closing(self):
        """The aggregates of the record, the guards, and the totals over all documents."""
        outcomes = self.tally.outcomes
        return {**tally.summary(self.tally, self.null, self.bench, self.kit),
                "guards": {**guards(self.kit), "corpus": self._corpus.hexdigest()[:16], "documents": self.tally.documents},
                "totals": {"documents": self.tally.documents, "overrides": self.overrides, "repaired": self.repaired, "calls": self.calls, "tokens": self.tokens,
                           "cost": self.money.total(self.pricer and self.pricer.label),
                           "outcomes": {name: outcomes.get(name, 0) for name in OUTCOMES}}}


def guards(kit):
    """Hashes of what must be equal before two runs are differenced: gold, rules, fixed prefix of the prompt."""
    first = next(kit.documents())
    prefix = "".join(f"{part.role}\0{part.text}" for part in kit.prompt(first) if part.fixed)
    rules = [read_text(kit.data / name) for name in RULE_FILES if (kit.data / name).exists()]
    return {"gold": _file_hash(kit.data / "gold.jsonl"), "rules": record.sha(*rules), "prefix": record.sha(prefix)}


def code_hash(root, kit):
    """One name for the code that made a run: everything under src/ and evals/ that this kit can reach, tests apart."""
    folders = (root / "src", root / "src/shared", root / "src/shared/adapters", root / f"src/{kit.name}",
               root / "evals", root / "evals/shared", root / f"evals/{kit.name}")
    files = [path for folder in folders for path in sorted(folder.glob("*.py")) if not path.name.startswith("test_")]
    return record.sha(*(piece for path in files for piece in (path.name, path.read_bytes())))


def _answer(answer):
    if answer is None:
        return None
    found = {"values": {name: plain(value) for name, value in answer.values.items()}}
    if answer.problems:
        found["problems"] = {name: {"raw": finding.raw, "why": finding.why} for name, finding in answer.problems.items()}
    return found


def _overrides(followed):
    if followed.raw is None:
        return []
    return [name for name, value in followed.rechecked.values.items() if value != followed.raw.values.get(name)]


def _call(call, stations):
    """What the call cost and how long each station took; None throughout where there was no call."""
    seconds = {**(call.seconds or {}), **(stations or {})} or None
    return {"usage": call.usage, "finish": call.finish, "attempts": list(call.attempts), "notes": list(call.notes),
            "seconds": seconds and {name: value and round(value, tally.PLACES) for name, value in seconds.items()}}


def _file_hash(path):
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:16]
