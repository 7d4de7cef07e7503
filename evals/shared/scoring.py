"""Grade what came down the line: each document becomes one entry of the record, each entry is counted once.

What is read is the gold key, one row at a time, so memory does not grow with the number of documents.
"""
import collections
import fnmatch
import functools
import hashlib

from evals.shared import quote, record
from src.shared import blame, cost, tally
from src.shared.fields import near
from src.shared.files import BadData
from src.shared.follow import ANSWERED, HARNESS, OUTCOMES, timed
from src.shared.guards import guards
from src.shared.values import plain

FAILURES_KEPT = 50      # different sentences; what goes beyond is counted by outcome alone
# A document's row of the key and what every arm needs of it: gold Answer, the same with the trace of its walk, the null
# baseline's Marks, a hash of its page and how many characters it has
Labelled = collections.namedtuple("Labelled", "row gold walked null page characters")


def labelled(kit, bench, row):
    """The Labelled of one row of the key: made once where several arms go over the same document."""
    normalise = kit.definition.normalise
    gold = normalise(kit.book, row)._replace(document=kit.source(row["id"]))
    nothing = normalise(kit.book, dict.fromkeys(kit.definition.keys(kit.book)))
    walked = kit.definition.recheck(kit.book, gold.document, gold)
    text = kit.text(row["id"])
    return Labelled(row, gold, walked, bench.judge(kit, gold, nothing), record.sha(row["id"], text), len(text))


class Scoring:
    """The grading of one run: feed it what `follow` gave, take entries, then the aggregates."""

    def __init__(self, kit, bench, price=None, sends=False):
        """`price` says what the costs of the entries rest on: a card, an own tariff, or None; `sends` whether the arm
        sent the kit's prompt, whose parts are then measured."""
        self.kit, self.bench, self.price = kit, bench, price
        self.tally, self.null = tally.Tally(error.id for error in bench.errors), tally.Tally()
        self.used, self.money, self.failures = tally.Used(), cost.Sum(), collections.Counter()
        self._corpus, self._headline = hashlib.sha256(), kit.definition.headline(kit.book)
        self._sizes = Sizes() if sends else None
        # What the recheck cannot move is said once, raw.
        self._rechecked = {item.id for item in (*bench.metrics, *bench.errors) if item.rechecked}

    def entry(self, row, followed, stations=None, price=None):
        """The record entry of one document, counted as it is made. `row` is its row of the key, or its Labelled.

        `stations` {name: seconds} beside the call's own, in place of what is measured here where a name is in both;
        `price` as `cost.Pricer.call` gave it when the call was made.
        """
        known = row if isinstance(row, Labelled) else labelled(self.kit, self.bench, row)
        document = known.row["id"]
        marks, cells, blamed, seconds = {}, {}, {}, {}
        with timed(seconds, "score"):
            for column, answer in (("raw", followed.raw), ("rechecked", followed.rechecked)):
                marks[column], cells[column] = self.bench.judge(self.kit, known.gold, answer)
                blamed[column] = self._blame(known, followed.rechecked, answer, marks[column])
        marks["rechecked"] = {mark: hit for mark, hit in marks["rechecked"].items() if mark in self._rechecked}
        entry = {"id": document, "cluster": self.bench.cluster(document), "case": known.row.get("case"),
                 "characters": known.characters, "outcome": followed.outcome, "why": followed.why,
                 "raw": _answer(followed.raw), "rechecked": _answer(followed.rechecked),
                 **self._spans(document, followed), "overrides": _overrides(followed), "marks": marks, "cells": cells, "blame": blamed,
                 "repairs": list(followed.repairs),
                 **_call(followed.completion, {**followed.seconds, **seconds, **(stations or {})}),
                 "cost": price}
        self.count(known, entry)
        return entry

    def _spans(self, document, followed):
        """{"spans": by column where on the page the answer's quotes stand}; {} for a kit whose answers quote nothing."""
        answers = {"raw": followed.raw, "rechecked": followed.rechecked} if self.bench.quotes else {}
        found = {column: quote.spans(self.kit, document, each, self.bench.quotes) for column, each in answers.items()}
        return {"spans": found} if found else {}

    def count(self, row, entry):
        """Count an entry that was made before, as by a shard; `row` is its row of the key, or its Labelled."""
        known = row if isinstance(row, Labelled) else labelled(self.kit, self.bench, row)
        self._corpus.update(known.page.encode())
        self.tally.add(entry)
        self.used.add(entry)
        if entry["why"] and len(self.failures) < FAILURES_KEPT:
            self.failures[entry["outcome"], entry["why"].strip().splitlines()[-1][:300]] += 1
        self.money.add(entry["cost"])
        if self._sizes and entry["outcome"] != HARNESS:
            self._sizes.add(self.kit.prompt(entry["id"]))
        self.null.add({**entry, "outcome": ANSWERED, "marks": {"raw": known.null.hits}, "cells": {"raw": {}}})

    def closing(self):
        """The aggregates of the record, the guards, and the totals over all documents."""
        outcomes = self.tally.outcomes
        failures = [{"outcome": outcome, "why": why, "documents": number}
                    for (outcome, why), number in self.failures.most_common()]
        return {"failures": failures, **self._summary(), "blame": self.tally.blame if self._headline else None,
                "prompt": self._sizes and self._sizes.parts(),
                "guards": {**guards(self.kit), "corpus": self._corpus.hexdigest()[:16],
                           "documents": self.tally.documents},
                "totals": {"documents": self.tally.documents, **self.used.totals,
                           "cost": self.money.total(self.price), "characters": self.tally.sizes(),
                           "outcomes": {name: outcomes.get(name, 0) for name in OUTCOMES}}}

    def _blame(self, known, own, answer, hits):
        """Why the headline of an answer is wrong, as `blame.find` tells it; None where it is right."""
        if self._headline is None or hits.get(self.bench.metrics[0].id) is not False:
            return None
        return blame.find(self._headline, known.walked, own, answer, hits)

    def _summary(self):
        """Metrics, errors and matrices, each raw, rechecked and beside the null baseline."""
        counted, bench = self.tally, self.bench
        both = lambda get, *what: {column: get(column, *what) for column in tally.COLUMNS}
        titles = {metric.id: metric.title for metric in bench.metrics}
        named = {item.id for item in (*bench.errors, *bench.scores)}
        marks = [mark for mark in dict.fromkeys([*titles, *sorted(counted.hits["raw"])]) if mark not in named]
        return {
            "metrics": [{"id": mark, "title": titles.get(mark, mark), **both(counted.rate, mark),
                         "null": self.null.rate("raw", mark)} for mark in marks],
            "errors": [{"id": error.id, "title": error.head, "why": error.why, **both(counted.error, error.id)}
                       for error in bench.errors],
            "scores": [{"id": score.id, "title": score.title, "unit": score.unit,
                        "raw": counted.mean("raw", score.id, score.unit)} for score in bench.scores],
            "matrices": [{"id": matrix.id, "title": matrix.title, "labels": list(matrix.labels),
                          "listed": matrix.listed, **both(counted.matrix, matrix.id, matrix.labels)}
                         for matrix in bench.matrices(self.kit)]}


