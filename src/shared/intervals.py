"""What a count of a run may claim: its interval, alone or where rows cluster, and what no event still allows.

k, n and table cells are whole counts; rates and `conf` are shares from 0 to 1. An interval is a tuple (low, high); None
means "not measured", which is never 0. What cannot be right raises BadData with the value.
"""
import functools
import itertools
import math

from src.shared.distributions import (beta_quantile, binomial, check_open, check_rate, check_share, need,
                                      ratio_variance, score_interval, z_of)


def wilson(k, n, conf=0.95):
    """Score interval for k of n (Wilson 1927), the one beside every printed rate. None for n = 0.
    >>> [round(x, 4) for x in wilson(0, 60)]
    [0.0, 0.0602]
    """
    check_rate(k, n, conf)
    return score_interval(k / n, n, z_of(conf)) if n else None


def clopper_pearson(k, n, conf=0.95):
    """Exact interval for k of n (Clopper & Pearson 1934): covers at least `conf`, whatever the rate. None for n = 0.
    >>> [round(x, 4) for x in clopper_pearson(3, 20)]
    [0.0321, 0.3789]
    """
    check_rate(k, n, conf)
    tail = (1 - conf) / 2
    low = beta_quantile(tail, k, n - k + 1) if k else 0.0
    high = beta_quantile(1 - tail, k + 1, n - k) if k < n else 1.0
    return (low, high) if n else None


def jeffreys(k, n, conf=0.95):
    """Equal-tailed interval under the Jeffreys prior, ends held at k = 0 and k = n (Brown, Cai & DasGupta 2001).

    None for n = 0.
    >>> [round(x, 4) for x in jeffreys(3, 20)]
    [0.0441, 0.3486]
    """
    check_rate(k, n, conf)
    tail = (1 - conf) / 2
    low = beta_quantile(tail, k + 0.5, n - k + 0.5) if k else 0.0
    high = beta_quantile(1 - tail, k + 0.5, n - k + 0.5) if k < n else 1.0
    return (low, high) if n else None


def upper_one_sided(k, n, conf=0.95):
    """Exact upper bound of the rate behind k of n, all doubt on one side: what "0 of 20" still allows.

    Clopper & Pearson 1934, one-sided. None for n = 0.
    >>> round(upper_one_sided(0, 20), 3)
    0.139
    """
    check_rate(k, n, conf)
    if n == 0:
        return None
    return beta_quantile(conf, k + 1, n - k) if k < n else 1.0


def rule_of_three(n):
    """3/n, at most 1: the bound after 0 of n events that fits in a reader's head (Hanley & Lippman-Hand 1983).

    Lies a little above `upper_one_sided(0, n)`. None for n = 0.
    >>> rule_of_three(60)
    0.05
    """
    check_rate(0, n)
    return min(1.0, 3 / n) if n else None


def n_for_zero(p0, conf=0.95):
    """Fewest opportunities after which zero events exclude a rate of p0 or more, 0 < p0 < 1.

    From (1 - p0)**n <= 1 - conf (Hanley & Lippman-Hand 1983). Below it no badge may say "safe".
    >>> n_for_zero(0.05)
    59
    """
    check_open(p0=p0, conf=conf)
    n = max(1, math.ceil(math.log(1 - conf) / math.log1p(-p0)))
    return next((m for m in (n - 1, n, n + 1) if m and (1 - p0) ** m <= 1 - conf), n)   # logs may be one off


def band_low(n, p0, alpha=0.01):
    """Largest count that would be an alarm: P(X <= count) <= alpha for X binomial(n, p0), 0 <= p0 <= 1.

    The lower edge of a one-sided Shewhart chart with exact limits. None when not even 0 of n would be rare enough.
    >>> band_low(60, 0.95)
    52
    """
    check_rate(0, n)
    check_open(alpha=alpha)
    check_share(p0=p0)
    cumulated = itertools.accumulate(binomial(k, n, p0) for k in range(n))
    return max((k for k, below in enumerate(cumulated) if below <= alpha), default=None)


