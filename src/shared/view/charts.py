"""Panels for what people would rather look at than read. Each is drawn with the words or the table that says the same.

    intervals  title, columns [name], groups [{"title", "lines": [{"name", "why", "cells": [cell]}]}], folded
    matrix     title, labels [gold], answers [label], rows [[{"text", "share", "hit", "link"} or None]]
    bars       title, text, columns [head], bars [{"name", "share", "tone", "cells": [cell]}]; share of the longest
    curve      title, text, points [{"name", "x", "y", "low", "high", "cell"}], shares from 0 to 1

Where there is nothing to draw the builder gives a note with the reason.
"""
import re
import statistics

from src.shared.view import figures, listing, panels, runs

OWN_FIELDS = "field."       # marks of single fields, which stand apart from the kit's metrics
BINS = 12
# A metric of this name counts how many were right of those that stated a confidence in a range.
CONFIDENCE = re.compile(r"where the confidence is (?:below (?P<below>[\d.]+)|(?P<low>[\d.]+) to (?P<high>[\d.]+)"
                        r"|exactly (?P<just>[\d.]+))$")


def intervals(shown):
    """Yield an intervals panel of the metrics of Runs beside the null baseline, then one of single fields, folded."""
    known = {metric["id"]: metric for run in shown for metric in run.record["metrics"]}
    of_fields = [mark for mark in known if mark.startswith(OWN_FIELDS)]
    for marks, title, folded in (([mark for mark in known if mark not in of_fields],
                                  "Right, of all documents, with 95 % interval; the tick is the null baseline", False),
                                 (of_fields, "The same, field by field", True)):
        if marks:
            yield {"kind": "intervals", "title": title, "columns": list(runs.COLUMNS), "folded": folded,
                   "groups": [_group(shown, known[mark]) for mark in marks]}


def matrices(shown):
    """Yield a matrix panel for each matrix of these Runs, raw and rechecked apart; a list of causes as bars."""
    for run in shown:
        for matrix in run.record["matrices"]:
            for column in runs.COLUMNS:
                if matrix[column] and not (column == runs.RECHECKED and matrix[column] == matrix[runs.RAW]):
                    same = matrix[runs.RECHECKED] == matrix[runs.RAW]
                    title = f"{matrix['title']}: {run.about['name']}, {'raw and rechecked alike' if same else column}"
                    yield (_causes if matrix["listed"] else _matrix)(run, matrix, column, title)


def blames(shown):
    """Yield a bars panel of why the headline answers of each of these Runs are wrong, for records that tell it."""
    for run in shown:
        for column in runs.COLUMNS:
            counts = (run.record.get("blame") or {}).get(column, {})
            total = sum(counts.values())
            if total:
                yield {"kind": "bars", "title": f"Why headline answers are wrong: {run.about['name']}, {column}",
                       "text": f"Of {total} wrong headline answers.", "columns": ["blame", "documents"], "bars": [
                           {"name": kind, "share": number / total, "tone": "", "cells": [{"text": str(number), "link": {
                               "run": run.id, "blame": kind, "column": column}}]}
                           for kind, number in counts.items() if number]}


def coverage(title, counts):
    """A bars panel of {rule: gold rows that it decides}; rules that decide none are said to be uncovered."""
    longest = max(counts.values(), default=0)
    none = [rule for rule, number in counts.items() if not number]
    text = f"{len(counts) - len(none)} of {len(counts)} rules decide at least one gold row"
    return {"kind": "bars", "title": title, "text": f"{text}; none: {', '.join(none)}." if none else f"{text}.",
            "columns": ["rule", "gold rows"],
            "bars": [{"name": rule, "share": number / longest if longest else 0, "tone": "" if number else "none",
                      "cells": [{"text": str(number)}]} for rule, number in counts.items()]}


def latency(shown):
    """Yield a bars panel of seconds a call for each of these Runs that called a model, else a note why none is."""
    measured = [(run, [row.seconds for row in run.rows.values() if row.seconds is not None]) for run in shown]
    measured = [(run, sorted(seconds)) for run, seconds in measured if seconds]
    if not measured:
        yield panels.note("Not measured: none of the runs shown called a model, and free arms answer without a call.",
                          "Seconds a call")
    for run, seconds in measured:
        yield _histogram(run, seconds)