class Sizes:
    """How long the parts of a run's prompts are, in characters, over its documents."""

    def __init__(self):
        self._parts = {}        # (name, role, whether it is the same on every call) → {characters: documents}

    def add(self, parts):
        """The parts of one document's prompt."""
        for part in parts:
            sizes = self._parts.setdefault((part.name, part.role, part.fixed), collections.Counter())
            sizes[len(part.text)] += 1

    def parts(self):
        """[{"name", "role", "fixed", "documents", "characters": {"min", "median", "max"}}] in the order of sending."""
        return [{"name": name, "role": role, "fixed": fixed, "documents": sizes.total(),
                 "characters": {"min": min(sizes), "median": tally.median(sizes), "max": max(sizes)}}
                for (name, role, fixed), sizes in self._parts.items()]


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


def code_hash(root, kit):
    """One name for the code that made a run: everything under src/ and evals/ that this kit can reach, tests apart."""
    return _code_hash(root, kit.name)


@functools.lru_cache(maxsize=None)      # what runs does not change while it does
def _code_hash(root, name):
    folders = (root / "src", root / "src/shared", root / "src/shared/adapters", root / f"src/{name}",
               root / "evals", root / "evals/shared", root / f"evals/{name}")
    files = [path for folder in folders for path in sorted(folder.glob("*.py")) if not path.name.startswith("test_")]
    return record.sha(*(piece for path in files for piece in (path.name, path.read_bytes())))


def _answer(answer):
    if answer is None:
        return None
    found = {"values": {name: plain(value) for name, value in answer.values.items()}}
    if answer.problems:
        found["problems"] = {name: {"raw": finding.raw, "why": finding.why}
                             for name, finding in answer.problems.items()}
    return found


def _overrides(followed):
    if followed.raw is None:
        return []
    return [name for name, value in followed.rechecked.values.items() if value != followed.raw.values.get(name)]


def _call(call, stations):
    """What the call cost and how long each station took; None throughout where there was no call."""
    seconds = call.seconds and {**call.seconds, **stations}
    return {"usage": call.usage, "finish": call.finish, "attempts": list(call.attempts), "notes": list(call.notes),
            "seconds": seconds and record.rounded(seconds)}
