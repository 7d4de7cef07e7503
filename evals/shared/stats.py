"""What the counts of a run may claim: intervals, paired tests, power, calibration, agreement.

Pure functions over plain numbers and lists; every figure that run, compare and board print comes through here. What the
board needs too stands in `src/shared` (`intervals`, `paired`) and is at hand here under the same names.
    python -m unittest evals.shared.test_stats

Held by every function below:
* k, n, b, c and table cells are whole counts; rates, `conf`, `alpha`, `power` and differences are shares from 0 to 1,
  never percent. An interval is a tuple (low, high).
* None means "not measured" (no rows, or nothing that could vary); it is never 0 and must never be differenced.
* What cannot be right (k > n, a share outside its range, lists of two lengths, NaN) raises BadData with the value.
"""
import math
import random
from bisect import bisect_left, bisect_right

from src.shared.distributions import Z95, check_counts, check_open, check_rate, need, ratio_variance, z_of
from src.shared.intervals import (band_low, clopper_pearson, jeffreys, n_for_zero, pass_hat_k, ratio_interval,
                                  rule_of_three, t_ppf, upper_one_sided, wilson)
from src.shared.paired import (bh, holm, mcnemar_exact, mcnemar_midp, mcnemar_unconditional_power, signflip_exact,
                               smallest_gain, tango, wins_needed)

SEED, DRAWS = 7, 2000     # of every resampling, so that the same rows give the same figures


# Two rates on different rows

def newcombe_diff(k1, n1, k2, n2, conf=0.95):
    """Interval for k1/n1 - k2/n2 on *different* rows, from two Wilson intervals (Newcombe 1998, method 10).

    None when either n is 0. Two arms on the same rows are `tango`.
    >>> [round(x, 3) for x in newcombe_diff(45, 52, 57, 60)]
    [-0.207, 0.026]
    """
    first, second = wilson(k1, n1, conf), wilson(k2, n2, conf)
    if first is None or second is None:
        return None
    p1, p2 = k1 / n1, k2 / n2
    below = math.hypot(p1 - first[0], second[1] - p2)
    above = math.hypot(first[1] - p1, p2 - second[0])
    return p1 - p2 - below, p1 - p2 + above


def fisher_exact(a, b, c, d):
    """Two-sided p of the table [[a, b], [c, d]]: tables with these margins no likelier than this one (Fisher 1934).

    Counted in whole numbers, so ties are ties. None for an empty table.
    >>> round(fisher_exact(8, 2, 1, 5), 4)
    0.035
    """
    check_counts(a=a, b=b, c=c, d=d)
    top, bottom, left = a + b, c + d, a + c
    possible = range(max(0, left - bottom), min(top, left) + 1)
    ways = [math.comb(top, x) * math.comb(bottom, left - x) for x in possible]
    seen = math.comb(top, a) * math.comb(bottom, c)
    return sum(w for w in ways if w <= seen) / sum(ways) if top + bottom else None


# Rows in clusters: the readings of a matter, the fields of a document

def cluster_se(groups):
    """Standard errors of the mean of all rows, as if independent and by cluster, as a dict.

    groups: one list of numbers a cluster; empty ones are left out. `naive`: rows independent · `cr0_miller`: residuals
    summed by cluster (Liang & Zeger 1986; Miller 2024) · `cr1`: its variance times G/(G-1) · `design_effect_cr1`: cr1's
    variance over naive's · `n_eff`: independent rows worth as much · `t_ci95_cr1`: mean ± t(G-1)·cr1, not cut to 0..1.
    None for fewer than two clusters; the last three are None where clusters do not vary (for a rate: `ratio_interval`).
    >>> round(cluster_se([[1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]])["cr1"], 4)
    0.2097
    """
    groups = [_numbers(g) for g in groups if len(g)]
    rows = [x for g in groups for x in g]
    if len(groups) < 2:
        return None
    n, count, mean = len(rows), len(groups), math.fsum(rows) / len(rows)
    cr0 = math.sqrt(ratio_variance([(math.fsum(g), len(g)) for g in groups]))
    cr1 = cr0 * math.sqrt(count / (count - 1))
    naive = math.sqrt(math.fsum((x - mean) ** 2 for x in rows) / (n - 1) / n)
    varies = cr1 > 1e-12 * max(map(abs, rows))        # the rest is rounding
    effect, reach = (cr1 / naive) ** 2 if varies else None, t_ppf(0.975, count - 1) * cr1
    return {"naive": naive, "cr0_miller": cr0, "cr1": cr1, "design_effect_cr1": effect,
            "n_eff": n / effect if varies else None, "t_ci95_cr1": (mean - reach, mean + reach) if varies else None}


