"""What the counts of a run may claim: intervals, paired tests, power, calibration, agreement.

Pure functions over plain numbers and lists; every figure that run, compare and board print comes through here.
    python -m unittest evals.shared.test_stats

Held by every function below:
* k, n, b, c and table cells are whole counts; rates, `conf`, `alpha`, `power` and differences are shares from 0 to 1,
  never percent. An interval is a tuple (low, high).
* None means "not measured" (no rows, or nothing that could vary); it is never 0 and must never be differenced.
* What cannot be right (k > n, a share outside its range, lists of two lengths, NaN) raises BadData with the value.
"""
import functools
import itertools
import math
import random
from bisect import bisect_left, bisect_right
from fractions import Fraction

from src.shared.files import BadData

Z95 = 1.959963984540054   # 0.975 quantile of the normal; a constant keeps `statistics` off the free path
SEED, DRAWS = 7, 2000     # of every resampling, so that the same rows give the same figures
FLIP_STEPS = 50_000_000   # additions that signflip_exact may spend: a few seconds


# One rate

def wilson(k, n, conf=0.95):
    """Score interval for k of n (Wilson 1927), the one beside every printed rate. None for n = 0.
    >>> [round(x, 4) for x in wilson(0, 60)]
    [0.0, 0.0602]
    """
    _check_rate(k, n, conf)
    return _score_interval(k / n, n, _z(conf)) if n else None


def clopper_pearson(k, n, conf=0.95):
    """Exact interval for k of n (Clopper & Pearson 1934): covers at least `conf`, whatever the rate. None for n = 0.
    >>> [round(x, 4) for x in clopper_pearson(3, 20)]
    [0.0321, 0.3789]
    """
    _check_rate(k, n, conf)
    tail = (1 - conf) / 2
    low = _beta_quantile(tail, k, n - k + 1) if k else 0.0
    high = _beta_quantile(1 - tail, k + 1, n - k) if k < n else 1.0
    return (low, high) if n else None


def jeffreys(k, n, conf=0.95):
    """Equal-tailed interval under the Jeffreys prior, ends held at k = 0 and k = n (Brown, Cai & DasGupta 2001).

    None for n = 0.
    >>> [round(x, 4) for x in jeffreys(3, 20)]
    [0.0441, 0.3486]
    """
    _check_rate(k, n, conf)
    tail = (1 - conf) / 2
    low = _beta_quantile(tail, k + 0.5, n - k + 0.5) if k else 0.0
    high = _beta_quantile(1 - tail, k + 0.5, n - k + 0.5) if k < n else 1.0
    return (low, high) if n else None


def upper_one_sided(k, n, conf=0.95):
    """Exact upper bound of the rate behind k of n, all doubt on one side: what "0 of 20" still allows.

    Clopper & Pearson 1934, one-sided. None for n = 0.
    >>> round(upper_one_sided(0, 20), 3)
    0.139
    """
    _check_rate(k, n, conf)
    if n == 0:
        return None
    return _beta_quantile(conf, k + 1, n - k) if k < n else 1.0


def rule_of_three(n):
    """3/n, at most 1: the bound after 0 of n events that fits in a reader's head (Hanley & Lippman-Hand 1983).

    Lies a little above `upper_one_sided(0, n)`. None for n = 0.
    >>> rule_of_three(60)
    0.05
    """
    _check_rate(0, n)
    return min(1.0, 3 / n) if n else None


def n_for_zero(p0, conf=0.95):
    """Fewest opportunities after which zero events exclude a rate of p0 or more, 0 < p0 < 1.

    From (1 - p0)**n <= 1 - conf (Hanley & Lippman-Hand 1983). Below it no badge may say "safe".
    >>> n_for_zero(0.05)
    59
    """
    _check_open(p0=p0, conf=conf)
    n = max(1, math.ceil(math.log(1 - conf) / math.log1p(-p0)))
    return next((m for m in (n - 1, n, n + 1) if m and (1 - p0) ** m <= 1 - conf), n)   # logs may be one off


def band_low(n, p0, alpha=0.01):
    """Largest count that would be an alarm: P(X <= count) <= alpha for X binomial(n, p0), 0 <= p0 <= 1.

    The lower edge of a one-sided Shewhart chart with exact limits. None when not even 0 of n would be rare enough.
    >>> band_low(60, 0.95)
    52
    """
    _check_rate(0, n)
    _check_open(alpha=alpha)
    _check_share(p0=p0)
    cumulated = itertools.accumulate(_binomial(k, n, p0) for k in range(n))
    return max((k for k, below in enumerate(cumulated) if below <= alpha), default=None)


