"""The gate flags of a run: figures that must be reached, and documents that must not get worse than in a baseline.

A verdict needs two complete runs over the same documents, labels and prompt; anything else is no verdict, never a pass.
"""
import re
from fractions import Fraction

from src.shared import comparing, records, tally
from src.shared.fields import near
from src.shared.files import BadData

FORM = re.compile(r"(?:(raw|rechecked)\.)?([a-z0-9_.]+)=([0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
SAME = ("corpus", "gold", "prefix", "documents")
PASSED, FAILED, NO_VERDICT = 0, 1, 3


def floors(texts):
    """`METRIC=VALUE` options as [(column, metric, value)]; raw unless the metric begins with `rechecked.`."""
    found = [FORM.fullmatch(text) for text in texts]
    for text, match in zip(texts, found):
        if not match or not 0 <= Fraction(match[3]) <= 1:
            raise BadData(f"--fail-under {text}: write it like verdict=0.95 or rechecked.verdict=0.95, from 0 to 1")
    return [(match[1] or "raw", match[2], Fraction(match[3])) for match in found]


def reached(found, wanted):
    """(exit code, lines) for a record's aggregates against `floors`; compared as fractions, never as printed."""
    code, lines = PASSED, []
    known = {metric["id"]: metric for metric in found["metrics"]}
    for column, name, value in wanted:
        if name not in known:
            raise BadData(f"--fail-under {name}: no such metric{near(name, known)}; metrics: {', '.join(known)}")
        rate = known[name][column]
        if rate is None:
            code, why = max(code, NO_VERDICT), "not measured"
        elif rate["num"] < value * rate["den"]:
            code, why = max(code, FAILED), f"{rate['num']}/{rate['den']} is under {float(value):g}"
        else:
            continue
        lines.append(f"--fail-under: {column} {name}: {why}")
    return code, lines


def regressions(path, baseline_path, allowed):
    """(exit code, lines): which documents were right in the baseline and are wrong now, or newly commit the first error."""
    found, baseline = records.Record(path), records.Record(baseline_path)
    said, name = found.said, baseline.said["run"]["id"]
    why = list(_no_verdict(said, baseline.said))
    if why:
        return NO_VERDICT, [f"no verdict against {name}: {reason}" for reason in why]
    # The same corpus is the same documents in the same order. Both are read to their end, where the figures are judged.
    pairs = zip(baseline.entries(), found.entries(), strict=True)
    flipped = [after["id"] for before, after in pairs if _worse(before, after, said)]
    line = (f"{len(flipped)} of {said['totals']['documents']} documents are worse than in {name}, "
            f"{allowed} allowed{': ' if flipped else ''}{' '.join(flipped)}")
    return (FAILED if len(flipped) > allowed else PASSED), [line]


def _no_verdict(found, baseline):
    for name in SAME:
        if found["guards"][name] != baseline["guards"][name]:
            yield f"{name} differs ({baseline['guards'][name]} there, {found['guards'][name]} here)"
    yield from filter(None, map(comparing.owed, (baseline, found)))


def _worse(before, after, found):
    headline, error = found["metrics"][0]["id"], found["errors"][0]["id"]
    return any((before["marks"][column].get(headline) is True and after["marks"][column].get(headline) is False)
               or (not _made(before["marks"][column].get(error)) and _made(after["marks"][column].get(error)))
               for column in tally.COLUMNS)


def _made(hit):
    """Whether a document makes a named error, which it may several times."""
    return bool(hit[0] if isinstance(hit, list) else hit)