# Resampling

def bootstrap_mean_ci(x, B=DRAWS, seed=SEED, conf=0.95):
    """Percentile interval of the mean over B resamples of the numbers x (Efron 1979). None for an empty list.

    The same seed gives the same figures on CPython 3.11 and later.
    >>> [round(v, 3) for v in bootstrap_mean_ci([1, 1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0])]
    [-0.083, 0.583]
    """
    x, draw = _numbers(x), _draws(B, seed, conf)
    return _middle([sum(draw.choices(x, k=len(x))) / len(x) for _ in range(B)], conf) if x else None


def bootstrap_cluster_ci(groups, B=DRAWS, seed=SEED, conf=0.95):
    """The same for clustered rows: draws whole clusters, takes the mean of all their rows (Davison & Hinkley 1997).

    groups: one list of numbers a cluster; empty ones are left out. None for fewer than two clusters.
    >>> [round(v, 3) for v in bootstrap_cluster_ci([[1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]])]
    [0.167, 0.917]
    """
    sums = [(sum(_numbers(g)), len(g)) for g in groups if len(g)]
    draw = _draws(B, seed, conf)
    if len(sums) < 2:
        return None
    drawn = (draw.choices(sums, k=len(sums)) for _ in range(B))
    return _middle([sum(s for s, _ in d) / sum(size for _, size in d) for d in drawn], conf)


def bootstrap_se_exact(x):
    """Standard error that `bootstrap_mean_ci` tends to as B grows: population sd / sqrt(n) (Efron & Tibshirani 1993).

    None for an empty list.
    >>> round(bootstrap_se_exact([1, 1, 0, 0]), 3)
    0.25
    """
    x = _numbers(x)
    if not x:
        return None
    mean = math.fsum(x) / len(x)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in x)) / len(x)


# What this set could have shown

def miller_mde(n, omega2, sA2, sB2, KA=1, KB=1, alpha=0.05, power=0.8):
    """Smallest detectable mean difference of two arms on n questions, normal approximation (Miller 2024, section 5).

    omega2: variance of the questions' true differences; sA2, sB2: variance within a question; KA, KB: tries a question.
    Unit: that of the score. None for n = 0. Refused: negative variances, K < 1.
    >>> round(miller_mde(60, 0.1, 0.05, 0.05), 4)
    0.1617
    """
    check_rate(0, n)
    check_open(alpha=alpha, power=power)
    need(min(omega2, sA2, sB2) >= 0 and min(KA, KB) >= 1,
          f"miller_mde: variances {omega2!r}, {sA2!r}, {sB2!r}, tries {KA!r}, {KB!r}: wants >= 0 and >= 1")
    spread = float(omega2) + float(sA2) / KA + float(sB2) / KB
    return (z_of(1 - alpha) + z_of(2 * power - 1)) * math.sqrt(spread / n) if n else None


# Stated confidence p against what happened y (0 or 1), row by row

def brier(y, p):
    """Mean squared distance of confidence and outcome, 0 best, 1 worst (Brier 1950). None for no rows.
    >>> round(brier([1, 0, 1], [0.9, 0.2, 0.5]), 3)
    0.1
    """
    y, p = _forecasts(y, p)
    return math.fsum((q - hit) ** 2 for hit, q in zip(y, p)) / len(y) if y else None


def murphy(y, p):
    """(reliability, resolution, uncertainty) by distinct stated confidence (Murphy 1973). None for no rows.

    reliability - resolution + uncertainty is the Brier score. Low reliability and high resolution are good.
    >>> [round(x, 3) for x in murphy([1, 1, 0, 0], [0.8, 0.8, 0.8, 0.2])]
    [0.023, 0.083, 0.25]
    """
    y, p = _forecasts(y, p)
    if not y:
        return None
    n, base, groups = len(y), sum(y) / len(y), {}
    for hit, q in zip(y, p):
        groups.setdefault(q, []).append(hit)
    rates = [(q, len(hits), sum(hits) / len(hits)) for q, hits in groups.items()]
    reliability = math.fsum(size * (q - rate) ** 2 for q, size, rate in rates) / n
    resolution = math.fsum(size * (rate - base) ** 2 for _, size, rate in rates) / n
    return reliability, resolution, base * (1 - base)


def log_loss(y, p, eps=1e-15):
    """Mean -ln of the probability given to what happened, at least `eps` (Good 1952), 0 best. None for no rows.

    A stated 1.0 that was wrong costs 34.5 of its row: name that row.
    >>> round(log_loss([1, 0], [0.9, 0.2]), 4)
    0.1643
    """
    y, p = _forecasts(y, p)
    check_open(eps=eps)
    return -math.fsum(math.log(max(q if hit else 1 - q, eps)) for hit, q in zip(y, p)) / len(y) if y else None


