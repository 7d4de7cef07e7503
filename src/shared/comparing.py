"""Two runs over the same documents: what may be differenced, what differs, and what this set could have shown.

Rows are compared in pairs: a document that both runs have right, or both wrong, says nothing about which is better. The
documents are read side by side, one pair at a time, so that runs of any size are compared in little memory.
"""
import functools
import itertools
from collections import Counter

from src.shared import intervals, paired
from src.shared.follow import OWED
from src.shared.tally import COLUMNS

# Guards that have to be equal: the same pages, the same labels, the same rules, the same instructions.
GUARDS = ("documents", "corpus", "gold", "rules", "prefix")
ACROSS = ("prefix", "rules")        # those that a comparison may be about
ALPHA, POWER, LOSSES = 0.05, 0.8, 0.05
PLACES = 6
MCNEMAR = "exact McNemar"
KINDS = {(False, True): "fixed", (True, False): "broken", (False, False): "still_wrong", (True, True): "still_right"}


def compare(first, second, across=()):
    """The comparison of two runs: {"guards", "settings", "refused", "metrics", "errors", "changed", "why", "could"}.

    A run has `.said`, what its record says of all documents, and `.entries()`, which yields each document's entry.
    `refused` lists why nothing may be differenced; then the rest is empty. `across` names guards that may differ,
    because they are what the comparison is about. `why` {column: {document: blame in the second run}} of the broken ones.
    """
    one, other = first.said, second.said
    found = {"guards": [_guard(name, one, other) for name in GUARDS], "settings": settings(one, other),
             "refused": list(_refused(one, other, across)), "metrics": [], "errors": [], "changed": None, "why": None,
             "could": None}
    if found["refused"]:
        return found
    names = [metric["id"] for metric in one["metrics"]]
    marks = {(name, column): _Mark() for name in names for column in COLUMNS}
    changed = {column: {kind: [] for kind in KINDS.values()} for column in COLUMNS}
    why = {column: {} for column in COLUMNS}
    for before, after in itertools.zip_longest(first.entries(), second.entries()):
        if before is None or after is None or before["id"] != after["id"]:
            return {**found, "refused": ["they are over different documents"]}
        for (name, column), mark in marks.items():
            hits = before["marks"][column].get(name), after["marks"][column].get(name)
            if None not in hits:
                mark.add(before["cluster"], *hits)
                if name == names[0] and isinstance(hits[0], bool):
                    kind = KINDS[hits]
                    changed[column][kind].append(before["id"])
                    if kind == "broken":
                        why[column][before["id"]] = after.get("blame", {}).get(column)
    metrics = [_metric(one, other, column, name, mark) for (name, column), mark in marks.items() if mark.pairs]
    errors = [error for each in one["errors"] for column in COLUMNS if (error := _error(other, column, each))]
    return {**found, "metrics": _adjusted(metrics), "errors": errors, "changed": changed, "why": why,
            "could": could_show(one["totals"]["documents"], len(marks[names[0], COLUMNS[0]].clusters))}


def owed(said):
    """The sentence that a run is incomplete, or None: what is owed a reply is no answer that could be compared."""
    missing = sum(said["totals"]["outcomes"][outcome] for outcome in OWED)
    return missing and (f"{said['run']['id']} is incomplete: {missing} of {said['totals']['documents']} documents have "
                        "no reply") or None


def is_floor(said):
    """Whether a run asked no model: then it is a baseline, and no peer of one that did."""
    return said.get("settings") is None


def floors(first, second):
    """A sentence where one of two runs is a floor, or both are: what a difference from it is worth."""
    names = [said["run"]["id"] for said in (first, second) if is_floor(said)]
    what = "baselines" if len(names) > 1 else "a baseline"
    said = f"{' and '.join(names)} asked no model: {what} for a model run to beat, and no peer of one"
    return [said] if names else []