def pass_hat_k(c, n, k):
    """Chance that k fresh tries all pass, from c passes in n tries: C(c,k)/C(n,k), unbiased (Yao et al. 2024).

    None for n = 0. Refused: k < 1, and k > n, of which n tries say nothing.
    >>> round(pass_hat_k(9, 10, 4), 3)
    0.6
    """
    _check_rate(c, n)
    _need(type(k) is int and k >= 1, f"pass_hat_k: k = {k!r}: wants a whole number from 1")
    _need(n == 0 or k <= n, f"pass_hat_k: k = {k} of n = {n} tries: wants k <= n")
    return math.comb(c, k) / math.comb(n, k) if n else None


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
    _check_counts(a=a, b=b, c=c, d=d)
    top, bottom, left = a + b, c + d, a + c
    possible = range(max(0, left - bottom), min(top, left) + 1)
    ways = [math.comb(top, x) * math.comb(bottom, left - x) for x in possible]
    seen = math.comb(top, a) * math.comb(bottom, c)
    return sum(w for w in ways if w <= seen) / sum(ways) if top + bottom else None


# Two arms on the same rows: b rows only the first got right, c only the second

def mcnemar_exact(b, c):
    """Two-sided exact p that b and c discordant rows are a fair coin (McNemar 1947, exact binomial). 1.0 for 0 and 0.

    "5 better, 0 worse" is not significant:
    >>> mcnemar_exact(0, 5)
    0.0625
    """
    _check_counts(b=b, c=c)
    return min(1.0, 2 * max(_coin_tails(b + c, min(b, c))) / 2 ** (b + c))


def mcnemar_midp(b, c):
    """The same with half of the observed outcome's weight: less cautious (Fagerland, Lydersen & Laake 2013).

    1.0 for b = c, by the doubled tail (that paper's own text takes off half of the one middle outcome there).
    >>> mcnemar_midp(0, 5)
    0.03125
    """
    _check_counts(b=b, c=c)
    return (2 * max(_coin_tails(b + c, min(b, c))) - math.comb(b + c, b)) / 2 ** (b + c)


def wins_needed(losses, alpha=0.05):
    """Fewest wins that `mcnemar_exact` would call significant (p <= alpha) against `losses` discordant rows.
    >>> wins_needed(0), wins_needed(1)
    (6, 8)
    """
    _check_counts(losses=losses)
    _check_open(alpha=alpha)
    return next(wins for wins in itertools.count(losses) if mcnemar_exact(wins, losses) <= alpha)


def tango(b, c, n, conf=0.95):
    """Score interval for the paired difference (b - c)/n of two arms on the same n rows (Tango 1998).

    Keeps a width at b = c = 0, where Wald's prints [0, 0]. None for n = 0. Refused: b + c > n.
    >>> [round(x, 4) for x in tango(9, 2, 60)]
    [0.0098, 0.2353]
    """
    _check_counts(b=b, c=c)
    _check_rate(b + c, n, conf)
    if n == 0:
        return None
    z, seen = _z(conf), (b - c) / n

    def distance(delta):
        """Observed minus assumed difference, less z standard errors; q is c/n refitted to `delta`."""
        linear = (2 * n - b + c) * delta - b - c
        q = (math.sqrt(max(0.0, linear ** 2 + 8 * n * c * delta * (1 - delta))) - linear) / (4 * n)
        return abs(b - c - n * delta) - z * math.sqrt(max(0.0, n * (2 * q + delta * (1 - delta))))

    return _crossing(lambda x: distance(x) > 0, -1.0, seen), _crossing(lambda x: distance(x) <= 0, seen, 1.0)


