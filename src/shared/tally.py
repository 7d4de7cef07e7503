"""Add up the marks of documents into rates with their intervals, named errors with their rows, and matrices.

The rows are the truth: a run record keeps each document's marks, and everything printed is added up from them again.
"""
from collections import Counter
from decimal import Decimal

from src.shared import cost, intervals
from src.shared.blame import KINDS
from src.shared.follow import ANSWERED

COLUMNS = ("raw", "rechecked")
PLACES = 6


class Tally:
    """Counts of one arm over the documents added so far, raw and rechecked apart. Rows are kept of named errors only."""

    def __init__(self, named=()):
        self.documents, self.outcomes, self._named = 0, {}, frozenset(named)
        self.hits = {column: {} for column in COLUMNS}
        self.answered = {column: {} for column in COLUMNS}      # the same over the documents that were answered
        self.rows = {column: {} for column in COLUMNS}
        self.cells = {column: {} for column in COLUMNS}
        self.clusters = {column: {} for column in COLUMNS}      # mark → cluster → [hits, opportunities]
        self.units = {column: {} for column in COLUMNS}         # mark → (hits, opportunities) of a document → documents
        self.blame = {column: dict.fromkeys(KINDS, 0) for column in COLUMNS}
        self._sizes = {True: Counter(), False: Counter()}       # whether answered → characters of a page → documents

    def add(self, entry):
        """One document's entry of a record: {"id", "cluster", "outcome", and by column "marks", "cells", "blame"}."""
        self.documents += 1
        self.outcomes[entry["outcome"]] = self.outcomes.get(entry["outcome"], 0) + 1
        if "characters" in entry:                               # an older record tells of none
            self._sizes[entry["outcome"] == ANSWERED][entry["characters"]] += 1
        for column in entry["marks"]:
            self._add_marks(column, entry)
            for matrix, (want, got) in entry["cells"][column].items():
                counts = self.cells[column].setdefault(matrix, {})
                counts[want, got] = counts.get((want, got), 0) + 1
            if found := entry.get("blame", {}).get(column):     # an older record tells of none
                self.blame[column][found["kind"]] += 1

    def _add_marks(self, column, entry):
        known, clusters, cluster = self.hits[column], self.clusters[column], entry["cluster"]
        answered = self.answered[column] if entry["outcome"] == ANSWERED else None
        for mark, hit in entry["marks"][column].items():
            hits, of = hit if type(hit) is list else (hit, 1)
            counts = known.get(mark) or known.setdefault(mark, [0, 0])
            counts[0] += hits
            counts[1] += of
            if answered is not None:
                counts = answered.get(mark) or answered.setdefault(mark, [0, 0])
                counts[0] += hits
                counts[1] += of
            if hits and mark in self._named:
                self.rows[column].setdefault(mark, []).append(entry["id"])
            # Units of one document are no more independent than documents of one cluster.
            if cluster is not None:
                groups = clusters.get(mark) or clusters.setdefault(mark, {})
                sums = groups.get(cluster) or groups.setdefault(cluster, [0, 0])
                sums[0] += hits
                sums[1] += of
            elif type(hit) is list:
                units = self.units[column].setdefault(mark, {})
                units[hits, of] = units.get((hits, of), 0) + 1

    def sizes(self):
        """{"answered", "not_answered"}: the median page in characters, None for none: what fails may be the long ones."""
        return {"answered": median(self._sizes[True]), "not_answered": median(self._sizes[False])}

    def rate(self, column, mark):
        """{"num", "den", "rate", "low", "high", "answered": [num, den]} of a mark; None where there was no opportunity.

        Every opportunity counts in the rate; `answered` are those of documents that were answered, to stand beside it.
        """
        num, den = self.hits[column].get(mark, (0, 0))
        if not den:
            return None
        groups = list(self.clusters[column].get(mark, {}).values())
        groups += [pair for pair, times in self.units[column].get(mark, {}).items() for _ in range(times)]
        low, high = intervals.ratio_interval(groups) if groups else intervals.wilson(num, den)
        return {"num": num, "den": den, "rate": round(num / den, PLACES), "low": round(low, PLACES),
                "high": round(high, PLACES), "answered": [*self.answered[column].get(mark, (0, 0))]}

    def error(self, column, mark):
        """{"rows": ids, "count", "opportunities", "clusters"} of a named error; None where there was no opportunity.

        `clusters` is how many groups of rows offered one where rows are not independent, else None: what a count of
        zero allows is a matter of those.
        """
        num, den = self.hits[column].get(mark, (0, 0))
        clusters = sum(1 for _, of in self.clusters[column].get(mark, {}).values() if of)
        return {"rows": self.rows[column].get(mark, []), "count": num, "opportunities": den,
                "clusters": clusters or None} if den else None

    def mean(self, column, mark, unit):
        """{"value", "documents"} of a score's mark; None where no document had one."""
        num, den = self.hits[column].get(mark, (0, 0))
        return {"value": round(num / den, PLACES), "documents": den // unit} if den else None

    def matrix(self, column, matrix, labels):
        """The counts of a matrix as rows of gold label by columns of answer label; None where nothing was counted."""
        counts = self.cells[column].get(matrix)
        return counts and [[counts.get((want, got), 0) for got in labels] for want in labels]


def median(sizes):
    """The lower median of {size: how often}; None of none."""
    middle, seen = (sizes.total() + 1) // 2, 0
    for size, times in sorted(sizes.items()):
        seen += times
        if seen >= middle:
            return size
    return None


class Used:
    """What the calls of a run used, and how often its answers had to be mended: `.totals` over the entries added.

    {"calls", "tokens": {kind: {"sum", "calls": that reported it}}, "overrides", "repaired"}
    """

    def __init__(self, entries=()):
        self.totals = {"calls": 0, "tokens": {}, "overrides": 0, "repaired": 0}
        for entry in entries:
            self.add(entry)

    def add(self, entry):
        found = self.totals
        found["overrides"] += bool(entry["overrides"])
        found["repaired"] += bool(entry["repairs"])
        found["calls"] += entry["usage"] is not None
        for kind, number in (entry["usage"] or {}).items():
            total = found["tokens"].setdefault(kind, {"sum": 0, "calls": 0})
            if number is not None:
                total["sum"] += number
                total["calls"] += 1


class Audit:
    """What a record says of all its documents, held against the documents themselves, which are added one by one."""

    def __init__(self, said):
        """`said` {top-level key of a record: value}, without or with its documents."""
        self.said = said
        self.tally, self._used, self._money = Tally(error["id"] for error in said["errors"]), Used(), cost.Sum()

    def add(self, entry):
        """Count one document's entry."""
        self.tally.add(entry)
        self._used.add(entry)
        self._money.add(entry["cost"])

    def wrong(self):
        """The aggregates that are not what the entries add up to, by name: [] for an honest record."""
        said, counted, totals = self.said, self.tally, self.said["totals"]
        found = [f"metric {metric['id']}, {column}" for metric in said["metrics"] for column in COLUMNS
                 if metric[column] != counted.rate(column, metric["id"])]
        found += [f"error {error['id']}, {column}" for error in said["errors"] for column in COLUMNS
                  if error[column] != counted.error(column, error["id"])]
        found += [f"matrix {matrix['id']}, {column}" for matrix in said["matrices"] for column in COLUMNS
                  if matrix[column] != counted.matrix(column, matrix["id"], matrix["labels"])]
        found += [f"score {score['id']}" for score in said["scores"]
                  if score["raw"] != counted.mean("raw", score["id"], score["unit"])]
        found += [f"blame, {column}" for column in COLUMNS
                  if (said.get("blame") or {}).get(column, dict.fromkeys(KINDS, 0)) != counted.blame[column]]
        listed = {item["id"] for item in (*said["metrics"], *said["errors"], *said["scores"])}
        marks = {mark for column in COLUMNS for mark in counted.hits[column]}
        found += [f"mark {mark}, which no figure tells of" for mark in sorted(marks - listed)]
        outcomes = {name: number for name, number in totals["outcomes"].items() if number}
        if (counted.documents, counted.outcomes) != (totals["documents"], outcomes):
            found.append("totals")
        if "characters" in totals and totals["characters"] != counted.sizes():
            found.append("characters")
        if any(totals[name] != value for name, value in self._used.totals.items()) \
                or said["guards"]["documents"] != counted.documents:
            found.append("calls, tokens and repairs")
        if _as_kept(self._money.total(totals["cost"]["label"])) != totals["cost"]:
            found.append("cost")
        return found


def _as_kept(money):
    """A total as a record keeps it: Decimals as JSON numbers."""
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in money.items()}
