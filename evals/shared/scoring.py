"""Grade what came down the line: each document becomes one entry of the record, each entry is counted once.

What is read is the gold key, one row at a time, so memory does not grow with the number of documents.
"""
import collections
import fnmatch
import hashlib

from evals.shared import record, tally
from src.shared import cost
from src.shared.fields import near
from src.shared.files import BadData, read_text
from src.shared.follow import OUTCOMES
from src.shared.values import plain

RULE_FILES = ("checks.json", "policy.json", "policy.md", "fields.json", "facts.json")


FAILURES_KEPT = 50      # different sentences; what goes beyond is counted by outcome alone
# A document's row of the key and what every arm needs of it: gold Answer, the null baseline's Marks, a hash of its page
Labelled = collections.namedtuple("Labelled", "row gold null page")


def labelled(kit, bench, row):
    """The Labelled of one row of the key: made once where several arms go over the same document."""
    normalise = kit.definition.normalise
    gold = normalise(kit.book, row)._replace(document=kit.source(row["id"]))
    nothing = normalise(kit.book, dict.fromkeys(kit.definition.keys(kit.book)))
    return Labelled(row, gold, bench.judge(kit, gold, nothing), record.sha(row["id"], kit.text(row["id"])))


class Scoring:
    """The grading of one run: feed it what `follow` gave, take entries, then the aggregates."""

    def __init__(self, kit, bench, price=None):
        """`price` says what the costs of the entries rest on: a card, an own tariff, or None."""
        self.kit, self.bench, self.price = kit, bench, price
        self.tally, self.null = tally.Tally(error.id for error in bench.errors), tally.Tally()
        self.used, self.money, self.failures = tally.Used(), cost.Sum(), collections.Counter()
        self._corpus = hashlib.sha256()
        # What the recheck cannot move is said once, raw.
        self._rechecked = {item.id for item in (*bench.metrics, *bench.errors) if item.rechecked}

    def entry(self, row, followed, stations=None, price=None):
        """The record entry of one document, counted as it is made. `row` is its row of the key, or its Labelled.

        `stations` {name: seconds} beside the call's own; `price` as `cost.Pricer.call` gave it when the call was made.
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
                 "cost": price}
        self.count(known, entry)
        return entry

    def count(self, row, entry):
        """Count an entry that was made before, as by a shard; `row` is its row of the key, or its Labelled."""
        known = row if isinstance(row, Labelled) else labelled(self.kit, self.bench, row)
        self._corpus.update(known.page.encode())
        self.tally.add(entry)
        self.used.add(entry)
        if entry["why"] and len(self.failures) < FAILURES_KEPT:
            self.failures[entry["outcome"], entry["why"].strip().splitlines()[-1][:300]] += 1
        self.money.add(entry["cost"])
        self.null.add({**entry, "marks": dict.fromkeys(tally.COLUMNS, known.null.hits),
                       "cells": dict.fromkeys(tally.COLUMNS, known.null.cells)})

    def closing(self):
        """The aggregates of the record, the guards, and the totals over all documents."""
        outcomes = self.tally.outcomes
        failures = [{"outcome": outcome, "why": why, "documents": number}
                    for (outcome, why), number in self.failures.most_common()]
        return {"failures": failures, **tally.summary(self.tally, self.null, self.bench, self.kit),
                "guards": {**guards(self.kit), "corpus": self._corpus.hexdigest()[:16], "documents": self.tally.documents},
                "totals": {"documents": self.tally.documents, **self.used.totals,
                           "cost": self.money.total(self.price),
                           "outcomes": {name: outcomes.get(name, 0) for name in OUTCOMES}}}


def wanted(kit, docs=None, limit=None):
    """Yield the gold rows that a selection leaves, in order: `docs` ids and globs with commas between them, the first
    `limit` of them. BadData for a pattern that fits no document."""
    patterns = [pattern.strip() for pattern in docs.split(",")] if docs else ["*"]
    used, given = set(), 0
    for row in kit.gold():
        fits = [pattern for pattern in patterns if fnmatch.fnmatchcase(row["id"], pattern)]
        used.update(fits)
        if fits and (limit is None or given < limit):
            given += 1
            yield row
    for pattern in patterns:
        if pattern not in used:
            raise BadData(f"--docs {pattern}: no such document{near(pattern, kit.documents())}")


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