def signflip_exact(diffs):
    """Two-sided p that the differences are symmetric about 0: share of the 2**m sign choices with |sum| >= the seen.

    diffs: one number a cluster, the *sum* of its rows' differences (Fisher 1935; rows of a matter are no separate
    evidence). Exact: choices are counted by subset sum, not drawn. Decimals count by their own digits. None for an
    empty list. Refused: sums so large or finely divided that counting would not end; round them.
    >>> signflip_exact([1, 1, 1, 0, 1, -1, 1, 0, 0, 1])
    0.125
    """
    try:
        exact = [Fraction(str(d)) for d in diffs]
    except (ValueError, ZeroDivisionError):
        raise BadData(f"signflip_exact: {diffs!r}: wants finite numbers") from None
    if not exact:
        return None
    scale = math.lcm(*(d.denominator for d in exact))
    sizes = sorted(abs(int(d * scale)) for d in exact if d)
    total, seen = sum(sizes), abs(int(sum(exact) * scale))
    _need(total * len(sizes) <= FLIP_STEPS, f"signflip_exact: {len(sizes)} sums of {total} steps: round them first")
    ways = [1]                                        # ways[t]: sign choices whose minus side adds up to t
    for size in sizes:
        ways = [x + y for x, y in zip(ways + [0] * size, [0] * size + ways)]
    return sum(w for t, w in enumerate(ways) if abs(total - 2 * t) >= seen) / 2 ** len(sizes)


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
    cr0 = math.sqrt(_ratio_variance([(math.fsum(g), len(g)) for g in groups]))
    cr1 = cr0 * math.sqrt(count / (count - 1))
    naive = math.sqrt(math.fsum((x - mean) ** 2 for x in rows) / (n - 1) / n)
    varies = cr1 > 1e-12 * max(map(abs, rows))        # the rest is rounding
    effect, reach = (cr1 / naive) ** 2 if varies else None, t_ppf(0.975, count - 1) * cr1
    return {"naive": naive, "cr0_miller": cr0, "cr1": cr1, "design_effect_cr1": effect,
            "n_eff": n / effect if varies else None, "t_ci95_cr1": (mean - reach, mean + reach) if varies else None}


def ratio_interval(pairs, conf=0.95):
    """Interval inside 0..1 for a rate whose rows cluster; equals `wilson` when every cluster is one row.

    pairs: (hits, opportunities) a cluster; those without opportunity are left out. Wilson's interval on the effective
    number of rows: ratio-estimator variance and a t correction for few clusters (Korn & Graubard 1998), never
    more than the rows there are. Where nothing can vary (no hits, all hits, a single cluster) the worst case holds:
    each cluster counts as one row (Kish 1965). None for no opportunities.
    >>> [round(x, 3) for x in ratio_interval([(3, 3)] * 15 + [(1, 3)] * 5)]
    [0.663, 0.927]
    """
    _check_open(conf=conf)
    pairs = list(pairs)
    for hits, of in pairs:
        _need(type(of) is int and 0 <= hits <= of, f"ratio_interval: {hits!r} of {of!r}: wants hits <= a whole number")
    pairs = [(float(hits), of) for hits, of in pairs if of]
    hits, rows, count = math.fsum(h for h, _ in pairs), sum(of for _, of in pairs), len(pairs)
    if not pairs:
        return None
    p = hits / rows
    if p in (0, 1) or count == 1:
        return _score_interval(p, rows ** 2 / math.fsum(of * of for _, of in pairs), _z(conf))
    variance, half = _ratio_variance(pairs) * count / (count - 1), (1 + conf) / 2
    effective = min(rows, p * (1 - p) / variance * rows / (rows - 1)) if variance else rows
    return _score_interval(p, effective * (t_ppf(half, rows - 1) / t_ppf(half, count - 1)) ** 2, _z(conf))


@functools.lru_cache(maxsize=1024)
def t_ppf(p, df):
    """Quantile p of Student's t with df >= 1 degrees of freedom, 0 < p < 1 (Student 1908; by the incomplete beta).
    >>> round(t_ppf(0.975, 19), 4)
    2.093
    """
    _check_open(p=p)
    _need(1 <= df < math.inf, f"t_ppf: df = {df!r}: wants a number from 1")
    x = _beta_quantile(2 * min(p, 1 - p), df / 2, 0.5)
    return math.copysign(math.sqrt(df * (1 - x) / x), p - 0.5)


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

def mcnemar_unconditional_power(n, p10, p01, alpha=0.05):
    """Chance that `mcnemar_exact` gives p <= alpha on n rows that flip one way with p10 and the other with p01.

    Sums over every number of discordant rows (Duffy 1984). None for n = 0. Refused: p10 + p01 > 1.
    >>> round(mcnemar_unconditional_power(52, 0.15, 0.0), 3)
    0.812
    """
    _check_rate(0, n)
    _check_open(alpha=alpha)
    _check_share(p10=p10, p01=p01)
    flips = min(1.0, p10 + p01)
    _need(p10 + p01 - flips < 1e-12, f"mcnemar_unconditional_power: p10 + p01 = {p10 + p01!r}: wants at most 1")
    share = p10 / flips if flips else 0.5

    def reject(d):
        """Chance that d discordant rows fall so unevenly that the test rejects."""
        k = _critical(d, alpha)
        return 0.0 if k is None else _binomial_cdf(k, d, share) + _binomial_cdf(k, d, 1 - share)

    weights = ((d, _binomial(d, n, flips)) for d in range(n + 1))
    return math.fsum(w * reject(d) for d, w in weights if w > 1e-18) if n else None


