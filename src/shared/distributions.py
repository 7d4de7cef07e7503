"""The distributions behind intervals and tests, by series and bisection, and what every function over counts refuses.

What cannot be right (k > n, a share outside its range, NaN) raises BadData with the value.
"""
import itertools
import math

from src.shared.files import BadData

Z95 = 1.959963984540054   # 0.975 quantile of the normal; a constant keeps `statistics` off the free path


def z_of(conf):
    """The z with `conf` of the standard normal between -z and z; negative for a negative `conf`."""
    if conf == 0.95:
        return Z95
    from statistics import NormalDist   # slow to import and seldom needed
    return NormalDist().inv_cdf((1 + conf) / 2)


def score_interval(p, n, z):
    """Wilson's interval for a rate p on n rows, which need not be a whole number."""
    centre, spread = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)
    return (0.0 if p == 0 else max(0.0, low)), (1.0 if p == 1 else min(1.0, high))


def crossing(holds, low, high):
    """Where `holds`, true just above `low` and false just below `high`, turns: halved until floats are neighbours."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def beta_quantile(q, a, b):
    return crossing(lambda x: beta_cdf(x, a, b) < q, 0.0, 1.0)


def beta_cdf(x, a, b):
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


def binomial(k, n, p):
    """P(X = k) for X binomial(n, p)."""
    if p in (0, 1):
        return float(k == n * p)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def binomial_cdf(k, n, p):
    """P(X <= k) for X binomial(n, p), k < n."""
    return beta_cdf(1 - p, n - k, k + 1)


def coin_tails(n, most):
    """Yield how many of the 2**n outcomes of n coins show at most 0, at most 1, … at most `most` heads."""
    exactly = itertools.accumulate(range(most), lambda ways, i: ways * (n - i) // (i + 1), initial=1)
    return itertools.accumulate(exactly)


def ratio_variance(pairs):
    """CR0 variance of sum(x)/sum(size) over (x, size) pairs; written so that whole numbers cancel to exactly 0."""
    total, rows = math.fsum(x for x, _ in pairs), math.fsum(size for _, size in pairs)
    return math.fsum((x * rows - total * size) ** 2 for x, size in pairs) / rows ** 4


# What is refused

def need(holds, message):
    if not holds:
        raise BadData(message)


def check_counts(**counts):
    for name, value in counts.items():
        need(type(value) is int and value >= 0, f"stats: {name} = {value!r}: wants a whole number from 0")


def check_rate(k, n, conf=0.95):
    check_counts(k=k, n=n)
    need(k <= n, f"stats: {k} of {n}: wants no more events than rows")
    check_open(conf=conf)


def check_open(**shares):
    for name, value in shares.items():
        need(0 < value < 1, f"stats: {name} = {value!r}: wants a share above 0 and below 1")


def check_share(**shares):
    for name, value in shares.items():
        need(0 <= value <= 1, f"stats: {name} = {value!r}: wants a share from 0 to 1")