def settings(first, second):
    """[{"setting", "first", "second"}]: in what two runs, as their records tell of them, differ beside the guards."""
    one, other = first.get("settings") or {}, second.get("settings") or {}
    differing = [{"setting": name, "first": one.get(name), "second": other.get(name)}
                 for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    if first["run"]["arm"] != second["run"]["arm"]:
        differing.insert(0, {"setting": "arm", "first": first["run"]["arm"], "second": second["run"]["arm"]})
    if first["run"].get("code") != second["run"].get("code"):
        differing.append({"setting": "code", "first": first["run"].get("code"), "second": second["run"].get("code")})
    return differing


def not_significant(metrics):
    """Yield a sentence for each metric that moved one way alone, and not often enough to be more than luck."""
    for metric in metrics:
        low, high = sorted((metric["won"], metric["lost"]))
        if metric["test"] == MCNEMAR and low == 0 < high and metric["p"] > ALPHA:
            yield (f"{metric['title']}, {metric['column']}: {metric['won']} better and {metric['lost']} worse is not "
                   f"significant (p = {metric['p']:.3g}); {paired.wins_needed(0)} to 0 would be")


def looks(known, gold):
    """How many model runs of these, {top-level key of a record: value} each, were scored against one gold key."""
    return sum(not is_floor(said) and said["guards"]["gold"] == gold for said in known)


@functools.lru_cache
def could_show(documents, clusters=0):
    """The smallest net gain that so many documents show with power 0.8: without losses, and with 5 % of them.

    Documents that belong together in clusters count as many as there are clusters: the least they are worth.
    """
    rows = clusters or documents
    return {"documents": documents, "clusters": clusters, "power": POWER, "losses": LOSSES,
            "gain": _rounded(paired.smallest_gain(rows, 0.0, POWER)),
            "gain_with_losses": _rounded(paired.smallest_gain(rows, LOSSES, POWER))}


class _Mark:
    """One mark of one column over the pairs of documents: how many units were won and lost, and where they cluster."""

    def __init__(self):
        self.pairs, self.units, self.is_plain = 0, 0, True
        self._alone, self.clusters = Counter(), {}      # (gain, units) of single documents; [gain, units] by cluster

    def add(self, cluster, before, after):
        (was, of), (now, _) = (hit if isinstance(hit, list) else [int(hit), 1] for hit in (before, after))
        self.pairs += 1
        self.units += of
        self.is_plain = self.is_plain and cluster is None and isinstance(before, bool)
        if cluster is None:
            self._alone[now - was, of] += 1
        else:
            known = self.clusters.setdefault(cluster, [0, 0])
            known[0] += now - was
            known[1] += of

    def steps(self):
        """[(gain, units)] of each cluster, a document by itself being one."""
        return [*self._alone.elements(), *map(tuple, self.clusters.values())]


def _guard(name, one, other):
    first, second = one["guards"].get(name), other["guards"].get(name)
    return {"guard": name, "first": first, "second": second, "same": first == second}


def _refused(one, other, across):
    if one["run"]["kit"] != other["run"]["kit"]:
        yield f"they are runs of two kits: {one['run']['kit']} and {other['run']['kit']}"
    for guard in (_guard(name, one, other) for name in GUARDS):
        if not guard["same"] and guard["guard"] not in across:
            yield f"{guard['guard']} differs: {guard['first']} and {guard['second']}"
    yield from filter(None, map(owed, (one, other)))


def _metric(one, other, column, name, mark):
    """One metric of one column: both rates, their difference with its interval, p."""
    before, after = (next(metric for metric in said["metrics"] if metric["id"] == name) for said in (one, other))
    steps = mark.steps()
    gains = sorted(gain for gain, _ in steps if gain)       # a cluster that has not moved says nothing
    won, lost = sum(max(gain, 0) for gain in gains), sum(max(-gain, 0) for gain in gains)
    found = {"id": name, "title": before["title"], "column": column, "first": before[column], "second": after[column],
             "pairs": mark.pairs, "won": won, "lost": lost, "difference": _rounded((won - lost) / mark.units)}
    if mark.is_plain:
        between, p, test = paired.tango(won, lost, mark.pairs), paired.mcnemar_exact(won, lost), MCNEMAR
    else:
        between, (p, test) = intervals.clustered_mean(steps), paired.signflip(gains)
    low, high = between or (None, None)
    return {**found, "low": _rounded(low), "high": _rounded(high), "p": _rounded(p), "test": test}


def _error(other, column, before):
    """A named error: its counts, and by name the documents where it is new or gone. A count is no p-value."""
    after = next(error for error in other["errors"] if error["id"] == before["id"])[column]
    if before[column] is None or after is None:
        return None
    was, now = set(before[column]["rows"]), set(after["rows"])
    return {"id": before["id"], "title": before["title"], "column": column, "first": before[column]["count"],
            "second": after["count"], "opportunities": after["opportunities"], "new": sorted(now - was),
            "gone": sorted(was - now)}


def _adjusted(metrics):
    """The metrics with `p_holm`: p for the whole family of comparisons that is printed together."""
    for metric, p in zip(metrics, paired.holm([metric["p"] for metric in metrics])):
        metric["p_holm"] = _rounded(p)
    return metrics


def _rounded(value):
    """To six significant digits, so that a tiny p stays a number."""
    return None if value is None else float(f"{value:.{PLACES}g}")