def pass_hat_k(c, n, k):
    """Chance that k fresh tries all pass, from c passes in n tries: C(c,k)/C(n,k), unbiased (Yao et al. 2024).

    None for n = 0. Refused: k < 1, and k > n, of which n tries say nothing.
    >>> round(pass_hat_k(9, 10, 4), 3)
    0.6
    """
    check_rate(c, n)
    need(type(k) is int and k >= 1, f"pass_hat_k: k = {k!r}: wants a whole number from 1")
    need(n == 0 or k <= n, f"pass_hat_k: k = {k} of n = {n} tries: wants k <= n")
    return math.comb(c, k) / math.comb(n, k) if n else None


def ratio_interval(pairs, conf=0.95):
    """Interval inside 0..1 for a rate whose rows cluster; equals `wilson` when every cluster is one row.

    pairs: (hits, opportunities) a cluster; those without opportunity are left out. Wilson's interval on the effective
    number of rows: ratio-estimator variance and a t correction for few clusters (Korn & Graubard 1998), never
    more than the rows there are. Where nothing can vary (no hits, all hits, a single cluster) the worst case holds:
    each cluster counts as one row (Kish 1965). None for no opportunities.
    >>> [round(x, 3) for x in ratio_interval([(3, 3)] * 15 + [(1, 3)] * 5)]
    [0.663, 0.927]
    """
    check_open(conf=conf)
    pairs = list(pairs)
    for hits, of in pairs:
        need(type(of) is int and 0 <= hits <= of, f"ratio_interval: {hits!r} of {of!r}: wants hits <= a whole number")
    pairs = [(float(hits), of) for hits, of in pairs if of]
    hits, rows, count = math.fsum(h for h, _ in pairs), sum(of for _, of in pairs), len(pairs)
    if not pairs:
        return None
    p = hits / rows
    if p in (0, 1) or count == 1:
        return score_interval(p, rows ** 2 / math.fsum(of * of for _, of in pairs), z_of(conf))
    variance, half = ratio_variance(pairs) * count / (count - 1), (1 + conf) / 2
    effective = min(rows, p * (1 - p) / variance * rows / (rows - 1)) if variance else rows
    return score_interval(p, effective * (t_ppf(half, rows - 1) / t_ppf(half, count - 1)) ** 2, z_of(conf))


def clustered_mean(pairs, conf=0.95):
    """Interval for sum(x)/sum(size) over clusters, such as a paired difference by cluster: mean ± t(G-1) · cr1.

    pairs: (x, size) a cluster; x may be negative. Cut to -1..1. None for fewer than two clusters, and where nothing
    varies (Liang & Zeger 1986; Miller 2024).
    >>> [round(x, 3) for x in clustered_mean([(2, 3), (0, 3), (1, 3), (-1, 3)])]
    [-0.518, 0.851]
    """
    check_open(conf=conf)
    count, rows = len(pairs), sum(size for _, size in pairs)
    variance = ratio_variance(pairs) * count / (count - 1) if count > 1 and rows else 0
    if not variance:
        return None
    mean, reach = sum(x for x, _ in pairs) / rows, t_ppf((1 + conf) / 2, count - 1) * math.sqrt(variance)
    return max(-1.0, mean - reach), min(1.0, mean + reach)


@functools.lru_cache(maxsize=1024)
def t_ppf(p, df):
    """Quantile p of Student's t with df >= 1 degrees of freedom, 0 < p < 1 (Student 1908; by the incomplete beta).
    >>> round(t_ppf(0.975, 19), 4)
    2.093
    """
    check_open(p=p)
    need(1 <= df < math.inf, f"t_ppf: df = {df!r}: wants a number from 1")
    x = beta_quantile(2 * min(p, 1 - p), df / 2, 0.5)
    return math.copysign(math.sqrt(df * (1 - x) / x), p - 0.5)