def ece(y, p, bins=10):
    """Expected calibration error: mean gap of confidence and hits by bin, weighted by rows (Naeini et al. 2015).

    Bins are (i/bins, (i+1)/bins], the first with 0. Above 0 also for perfect forecasts: print `ece_null_band` beside
    it. None for no rows.
    >>> round(ece([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]), 3)
    0.35
    """
    y, p = _forecasts(y, p)
    return _bin_gap(y, p, _bin_of(p, bins), bins) if y else None


def ece_null_band(p, bins=10, B=DRAWS, seed=SEED, conf=0.95):
    """(low, high): the middle `conf` of `ece` if every confidence in p were exactly right (Bröcker & Smith 2007).

    B seeded draws of outcomes from p itself. An error inside the band is no sign of miscalibration. None for no rows.
    >>> [round(x, 2) for x in ece_null_band([0.9, 0.8, 0.7, 0.6] * 5)]
    [0.05, 0.25]
    """
    p, draw = _forecasts([0] * len(p), p)[1], _draws(B, seed, conf)
    where = _bin_of(p, bins)
    return _middle([_bin_gap([draw.random() < q for q in p], p, where, bins) for _ in range(B)], conf) if p else None


def spiegelhalter_z(y, p):
    """Calibration test without bins, standard normal if p is right (Spiegelhalter 1986); |z| > 1.96 rejects.

    None for no rows, and when every p is 0, 0.5 or 1, where the test sees nothing.
    >>> round(spiegelhalter_z([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6]), 3)
    1.508
    """
    y, p = _forecasts(y, p)
    variance = math.fsum((1 - 2 * q) ** 2 * q * (1 - q) for q in p)
    return math.fsum((hit - q) * (1 - 2 * q) for hit, q in zip(y, p)) / math.sqrt(variance) if variance else None


def auroc(y, p):
    """Chance that a right row was stated surer than a wrong one, ties half (Hanley & McNeil 1982). 0.5 is no skill.

    None unless both outcomes occur.
    >>> auroc([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    0.875
    """
    y, p = _forecasts(y, p)
    right, wrong = [q for hit, q in zip(y, p) if hit], sorted(q for hit, q in zip(y, p) if not hit)
    if not right or not wrong:
        return None
    return sum(bisect_left(wrong, q) + bisect_right(wrong, q) for q in right) / (2 * len(right) * len(wrong))


# Labels

def kappa(m):
    """Cohen's kappa of a square matrix of counts (rows: one reader, columns: the other, same label order), as a dict.

    `kappa` (Cohen 1960), its `se` (Fleiss, Cohen & Everitt 1969), `linear` and `quadratic` weights for ordered labels
    (Cohen 1968). None for an empty matrix, and when both readers use one same label only: chance explains all.
    >>> k = kappa([[20, 5], [10, 15]])
    >>> round(k["kappa"], 3), round(k["se"], 3)
    (0.4, 0.127)
    """
    _check_matrix(m, "kappa")
    need(all(len(row) == len(m) for row in m), f"kappa: {m!r}: wants as many columns as rows")
    n, labels = sum(map(sum, m)), range(len(m))
    rows, columns = [sum(row) for row in m], [sum(column) for column in zip(*m)]
    chance = sum(r * c for r, c in zip(rows, columns))
    if chance == n * n:
        return None

    def weighted(power):
        apart = [(abs(i - j) ** power if power else int(i != j), i, j) for i in labels for j in labels]
        return 1 - n * sum(w * m[i][j] for w, i, j in apart) / sum(w * rows[i] * columns[j] for w, i, j in apart)

    plain, expected = weighted(0), chance / (n * n)
    agree = math.fsum(m[i][i] * (1 - (rows[i] + columns[i]) / n * (1 - plain)) ** 2 for i in labels) / n
    differ = math.fsum(m[i][j] * (columns[i] + rows[j]) ** 2 for i in labels for j in labels if i != j) / n ** 3
    variance = agree + (1 - plain) ** 2 * differ - (plain - expected * (1 - plain)) ** 2
    return {"kappa": plain, "se": math.sqrt(max(0.0, variance) / n) / (1 - expected),
            "linear": weighted(1), "quadratic": weighted(2)}


