"""Two arms on the same rows: exact tests, the interval of their difference, what the set could have shown.

b rows only the first got right, c only the second: whole counts. Differences, `alpha` and `power` are shares from 0 to
1. None means "not measured". What cannot be right raises BadData with the value.
"""
import functools
import itertools
import math
from fractions import Fraction

from src.shared.distributions import (binomial, binomial_cdf, check_counts, check_open, check_rate, check_share,
                                      coin_tails, crossing, need, z_of)
from src.shared.files import BadData

FLIP_STEPS = 50_000_000   # additions that signflip_exact may spend: a few seconds
EXACT_ROWS = 500          # up to which power is summed over every outcome; beyond, the normal is as good and quick


def mcnemar_exact(b, c):
    """Two-sided exact p that b and c discordant rows are a fair coin (McNemar 1947, exact binomial). 1.0 for 0 and 0.

    "5 better, 0 worse" is not significant:
    >>> mcnemar_exact(0, 5)
    0.0625
    """
    check_counts(b=b, c=c)
    return min(1.0, 2 * max(coin_tails(b + c, min(b, c))) / 2 ** (b + c))


def mcnemar_midp(b, c):
    """The same with half of the observed outcome's weight: less cautious (Fagerland, Lydersen & Laake 2013).

    1.0 for b = c, by the doubled tail (that paper's own text takes off half of the one middle outcome there).
    >>> mcnemar_midp(0, 5)
    0.03125
    """
    check_counts(b=b, c=c)
    return (2 * max(coin_tails(b + c, min(b, c))) - math.comb(b + c, b)) / 2 ** (b + c)


def wins_needed(losses, alpha=0.05):
    """Fewest wins that `mcnemar_exact` would call significant (p <= alpha) against `losses` discordant rows.
    >>> wins_needed(0), wins_needed(1)
    (6, 8)
    """
    check_counts(losses=losses)
    check_open(alpha=alpha)
    return next(wins for wins in itertools.count(losses) if mcnemar_exact(wins, losses) <= alpha)


def tango(b, c, n, conf=0.95):
    """Score interval for the paired difference (b - c)/n of two arms on the same n rows (Tango 1998).

    Keeps a width at b = c = 0, where Wald's prints [0, 0]. None for n = 0. Refused: b + c > n.
    >>> [round(x, 4) for x in tango(9, 2, 60)]
    [0.0098, 0.2353]
    """
    check_counts(b=b, c=c)
    check_rate(b + c, n, conf)
    if n == 0:
        return None
    z, seen = z_of(conf), (b - c) / n

    def distance(delta):
        """Observed minus assumed difference, less z standard errors; q is c/n refitted to `delta`."""
        linear = (2 * n - b + c) * delta - b - c
        q = (math.sqrt(max(0.0, linear ** 2 + 8 * n * c * delta * (1 - delta))) - linear) / (4 * n)
        return abs(b - c - n * delta) - z * math.sqrt(max(0.0, n * (2 * q + delta * (1 - delta))))

    return crossing(lambda x: distance(x) > 0, -1.0, seen), crossing(lambda x: distance(x) <= 0, seen, 1.0)


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
    need(total * len(sizes) <= FLIP_STEPS, f"signflip_exact: {len(sizes)} sums of {total} steps: round them first")
    if not seen:
        return 1.0
    most, ways = (total - seen) // 2, [1]             # ways[t]: sign choices whose minus side adds up to t
    for size in sizes:                                # the other tail is this one, with the signs turned round
        ways = [x + y for x, y in zip(ways + [0] * size, [0] * size + ways)][:most + 1]
    return 2 * sum(ways) / 2 ** len(sizes)


def signflip(diffs):
    """(p, what was done) of `signflip_exact`; where counting would not end, by the normal curve of the same sum.

    >>> signflip([1, 1, 1, -1, 1, 1, 1]), signflip([])
    ((0.125, 'exact sign flips by cluster'), (1.0, 'exact sign flips by cluster'))
    """
    if sum(map(abs, diffs)) * len(diffs) <= FLIP_STEPS:
        return signflip_exact(diffs or [0]), "exact sign flips by cluster"
    p = math.erfc(abs(sum(diffs)) / math.sqrt(2 * sum(d * d for d in diffs)))
    return p, "sign flips by cluster, by the normal curve"


# What this set could have shown

def mcnemar_unconditional_power(n, p10, p01, alpha=0.05):
    """Chance that `mcnemar_exact` gives p <= alpha on n rows that flip one way with p10 and the other with p01.

    Sums over every number of discordant rows (Duffy 1984). None for n = 0. Refused: p10 + p01 > 1.
    >>> round(mcnemar_unconditional_power(52, 0.15, 0.0), 3)
    0.812
    """
    check_rate(0, n)
    check_open(alpha=alpha)
    check_share(p10=p10, p01=p01)
    flips = min(1.0, p10 + p01)
    need(p10 + p01 - flips < 1e-12, f"mcnemar_unconditional_power: p10 + p01 = {p10 + p01!r}: wants at most 1")
    share = p10 / flips if flips else 0.5

    def reject(d):
        """Chance that d discordant rows fall so unevenly that the test rejects."""
        k = _critical(d, alpha)
        return 0.0 if k is None else binomial_cdf(k, d, share) + binomial_cdf(k, d, 1 - share)

    weights = ((d, binomial(d, n, flips)) for d in range(n + 1))
    return math.fsum(w * reject(d) for d, w in weights if w > 1e-18) if n else None


def smallest_gain(n, losses=0.0, power=0.8, alpha=0.05):
    """Smallest true net gain (share of rows won minus lost) that n paired rows show with `power`, given `losses`.

    The inverse of `mcnemar_unconditional_power` by bisection; beyond EXACT_ROWS rows of its normal form (Connor 1987).
    None when not even winning every other row would do, as for n < 6. Refused: power <= alpha.
    >>> round(smallest_gain(60), 2), round(smallest_gain(60, losses=0.05), 2), smallest_gain(5)
    (0.13, 0.2, None)
    """
    check_open(power=power)
    check_share(losses=losses)
    need(power > alpha, f"smallest_gain: power = {power!r}: wants more than alpha = {alpha!r}")

    def falls_short(gain):
        found = mcnemar_unconditional_power if n <= EXACT_ROWS else _normal_power
        return found(n, losses + gain, losses, alpha) < power

    most = 1 - 2 * losses
    return None if n == 0 or most < 0 or falls_short(most) else crossing(falls_short, 0.0, most)


def _normal_power(n, p10, p01, alpha):
    """Power of McNemar's test by the normal curve (Connor 1987)."""
    flips, gain = p10 + p01, p10 - p01
    spread = math.sqrt(2 * max(flips - gain * gain, 1e-300))
    return math.erfc((z_of(1 - alpha) * math.sqrt(flips) - gain * math.sqrt(n)) / spread) / 2


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


@functools.lru_cache(maxsize=4096)
def _critical(d, alpha):
    """Largest smaller count that rejects a fair coin on d discordant rows, None if none does."""
    return max((k for k, ways in enumerate(coin_tails(d, d // 2)) if 2 * ways / 2 ** d <= alpha), default=None)


def _ascending(p):
    for x in p:
        need(x is not None and 0 <= x <= 1, f"stats: p-value {x!r}: wants a number from 0 to 1")
    return sorted(range(len(p)), key=lambda i: p[i])