def reliability(shown):
    """Yield a curve panel for each of these Runs that stated confidences, else a note why there is none."""
    scored = [(run, score) for run in shown for score in run.record.get("scores", ()) if score["raw"]]
    if not scored:
        yield panels.note("Not measured: none of the runs shown stated how sure it was of its answers.", "Reliability")
    for run, score in scored:
        told = score["raw"]
        text = f"{score['title']}: {told['value']:.3f} over {told['documents']} documents that stated one."
        points = [point for metric in run.record["metrics"] if metric[runs.RAW] for point in _point(metric)]
        title = f"Reliability: {run.about['name']}"
        yield {"kind": "curve", "title": title, "text": text, "points": points} if points else panels.note(text, title)


def _group(shown, metric):
    lines = [{"name": run.about["name"], "why": run.about["kind"], "cells": [
        _marked(figures.rate(found.get(column)), metric) if found.get(column) else {"text": figures.BLANK, "why": why}
        for column, why in zip(runs.COLUMNS, ("not measured", "the recheck cannot move it"))]}
        for run in shown for found in [_metric(run, metric["id"])] if found]
    null = {"name": "null baseline", "why": "answers null everywhere", "cells": [figures.rate(metric["null"])]}
    return {"title": metric["title"], "lines": [*lines, null]}


def _metric(run, mark):
    return next((metric for metric in run.record["metrics"] if metric["id"] == mark), None)


def _marked(cell, metric):
    return cell | ({"null": metric["null"]["rate"]} if metric["null"] else {})


def _matrix(run, matrix, column, title):
    labels, counts = matrix["labels"], matrix[column]
    kept = [place for place, row in enumerate(counts) if any(row)]
    used = [place for place in range(len(labels)) if place in kept or any(row[place] for row in counts)]
    return {"kind": "matrix", "title": title, "labels": [labels[place] for place in kept],
            "answers": [labels[place] for place in used],
            "rows": [[_cell(run, matrix, column, want, got) for got in used] for want in kept]}


def _cell(run, matrix, column, want, got):
    number, labels = matrix[column][want][got], matrix["labels"]
    if not number:
        return None
    return {"text": str(number), "share": number / sum(matrix[column][want]), "hit": want == got,
            "link": _link(run, matrix, column, labels[want], labels[got])}


def _causes(run, matrix, column, title):
    """A matrix of one row that counts: what was first to go wrong."""
    pairs = [(want, got, number) for want, row in zip(matrix["labels"], matrix[column])
             for got, number in zip(matrix["labels"], row) if number]
    longest, total = max(number for *_, number in pairs), sum(number for *_, number in pairs)
    return {"kind": "bars", "title": title, "text": f"Of {total} documents.", "columns": ["cause", "documents"],
            "bars": [{"name": got, "share": number / longest, "tone": "",
                      "cells": [{"text": str(number), "link": _link(run, matrix, column, want, got)}]}
                     for want, got, number in pairs]}


def _link(run, matrix, column, want, got):
    return {"run": run.id, "cell": listing.cell_name(matrix["id"], want, got), "column": column}


def _histogram(run, seconds):
    width = seconds[-1] / BINS or 1
    counts = [0] * BINS
    for each in seconds:
        counts[min(BINS - 1, int(each / width))] += 1
    at = lambda share: seconds[min(len(seconds) - 1, int(share * len(seconds)))]
    text = (f"Over {len(seconds)} calls: median {statistics.median(seconds):.2f} s, 90 % within {at(.9):.2f} s, "
            f"99 % within {at(.99):.2f} s, longest {seconds[-1]:.2f} s.")
    return {"kind": "bars", "title": f"Seconds a call: {run.about['name']}", "text": text,
            "columns": ["seconds", "calls"],
            "bars": [{"name": f"{place * width:.2f}–{(place + 1) * width:.2f}", "share": number / max(counts),
                      "tone": "", "cells": [{"text": str(number)}]} for place, number in enumerate(counts)]}


def _point(metric):
    """[a point] of a metric over one range of stated confidence, at the middle of the range; [] of any other."""
    found = CONFIDENCE.search(metric["id"])
    if not found:
        return []
    low, high = found["low"] or found["just"] or 0, found["high"] or found["just"] or found["below"]
    rate = metric[runs.RAW]
    return [{"name": found[0].removeprefix("where the confidence is "), "x": (float(low) + float(high)) / 2,
             "y": rate["rate"], "low": rate["low"], "high": rate["high"], "cell": figures.rate(rate)}]