def fleiss_kappa(t):
    """Agreement of r >= 2 readers beyond chance (Fleiss 1971). t: one row a document, its count of readers by label.

    None for no documents, and when one label takes every reading. Refused: rows with different numbers of readers.
    >>> round(fleiss_kappa([[3, 0], [3, 0], [2, 1], [0, 3], [1, 2], [3, 0]]), 3)
    0.5
    """
    _check_matrix(t, "fleiss_kappa")
    if not t:
        return None
    readers, n = sum(t[0]), len(t)
    need(readers > 1 and all(sum(row) == readers for row in t), f"fleiss_kappa: {t!r}: wants 2 or more readers a row")
    seen = sum(x * (x - 1) for row in t for x in row) / (n * readers * (readers - 1))
    chance = sum(sum(column) ** 2 for column in zip(*t)) / (n * readers) ** 2
    return (seen - chance) / (1 - chance) if chance < 1 else None


def macro_f1(m_rows_true):
    """Mean F1 over *declared* classes (van Rijsbergen 1979): rows are true classes, columns answers in the same order.

    Columns beyond the classes hold answers outside the list (unparsed, no output): misses, never exclusions. A declared
    class that nobody has and nobody answers counts 0, so that a set cannot gain by leaving one out. None for no rows.
    >>> round(macro_f1([[20, 5], [10, 15]]), 3)
    0.697
    """
    m = m_rows_true
    _check_matrix(m, "macro_f1")
    need(not m or len(m[0]) >= len(m), f"macro_f1: {m!r}: wants a column for every row")
    if not sum(map(sum, m)):
        return None
    answered = [sum(column) for column in zip(*m)]
    return math.fsum(2 * row[i] / max(1, sum(row) + answered[i]) for i, row in enumerate(m)) / len(m)


def overlap(a, b):
    """(shared/a, shared/b, shared/either) of two lists of half-open character intervals (start, end) (Jaccard 1912).

    Intervals of one list may overlap each other; a character counts once. None in place of a share of nothing.
    >>> overlap([(0, 10)], [(5, 15), (5, 9)])
    (0.5, 0.5, 0.3333333333333333)
    """
    a, b = [tuple(x) for x in a], [tuple(x) for x in b]   # lists from a record sort beside tuples
    for start, end in a + b:
        need(start <= end, f"overlap: ({start!r}, {end!r}): wants start <= end")
    size_a, size_b, either = _covered(a), _covered(b), _covered(a + b)
    shared = size_a + size_b - either
    return tuple(shared / size if size else None for size in (size_a, size_b, either))


# Helpers: resampling, bins, intervals, what is refused

def _draws(B, seed, conf):
    check_open(conf=conf)
    need(type(B) is int and B >= 1, f"stats: B = {B!r} resamples: wants a whole number from 1")
    need(type(seed) is int, f"stats: seed = {seed!r}: wants a whole number, so that the figures come again")
    return random.Random(seed)


def _middle(values, conf):
    """The order statistics that leave (1 - conf)/2 of the values outside on either side."""
    values, cut = sorted(values), int(len(values) * (1 - conf) / 2)
    return values[cut], values[-1 - cut]


def _bin_of(p, bins):
    need(type(bins) is int and bins >= 1, f"stats: bins = {bins!r}: wants a whole number from 1")
    edges = [(i + 1) / bins for i in range(bins)]   # not p * bins, which rounds 0.07 * 100 past its edge
    return [bisect_left(edges, q) for q in p]


def _bin_gap(y, p, where, bins):
    gaps = [0.0] * bins
    for hit, q, i in zip(y, p, where):
        gaps[i] += hit - q
    return sum(map(abs, gaps)) / len(p)


def _covered(intervals):
    """How many positions the half-open intervals cover together."""
    length, reached = 0, -math.inf
    for start, end in sorted(intervals):
        length += max(0, end - max(start, reached))
        reached = max(reached, end)
    return length


def _check_matrix(m, name):
    cells = [x for row in m for x in row]
    need(all(type(x) is int and x >= 0 for x in cells), f"{name}: {m!r}: wants whole counts from 0")
    need(len({len(row) for row in m}) <= 1, f"{name}: {m!r}: wants rows of one length")


def _numbers(x):
    """The values as floats; Decimals, as files give them, are welcome."""
    x = [float(v) for v in x]
    need(all(map(math.isfinite, x)), f"stats: {x!r}: wants finite numbers")
    return x


def _forecasts(y, p):
    """Outcomes as 0/1 and confidences as floats, checked row by row."""
    need(len(y) == len(p), f"stats: {len(y)} outcomes and {len(p)} confidences: wants one of each a row")
    for row, (hit, q) in enumerate(zip(y, p)):
        need(hit in (0, 1) and q is not None and 0 <= q <= 1,
              f"stats: row {row}: outcome {hit!r}, confidence {q!r}: wants 0 or 1, and a share from 0 to 1")
    return [int(hit) for hit in y], [float(q) for q in p]
