"""What repeats of one thing differ by, and which runs fall outside of it.

A band is the lowest and highest figure of runs that share their arm, every guard and every setting: what differs among
them is chance. A run is held against the newest such repeats of its arm before it; one run alone makes no band.
"""
import json
from collections import namedtuple

from src.shared import comparing
from src.shared.view import prose, runs

REPEATS = 2
NO_MATTER = ("workers",)        # settings of which an answer knows nothing
LABELS = tuple(name for name in comparing.GUARDS if name not in comparing.ACROSS)

# The lowest and highest figure of these runs: a rate, a count or a score, as `value` gives it
Band = namedtuple("Band", "low high runs")
# A run whose figure of a mark lies outside its Band, or that makes a named error in documents that none of the band has
Deviation = namedtuple("Deviation", "run mark column value band new differs")
# What holding every run against its repeats gave: [Deviation], {run id: ids of the repeats it was held against},
# {run id: why it was not}
Found = namedtuple("Found", "deviations held refused")


def value(run, mark, column):
    """The one number of a run's figure: a rate, a count of errors or a score; None where it is not measured."""
    found = prose.figure(run, mark, column)
    return found and found.get("rate", found.get("count", found.get("value")))


def repeats(kept, run):
    """The runs of `kept` that are the same thing as `run` is: arm, guards and settings. `run` is among them if kept."""
    return [other for other in kept if _thing(other) == _thing(run)]


def band(found, mark, column):
    """The Band of a mark over repeats, or None where fewer than REPEATS of them measured it."""
    values = [known for run in found if (known := value(run, mark, column)) is not None]
    return Band(min(values), max(values), [run.id for run in found]) if len(values) >= REPEATS else None


def deviations(kept, marks):
    """Hold every run against the newest repeats of its arm before it → Found. `kept` in order of date, `marks` ids."""
    found = Found([], {}, {})
    for place, run in enumerate(kept):
        before = _reference(kept[:place], run)
        if not before:
            continue
        differing = [name for name in LABELS if before[0].record["guards"][name] != run.record["guards"][name]]
        if differing:
            found.refused[run.id] = f"not held against {_names(before)}: {', '.join(differing)} differs"
            continue
        found.held[run.id] = [other.id for other in before]
        found.deviations.extend(_outside(run, before, marks))
    return found


def differs(one, other):
    """What differs between two runs, in words: guards first, then settings, arm and code."""
    guards = [f"{name}: {one.record['guards'][name]}, here {other.record['guards'][name]}" for name in comparing.GUARDS
              if one.record["guards"][name] != other.record["guards"][name]]
    return guards + [f"{found['setting']}: {found['first']}, here {found['second']}"
                     for found in comparing.settings(one.record, other.record)]


def _thing(run):
    said = run.record
    settings = {name: known for name, known in (said["settings"] or {}).items() if name not in NO_MATTER}
    return json.dumps([run.about["arm"], said["guards"], settings, said["run"].get("set")], sort_keys=True)


def _reference(before, run):
    """The newest repeats of the run's arm among those before it; [] where no two are the same thing."""
    for other in reversed([one for one in before if one.about["arm"] == run.about["arm"]]):
        known = repeats(before, other)
        if len(known) >= REPEATS:
            return known
    return []


def _outside(run, before, marks):
    told = differs(before[-1], run)
    for mark in marks:
        for column in runs.COLUMNS:
            known, number = band(before, mark, column), value(run, mark, column)
            if known is None or number is None:
                continue
            rows = [set((prose.figure(one, mark, column) or {}).get("rows", ())) for one in (run, *before)]
            new = sorted(rows[0].difference(*rows[1:]))
            if new or not known.low <= number <= known.high:
                yield Deviation(run, mark, column, number, known, new, told)


def _names(found):
    return ", ".join(run.id for run in found)