def smallest_gain(n, losses=0.0, power=0.8, alpha=0.05):
    """Smallest true net gain (share of rows won minus lost) that n paired rows show with `power`, given `losses`.

    The inverse of `mcnemar_unconditional_power` by bisection. None when not even winning every other row would do,
    as for n < 6. Refused: power <= alpha.
    >>> round(smallest_gain(60), 2), round(smallest_gain(60, losses=0.05), 2), smallest_gain(5)
    (0.13, 0.2, None)
    """
    _check_open(power=power)
    _check_share(losses=losses)
    _need(power > alpha, f"smallest_gain: power = {power!r}: wants more than alpha = {alpha!r}")

    def falls_short(gain):
        return mcnemar_unconditional_power(n, losses + gain, losses, alpha) < power

    most = 1 - 2 * losses
    return None if n == 0 or most < 0 or falls_short(most) else _crossing(falls_short, 0.0, most)


def miller_mde(n, omega2, sA2, sB2, KA=1, KB=1, alpha=0.05, power=0.8):
    """Smallest detectable mean difference of two arms on n questions, normal approximation (Miller 2024, section 5).

    omega2: variance of the questions' true differences; sA2, sB2: variance within a question; KA, KB: tries a question.
    Unit: that of the score. None for n = 0. Refused: negative variances, K < 1.
    >>> round(miller_mde(60, 0.1, 0.05, 0.05), 4)
    0.1617
    """
    _check_rate(0, n)
    _check_open(alpha=alpha, power=power)
    _need(min(omega2, sA2, sB2) >= 0 and min(KA, KB) >= 1,
          f"miller_mde: variances {omega2!r}, {sA2!r}, {sB2!r}, tries {KA!r}, {KB!r}: wants >= 0 and >= 1")
    spread = float(omega2) + float(sA2) / KA + float(sB2) / KB
    return (_z(1 - alpha) + _z(2 * power - 1)) * math.sqrt(spread / n) if n else None


# Many comparisons

