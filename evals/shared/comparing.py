"""Two runs over the same documents: what may be differenced, what differs, and what this set could have shown.

Rows are compared in pairs: a document that both runs have right, or both wrong, says nothing about which is better.
"""
from collections import namedtuple

from evals.shared import stats, tally
from src.shared.follow import OWED

# Guards that have to be equal: the same pages, the same labels, the same rules, the same instructions.
GUARDS = ("documents", "corpus", "gold", "rules", "prefix")
ALPHA, POWER, LOSSES = 0.05, 0.8, 0.05
PLACES = 6

Pair = namedtuple("Pair", "document cluster first second")


def compare(first, second, across=()):
    """The comparison of two records as data: {"guards", "settings", "refused", "metrics", "errors", "changed", "could"}.

    `refused` lists why nothing may be differenced; then the rest is empty. `across` names guards that may differ,
    because they are what the comparison is about.
    """
    guards = [{"guard": name, "first": first["guards"].get(name), "second": second["guards"].get(name),
               "same": first["guards"].get(name) == second["guards"].get(name)} for name in GUARDS]
    refused = [f"{guard['guard']} differs: {guard['first']} and {guard['second']}" for guard in guards
               if not guard["same"] and guard["guard"] not in across]
    if first["run"]["kit"] != second["run"]["kit"]:
        refused.insert(0, f"they are runs of two kits: {first['run']['kit']} and {second['run']['kit']}")
    ids = [[entry["id"] for entry in each["documents"]] for each in (first, second)]
    if not refused and ids[0] != ids[1]:
        refused.append("they are over different documents")
    refused += filter(None, map(owed, (first, second)))
    found = {"guards": guards, "settings": _settings(first, second), "refused": refused, "metrics": [], "errors": [],
             "changed": None, "could": None}
    if refused:
        return found
    titles = {metric["id"]: metric["title"] for metric in first["metrics"]}
    metrics = [_metric(first, second, column, name, title) for name, title in titles.items() for column in tally.COLUMNS]
    found["metrics"] = _adjusted([metric for metric in metrics if metric])
    found["errors"] = [error for each in first["errors"] for column in tally.COLUMNS
                       if (error := _error(first, second, column, each["id"], each["title"]))]
    found["changed"] = changed(first, second, first["metrics"][0]["id"])
    found["could"] = could_show(len(first["documents"]))
    return found


def owed(found):
    """The sentence that a run is incomplete, or None: what is still owed a reply is no answer that could be compared."""
    missing = sum(found["totals"]["outcomes"][outcome] for outcome in OWED)
    return missing and (f"{found['run']['id']} is incomplete: {missing} of {found['totals']['documents']} documents have "
                        "no reply") or None


def changed(first, second, mark):
    """{column: {"fixed", "broken", "still_wrong", "still_right": document ids}} of a true-or-false mark."""
    names = {(False, True): "fixed", (True, False): "broken", (False, False): "still_wrong", (True, True): "still_right"}
    found = {column: {name: [] for name in names.values()} for column in tally.COLUMNS}
    for column in tally.COLUMNS:
        for pair in _pairs(first, second, column, mark):
            if isinstance(pair.first, bool):
                found[column][names[pair.first, pair.second]].append(pair.document)
    return found


def could_show(documents):
    """The smallest net gain that so many documents show with power 0.8: without losses, and with 5 % of them."""
    return {"documents": documents, "power": POWER, "gain": _rounded(stats.smallest_gain(documents, 0.0, POWER)),
            "losses": LOSSES, "gain_with_losses": _rounded(stats.smallest_gain(documents, LOSSES, POWER))}


def _pairs(first, second, column, mark):
    for one, other in zip(first["documents"], second["documents"]):
        hits = one["marks"][column].get(mark), other["marks"][column].get(mark)
        if None not in hits:
            yield Pair(one["id"], one["cluster"], *hits)


def _metric(first, second, column, name, title):
    """One metric of one column: both rates, their difference with its interval, p; None where no row has both."""
    pairs = list(_pairs(first, second, column, name))
    if not pairs:
        return None
    rates = [next(metric for metric in each["metrics"] if metric["id"] == name)[column] for each in (first, second)]
    found = {"id": name, "title": title, "column": column, "first": rates[0], "second": rates[1], "pairs": len(pairs)}
    if all(isinstance(pair.first, bool) and pair.cluster is None for pair in pairs):
        lost = sum(pair.first and not pair.second for pair in pairs)
        won = sum(pair.second and not pair.first for pair in pairs)
        low, high = stats.tango(won, lost, len(pairs))
        return {**found, "won": won, "lost": lost, "difference": _rounded((won - lost) / len(pairs)), "low": _rounded(low),
                "high": _rounded(high), "p": _rounded(stats.mcnemar_exact(won, lost)), "test": "exact McNemar"}
    sums, units = {}, 0
    for pair in pairs:
        (was, of), (now, _) = (hit if isinstance(hit, list) else [int(hit), 1] for hit in (pair.first, pair.second))
        key = pair.cluster or pair.document
        sums[key] = sums.get(key, 0) + now - was
        units += of
    return {**found, "won": sum(max(step, 0) for step in sums.values()), "lost": sum(max(-step, 0) for step in sums.values()),
            "difference": _rounded(sum(sums.values()) / units), "low": None, "high": None,
            "p": _rounded(stats.signflip_exact(list(sums.values()))), "test": "exact sign flips by cluster"}


def _error(first, second, column, name, title):
    """A named error: its counts, and by name the documents where it is new or gone. A count is no p-value."""
    counts = [next(error for error in each["errors"] if error["id"] == name)[column] for each in (first, second)]
    if None in counts:
        return None
    before, after = (set(count["rows"]) for count in counts)
    return {"id": name, "title": title, "column": column, "first": counts[0]["count"], "second": counts[1]["count"],
            "opportunities": counts[1]["opportunities"], "new": sorted(after - before), "gone": sorted(before - after)}


def _adjusted(metrics):
    """The metrics with `p_holm`: p for the whole family of comparisons that is printed together."""
    for metric, p in zip(metrics, stats.holm([metric["p"] for metric in metrics])):
        metric["p_holm"] = _rounded(p)
    return metrics


def _settings(first, second):
    one, other = first.get("settings") or {}, second.get("settings") or {}
    differing = [{"setting": name, "first": one.get(name), "second": other.get(name)}
                 for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    if first["run"]["arm"] != second["run"]["arm"]:
        differing.insert(0, {"setting": "arm", "first": first["run"]["arm"], "second": second["run"]["arm"]})
    if first["run"]["code"] != second["run"]["code"]:
        differing.append({"setting": "code", "first": first["run"]["code"], "second": second["run"]["code"]})
    return differing


def _rounded(value):
    """To six significant digits, so that a tiny p stays a number."""
    return None if value is None else float(f"{value:.{PLACES}g}")
