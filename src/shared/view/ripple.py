"""How often two marks fall together: counted document by document over the entries of a record.

A metric falls where it is missed, a named error where it is made. A document that offers no opportunity for one of the
two says nothing of the pair.
"""
from src.shared import intervals


def together(entries, edges):
    """[(rate of the second where the first fell, rate where it did not)], a pair an edge; None for no document.

    entries: those of a record, gone over once; an edge is (first, second), each (column, mark id, whether it is a named
    error). A rate is a dict like that of a metric: num documents of den, its interval over clusters where rows belong
    together.
    """
    # of each edge, by whether the first fell: cluster, or a document by itself → [fell too, documents]
    counts = [({}, {}) for _ in edges]
    for entry in entries:
        for edge, found in zip(edges, counts):
            one, other = (_fell(entry, *mark) for mark in edge)
            if one is not None and other is not None:
                known = found[one].setdefault(entry["cluster"] or entry["id"], [0, 0])
                known[0] += other
                known[1] += 1
    return [(_rate(found[True]), _rate(found[False])) for found in counts]


def _fell(entry, column, mark, is_error):
    hit = entry["marks"][column].get(mark)
    hits, of = hit if isinstance(hit, list) else (hit, 1)
    if hit is None or not of:
        return None
    return hits > 0 if is_error else hits < of


def _rate(groups):
    pairs = list(groups.values())
    num, den = (sum(pair[place] for pair in pairs) for place in (0, 1))
    if not den:
        return None
    low, high = intervals.ratio_interval(pairs)     # Wilson's own where every document stands by itself
    return {"num": num, "den": den, "rate": num / den, "low": low, "high": high}
