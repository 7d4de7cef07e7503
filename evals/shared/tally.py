"""Add up the marks of documents into rates with their intervals, named errors with their rows, and matrices.

The rows are the truth: a run record keeps each document's marks, and everything printed is added up from them again.
"""
from decimal import Decimal

from evals.shared import stats
from src.shared import cost

COLUMNS = ("raw", "rechecked")
PLACES = 6


class Tally:
    """Counts of one arm over the documents added so far, raw and rechecked apart. Rows are kept of named errors alone."""

    def __init__(self, named=()):
        self.documents, self.outcomes, self._named = 0, {}, frozenset(named)
        self.hits = {column: {} for column in COLUMNS}
        self.rows = {column: {} for column in COLUMNS}
        self.cells = {column: {} for column in COLUMNS}
        self.clusters = {column: {} for column in COLUMNS}      # mark → cluster → [hits, opportunities]
        self.units = {column: {} for column in COLUMNS}         # mark → (hits, opportunities) of a document → documents

    def add(self, entry):
        """One document's entry of a record: {"id", "cluster", "outcome", "marks": {column: …}, "cells": {column: …}}."""
        self.documents += 1
        self.outcomes[entry["outcome"]] = self.outcomes.get(entry["outcome"], 0) + 1
        for column in COLUMNS:
            for mark, hit in entry["marks"][column].items():
                self._add_mark(column, mark, hit, entry)
            for matrix, (want, got) in entry["cells"][column].items():
                counts = self.cells[column].setdefault(matrix, {})
                counts[want, got] = counts.get((want, got), 0) + 1

    def _add_mark(self, column, mark, hit, entry):
        hits, of = hit if isinstance(hit, list) else (int(hit), 1)
        counts = self.hits[column].setdefault(mark, [0, 0])
        counts[0] += hits
        counts[1] += of
        if hits and mark in self._named:
            self.rows[column].setdefault(mark, []).append(entry["id"])
        # Units of one document are no more independent than documents of one cluster.
        if entry["cluster"] is not None:
            sums = self.clusters[column].setdefault(mark, {}).setdefault(entry["cluster"], [0, 0])
            sums[0] += hits
            sums[1] += of
        elif isinstance(hit, list):
            units = self.units[column].setdefault(mark, {})
            units[hits, of] = units.get((hits, of), 0) + 1

    def rate(self, column, mark):
        """{"num", "den", "rate", "low", "high"} of a mark; None where no document offered an opportunity."""
        num, den = self.hits[column].get(mark, (0, 0))
        if not den:
            return None
        groups = list(self.clusters[column].get(mark, {}).values())
        groups += [pair for pair, times in self.units[column].get(mark, {}).items() for _ in range(times)]
        low, high = stats.ratio_interval(groups) if groups else stats.wilson(num, den)
        return {"num": num, "den": den, "rate": round(num / den, PLACES), "low": round(low, PLACES),
                "high": round(high, PLACES)}

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


def misreported(found):
    """The aggregates of a record that are not what its own documents add up to, by name: [] for an honest record."""
    counted = Tally(error["id"] for error in found["errors"])
    for entry in found["documents"]:
        counted.add(entry)
    wrong = [f"metric {metric['id']}, {column}" for metric in found["metrics"] for column in COLUMNS
             if metric[column] != counted.rate(column, metric["id"])]
    wrong += [f"error {error['id']}, {column}" for error in found["errors"] for column in COLUMNS
              if error[column] != counted.error(column, error["id"])]
    wrong += [f"matrix {matrix['id']}, {column}" for matrix in found["matrices"] for column in COLUMNS
              if matrix[column] != counted.matrix(column, matrix["id"], matrix["labels"])]
    outcomes = {name: number for name, number in found["totals"]["outcomes"].items() if number}
    totals = found["totals"]
    if (counted.documents, counted.outcomes) != (totals["documents"], outcomes):
        wrong.append("totals")
    marks = {mark for entry in found["documents"] for column in COLUMNS for mark in entry["marks"][column]}
    listed = {item["id"] for item in (*found["metrics"], *found["errors"], *found["scores"])}
    wrong += [f"score {score['id']}" for score in found["scores"]
              if score["raw"] != counted.mean("raw", score["id"], score["unit"])]
    wrong += [f"mark {mark}, which no figure tells of" for mark in sorted(marks - listed)]
    if Used(found["documents"]).totals != {name: totals[name] for name in ("calls", "tokens", "overrides", "repaired")} \
            or found["guards"]["documents"] != counted.documents:
        wrong.append("calls, tokens and repairs")
    paid = cost.total((entry["cost"] for entry in found["documents"]), totals["cost"]["label"])
    if {name: paid[name] and float(paid[name]) if isinstance(paid[name], Decimal) else paid[name] for name in paid} != totals["cost"]:
        wrong.append("cost")
    return wrong


def summary(tally, null, bench, kit):
    """The aggregate part of a record: metrics, errors and matrices, each raw, rechecked and beside the null baseline."""
    titles = {metric.id: metric.title for metric in bench.metrics}
    named = {item.id for item in (*bench.errors, *bench.scores)}
    marks = [mark for mark in dict.fromkeys([*titles, *sorted(tally.hits["raw"])]) if mark not in named]
    return {
        "metrics": [{"id": mark, "title": titles.get(mark, mark), "raw": tally.rate("raw", mark),
                     "rechecked": tally.rate("rechecked", mark), "null": null.rate("raw", mark)} for mark in marks],
        "errors": [{"id": error.id, "title": error.title, "why": error.why, "raw": tally.error("raw", error.id),
                    "rechecked": tally.error("rechecked", error.id)} for error in bench.errors],
        "scores": [{"id": score.id, "title": score.title, "unit": score.unit, "raw": tally.mean("raw", score.id, score.unit)}
                   for score in bench.scores],
        "matrices": [{"id": matrix.id, "title": matrix.title, "labels": list(matrix.labels), "listed": matrix.listed,
                      "raw": tally.matrix("raw", matrix.id, matrix.labels),
                      "rechecked": tally.matrix("rechecked", matrix.id, matrix.labels)}
                     for matrix in bench.matrices(kit)]}