def holm(p):
    """p-values adjusted for the family they form, in their own order (Holm 1979): chance of any false claim <= alpha.

    Refused: a p outside 0..1 or None; a comparison not made is no member of the family.
    >>> [round(x, 3) for x in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    order, running, adjusted = _ascending(p), 0.0, [0.0] * len(p)
    for rank, i in enumerate(order):
        running = adjusted[i] = max(running, min(1.0, (len(p) - rank) * float(p[i])))
    return adjusted


def bh(p):
    """p-values adjusted for the expected *share* of false claims, in their own order (Benjamini & Hochberg 1995).

    Refused: as in `holm`.
    >>> [round(x, 3) for x in bh([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    order, running, adjusted = _ascending(p), 1.0, [0.0] * len(p)
    for rank, i in reversed(list(enumerate(order, 1))):
        running = adjusted[i] = min(running, len(p) * float(p[i]) / rank)
    return adjusted


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
    _check_open(eps=eps)
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
    _need(all(len(row) == len(m) for row in m), f"kappa: {m!r}: wants as many columns as rows")
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
    _need(readers > 1 and all(sum(row) == readers for row in t), f"fleiss_kappa: {t!r}: wants 2 or more readers a row")
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
    _need(not m or len(m[0]) >= len(m), f"macro_f1: {m!r}: wants a column for every row")
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
        _need(start <= end, f"overlap: ({start!r}, {end!r}): wants start <= end")
    size_a, size_b, either = _covered(a), _covered(b), _covered(a + b)
    shared = size_a + size_b - either
    return tuple(shared / size if size else None for size in (size_a, size_b, either))


# Helpers: the distributions

def _z(conf):
    """The z with `conf` of the standard normal between -z and z; negative for a negative `conf`."""
    if conf == 0.95:
        return Z95
    from statistics import NormalDist   # slow to import and seldom needed
    return NormalDist().inv_cdf((1 + conf) / 2)


def _score_interval(p, n, z):
    """Wilson's interval for a rate p on n rows, which need not be a whole number."""
    centre, spread = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    return (0.0 if p == 0 else max(0.0, low)), (1.0 if p == 1 else min(1.0, high))


def _crossing(holds, low, high):
    """Where `holds`, true just above `low` and false just below `high`, turns: halved until floats are neighbours."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _beta_quantile(q, a, b):
    return _crossing(lambda x: _beta_cdf(x, a, b) < q, 0.0, 1.0)


def _beta_cdf(x, a, b):
    """Regularised incomplete beta function, by its continued fraction (DLMF 8.17.22, Lentz's method)."""
    if not 0 < x < 1:
        return float(x >= 1)
    above = x > (a + 1) / (a + b + 2)    # the fraction converges fast below the mean; above it, mirror
    if above:
        x, a, b = 1 - x, b, a
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    numerator, denominator, m, step = 1.0, 1 / (1 - (a + b) * x / (a + 1)), 0, 0.0
    value = denominator
    while abs(step - 1) > 1e-15:
        m += 1
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            numerator, denominator = 1 + term / numerator, 1 / (1 + term * denominator)
            step = numerator * denominator
            value *= step
    return 1 - front * value if above else front * value


def _binomial(k, n, p):
    """P(X = k) for X binomial(n, p)."""
    if p in (0, 1):
        return float(k == n * p)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def _binomial_cdf(k, n, p):
    """P(X <= k) for X binomial(n, p), k < n."""
    return _beta_cdf(1 - p, n - k, k + 1)


def _coin_tails(n, most):
    """Yield how many of the 2**n outcomes of n coins show at most 0, at most 1, … at most `most` heads."""
    exactly = itertools.accumulate(range(most), lambda ways, i: ways * (n - i) // (i + 1), initial=1)
    return itertools.accumulate(exactly)


@functools.lru_cache(maxsize=4096)
def _critical(d, alpha):
    """Largest smaller count that rejects a fair coin on d discordant rows, None if none does."""
    return max((k for k, ways in enumerate(_coin_tails(d, d // 2)) if 2 * ways / 2 ** d <= alpha), default=None)


# Helpers: clusters, resampling, bins, intervals

def _ratio_variance(pairs):
    """CR0 variance of sum(x)/sum(size) over (x, size) pairs; written so that whole numbers cancel to exactly 0."""
    total, rows = math.fsum(x for x, _ in pairs), math.fsum(size for _, size in pairs)
    return math.fsum((x * rows - total * size) ** 2 for x, size in pairs) / rows ** 4


def _draws(B, seed, conf):
    _check_open(conf=conf)
    _need(type(B) is int and B >= 1, f"stats: B = {B!r} resamples: wants a whole number from 1")
    _need(type(seed) is int, f"stats: seed = {seed!r}: wants a whole number, so that the figures come again")
    return random.Random(seed)


def _middle(values, conf):
    """The order statistics that leave (1 - conf)/2 of the values outside on either side."""
    values, cut = sorted(values), int(len(values) * (1 - conf) / 2)
    return values[cut], values[-1 - cut]


def _bin_of(p, bins):
    _need(type(bins) is int and bins >= 1, f"stats: bins = {bins!r}: wants a whole number from 1")
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


def _ascending(p):
    for x in p:
        _need(x is not None and 0 <= x <= 1, f"stats: p-value {x!r}: wants a number from 0 to 1")
    return sorted(range(len(p)), key=lambda i: p[i])


# Helpers: what is refused

def _need(holds, message):
    if not holds:
        raise BadData(message)


def _check_counts(**counts):
    for name, value in counts.items():
        _need(type(value) is int and value >= 0, f"stats: {name} = {value!r}: wants a whole number from 0")


def _check_rate(k, n, conf=0.95):
    _check_counts(k=k, n=n)
    _need(k <= n, f"stats: {k} of {n}: wants no more events than rows")
    _check_open(conf=conf)


def _check_open(**shares):
    for name, value in shares.items():
        _need(0 < value < 1, f"stats: {name} = {value!r}: wants a share above 0 and below 1")


def _check_share(**shares):
    for name, value in shares.items():
        _need(0 <= value <= 1, f"stats: {name} = {value!r}: wants a share from 0 to 1")


def _check_matrix(m, name):
    cells = [x for row in m for x in row]
    _need(all(type(x) is int and x >= 0 for x in cells), f"{name}: {m!r}: wants whole counts from 0")
    _need(len({len(row) for row in m}) <= 1, f"{name}: {m!r}: wants rows of one length")


def _numbers(x):
    """The values as floats; Decimals, as files give them, are welcome."""
    x = [float(v) for v in x]
    _need(all(map(math.isfinite, x)), f"stats: {x!r}: wants finite numbers")
    return x


def _forecasts(y, p):
    """Outcomes as 0/1 and confidences as floats, checked row by row."""
    _need(len(y) == len(p), f"stats: {len(y)} outcomes and {len(p)} confidences: wants one of each a row")
    for row, (hit, q) in enumerate(zip(y, p)):
        _need(hit in (0, 1) and q is not None and 0 <= q <= 1,
              f"stats: row {row}: outcome {hit!r}, confidence {q!r}: wants 0 or 1, and a share from 0 to 1")
    return [int(hit) for hit in y], [float(q) for q in p]
