"""The numbers against published tools, against brute force, and against what an interval must be whatever its formula.

    python -m unittest evals.shared.test_stats
"""
import doctest
import inspect
import itertools
import json
import math
import random
import subprocess
import sys
import unittest
from decimal import Decimal
from pathlib import Path

from evals.shared import stats
from src.shared import intervals, paired
from src.shared.files import BadData

ROOT = Path(__file__).resolve().parents[2]
MODULES = stats, intervals, paired
CASES = ROOT.parent / "shared" / "cases" / "stats.json"

HIT_RATE = [1] * 45 + [0] * 7
Y, P = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0], [0.9, 0.8, 0.7, 0.95, 0.6, 0.4, 0.85, 0.9, 0.99, 0.3]
Y2, P2 = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0], [1.0, 1.0, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.8, 0.5, 0.5, 0.5]
MATRIX = [[18, 2, 0], [3, 20, 2], [0, 1, 14]]
CLUSTERS = [[1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1], [1, 0, 1], [1, 1, 1]]

# Function, arguments, value from scipy, statsmodels or scikit-learn, to six decimals.
ESSENTIAL = [
    (stats.wilson, (0, 60), (0, 0.060172)),
    (stats.wilson, (45, 52), (0.747267, 0.933231)),
    (stats.clopper_pearson, (66, 72), (0.827391, 0.968802)),
    (stats.clopper_pearson, (60, 60), (0.940371, 1)),
    (stats.jeffreys, (45, 52), (0.753784, 0.937712)),
    (stats.upper_one_sided, (0, 20), 0.139108),
    (stats.upper_one_sided, (2, 60), 0.101236),
    (stats.n_for_zero, (0.05,), 59),
    (stats.n_for_zero, (0.005,), 598),
    (stats.t_ppf, (0.975, 5), 2.570582),
    (stats.mcnemar_exact, (5, 1), 0.21875),
    (stats.mcnemar_exact, (0, 5), 0.0625),
    (stats.mcnemar_exact, (0, 0), 1),
    (stats.mcnemar_midp, (9, 2), 0.038574),
    (stats.mcnemar_midp, (3, 3), 1),
    (stats.mcnemar_unconditional_power, (60, 0.2, 0.05), 0.580855),
    (stats.tango, (5, 1, 60), (-0.017906, 0.167409)),
    (stats.tango, (4, 8, 72), (-0.159903, 0.043485)),
    (stats.tango, (0, 0, 60), (-0.060172, 0.060172)),
    (stats.signflip_exact, ([3, 2, 2, -1, 0, 1, 4, -2, 1, 2, 2, 0],), 0.056641),
    (stats.bootstrap_mean_ci, (HIT_RATE, 2000, 7), (0.769231, 0.942308)),
    (stats.bootstrap_se_exact, (HIT_RATE,), 0.047331),
    (stats.cluster_se, (CLUSTERS,), {"cr0_miller": 0.145226, "cr1": 0.159087, "naive": 0.108632, "n_eff": 8.393113,
                                     "design_effect_cr1": 2.144615, "t_ci95_cr1": (0.313276, 1.131168)}),
    (stats.miller_mde, (52, 0.1, 0.05, 0.05), 0.173747),
    (stats.holm, ([0.01, 0.04, 0.03, 0.005],), [0.03, 0.06, 0.06, 0.02]),
    (stats.bh, ([0.01, 0.04, 0.03, 0.005],), [0.02, 0.04, 0.04, 0.02]),
    (stats.brier, (Y, P), 0.09851),
    (stats.murphy, (Y2, P2), (0.063056, 0.006944, 0.222222)),
    (stats.log_loss, (Y2, P2), 3.450866),
    (stats.ece, (Y2, P2), 0.2),
    (stats.spiegelhalter_z, (Y, P), -0.723361),
    (stats.auroc, (Y2, P2), 0.4375),
    (stats.kappa, (MATRIX,), {"kappa": 0.797040, "se": 0.067219, "linear": 0.84, "quadratic": 0.887588}),
    (stats.macro_f1, (MATRIX,), 0.871536),
    (stats.fleiss_kappa, ([[3, 0], [3, 0], [2, 1], [0, 3], [1, 2], [3, 0]],), 0.5),
    (stats.newcombe_diff, (45, 52, 57, 60), (-0.207216, 0.025716)),
    (stats.fisher_exact, (45, 7, 57, 3), 0.183474),
    (stats.band_low, (60, 0.95, 0.01), 52),
    (stats.pass_hat_k, (9, 10, 4), 0.6),
    (stats.overlap, ([(0, 4), (2, 8), (20, 25)], [(3, 22)]), (0.538462, 0.368421, 0.28)),
]


def public_functions():
    return {name: f for name, f in inspect.getmembers(stats, inspect.isfunction)
            if f.__module__ in {module.__name__ for module in MODULES} and not name.startswith("_")}


class Numbers(unittest.TestCase):
    def assert_near(self, got, right, tol):
        if isinstance(right, dict):
            self.assertEqual(got.keys(), right.keys())
            got, right = list(got.values()), [right[key] for key in got]
        if isinstance(right, (list, tuple)):
            self.assertEqual(len(got), len(right))
            for one, other in zip(got, right):
                self.assert_near(one, other, tol)
        else:
            self.assertAlmostEqual(got, right, delta=tol)


class PublishedValues(Numbers):
    def test_every_check_of_the_case_file_holds_within_its_tolerance(self):
        if not CASES.exists():
            self.skipTest("the shared case file is not beside this checkout; the own copies below still hold")
        checks = json.loads(CASES.read_text())["checks"]
        self.assertGreater(len(checks), 90)
        for check in checks:
            with self.subTest(check["id"]):
                self.assert_near(getattr(stats, check["fn"])(**check["in"]), check["out"], check["tol"])

    def test_the_essential_values_hold_without_the_case_file(self):
        for function, arguments, right in ESSENTIAL:
            with self.subTest(function.__name__, arguments=arguments):
                self.assert_near(function(*arguments), right, 1e-6)

    def test_every_public_function_shows_one_example_and_the_examples_are_true(self):
        without = [name for name, f in public_functions().items() if ">>>" not in (f.__doc__ or "")]
        self.assertEqual(without, [])
        results = [doctest.testmod(module, verbose=False) for module in MODULES]
        self.assertGreaterEqual(sum(result.attempted for result in results), len(public_functions()))
        self.assertEqual(sum(result.failed for result in results), 0)

    def test_a_95_percent_wilson_interval_does_not_import_statistics(self):
        code = "import sys; from evals.shared.stats import wilson; wilson(1, 2); sys.exit('statistics' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT).returncode, 0)

    def test_the_constant_z_is_the_normal_quantile(self):
        from statistics import NormalDist
        self.assertAlmostEqual(stats.Z95, NormalDist().inv_cdf(0.975), places=14)


class OneRate(Numbers):
    def test_intervals_contain_the_estimate_mirror_and_narrow_with_less_confidence(self):
        for interval in (stats.wilson, stats.clopper_pearson, stats.jeffreys):
            for n in (1, 2, 7, 60):
                for k in range(n + 1):
                    with self.subTest(interval.__name__, k=k, n=n):
                        low, high = interval(k, n)
                        self.assertTrue(0 <= low <= k / n <= high <= 1)
                        self.assert_near((1 - high, 1 - low), interval(n - k, n), 1e-12)
                        inner = interval(k, n, 0.8)
                        self.assertTrue(low <= inner[0] and inner[1] <= high)

    def test_intervals_rise_with_the_count(self):
        for interval in (stats.wilson, stats.clopper_pearson, stats.jeffreys):
            ends = [interval(k, 40) for k in range(41)]
            for lower, upper in itertools.pairwise(ends):
                self.assertTrue(lower[0] <= upper[0] and lower[1] <= upper[1])

    def test_clopper_pearson_leaves_exactly_its_tails_outside(self):
        def at_most(k, n, p):
            return math.fsum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k + 1))

        for n in range(1, 12):
            for k in range(n + 1):
                low, high = stats.clopper_pearson(k, n)
                if k:
                    self.assertAlmostEqual(1 - at_most(k - 1, n, low), 0.025, places=12)
                if k < n:
                    self.assertAlmostEqual(at_most(k, n, high), 0.025, places=12)
                    self.assertAlmostEqual(at_most(k, n, stats.upper_one_sided(k, n)), 0.05, places=12)

    def test_zero_of_59_is_the_first_that_excludes_5_percent(self):
        self.assertLessEqual(stats.upper_one_sided(0, 59), 0.05)
        self.assertGreater(stats.upper_one_sided(0, 58), 0.05)
        self.assertEqual(stats.rule_of_three(60), 0.05)
        self.assertEqual(stats.rule_of_three(2), 1)

    def test_the_alarm_band_is_the_largest_count_rare_enough(self):
        self.assertIsNone(stats.band_low(3, 0.5, 0.01))
        self.assertEqual(stats.band_low(10, 0.5, 0.011), 1)      # P(X <= 1) = 11/1024
        self.assertEqual(stats.band_low(10, 1.0), 9)

    def test_large_counts_neither_overflow_nor_stall(self):
        self.assert_near(stats.clopper_pearson(50_000, 100_000), (0.496896, 0.503104), 1e-6)
        self.assertLess(stats.mcnemar_exact(2000, 2400), 1e-8)
        self.assertEqual(stats.mcnemar_exact(2000, 2000), 1)


class PairedArms(Numbers):
    def test_mcnemar_agrees_with_every_coin_sequence(self):
        for n in range(1, 11):
            heads = [sum(coins) for coins in itertools.product((0, 1), repeat=n)]
            for b in range(n + 1):
                k = min(b, n - b)
                extreme = sum(min(h, n - h) <= k for h in heads)
                tied = sum(min(h, n - h) == k for h in heads)
                self.assertEqual(stats.mcnemar_exact(b, n - b), extreme / 2 ** n)
                midp = 1 if b == n - b else (extreme - tied / 2) / 2 ** n
                self.assertAlmostEqual(stats.mcnemar_midp(b, n - b), midp, places=14)

    def test_five_better_and_none_worse_is_not_significant_and_six_is(self):
        self.assertEqual(stats.mcnemar_exact(5, 0), 0.0625)
        self.assertEqual(stats.wins_needed(0), 6)
        for losses in range(12):
            wins = stats.wins_needed(losses)
            self.assertLessEqual(stats.mcnemar_exact(wins, losses), 0.05)
            self.assertGreater(stats.mcnemar_exact(wins - 1, losses), 0.05)

    def test_tango_contains_the_difference_mirrors_and_stays_in_range(self):
        for n in (1, 5, 12):
            for b in range(n + 1):
                for c in range(n + 1 - b):
                    with self.subTest(b=b, c=c, n=n):
                        low, high = stats.tango(b, c, n)
                        self.assertTrue(-1 <= low <= (b - c) / n <= high <= 1 and low < high)
                        self.assert_near((-high, -low), stats.tango(c, b, n), 1e-12)

    def test_sign_flips_agree_with_full_enumeration(self):
        draw = random.Random(3)
        for m in range(1, 11):
            diffs = [draw.randint(-4, 4) for _ in range(m)]
            sums = [sum(s * d for s, d in zip(signs, diffs)) for signs in itertools.product((-1, 1), repeat=m)]
            right = sum(abs(s) >= abs(sum(diffs)) for s in sums) / 2 ** m
            self.assertEqual(stats.signflip_exact(diffs), right)
            self.assertEqual(stats.signflip_exact([-d for d in diffs]), right)

    def test_sign_flips_of_single_rows_are_mcnemar(self):
        for b, c in ((5, 1), (9, 2), (0, 5), (3, 3)):
            self.assertEqual(stats.signflip_exact([1] * b + [-1] * c + [0] * 4), stats.mcnemar_exact(b, c))

    def test_sign_flips_stay_exact_for_hundreds_of_clusters_and_for_decimals(self):
        self.assertEqual(stats.signflip_exact([1] * 130 + [-1] * 170), stats.mcnemar_exact(130, 170))
        self.assertEqual(stats.signflip_exact([0.1, 0.2, -0.3]), 1)          # binary floats would miss this tie
        self.assertEqual(stats.signflip_exact([Decimal("0.5"), 1, 2]), 0.25)
        self.assertEqual(stats.signflip_exact([0, 0]), 1)

    def test_power_agrees_with_full_enumeration(self):
        n, p10, p01 = 12, 0.45, 0.1
        right = math.fsum(
            math.comb(n, b) * math.comb(n - b, c) * p10 ** b * p01 ** c * (1 - p10 - p01) ** (n - b - c)
            for b in range(n + 1) for c in range(n + 1 - b) if stats.mcnemar_exact(b, c) <= 0.05)
        self.assertAlmostEqual(stats.mcnemar_unconditional_power(n, p10, p01), right, places=12)

    def test_sixty_rows_could_have_shown_13_points_or_20_with_losses(self):
        plain, lossy = stats.smallest_gain(60), stats.smallest_gain(60, losses=0.05)
        self.assertEqual((round(plain, 2), round(lossy, 2)), (0.13, 0.2))
        self.assertAlmostEqual(stats.mcnemar_unconditional_power(60, 0.05 + lossy, 0.05), 0.8, places=9)
        self.assertLess(stats.smallest_gain(120), plain)
        self.assertIsNone(stats.smallest_gain(5))


class Clusters(Numbers):
    def test_one_row_clusters_give_the_plain_figures(self):
        rows = [1] * 13 + [0] * 7
        errors = stats.cluster_se([[x] for x in rows])
        self.assertAlmostEqual(errors["cr1"], errors["naive"], places=14)
        self.assert_near(stats.ratio_interval([(x, 1) for x in rows]), stats.wilson(13, 20), 1e-12)

    def test_identical_readings_count_once(self):
        tripled = stats.ratio_interval([(3, 3)] * 13 + [(0, 3)] * 7)
        low, high = stats.wilson(13, 20)
        self.assertTrue(tripled[0] < low and high < tripled[1])              # wider still: only 20 clusters, t
        self.assert_near(stats.ratio_interval([(0, 3)] * 20), stats.wilson(0, 20), 1e-12)

    def test_a_perfect_clustered_rate_keeps_a_width(self):
        low, high = stats.ratio_interval([(3, 3)] * 20)
        self.assertTrue(low < 0.9 and high == 1)
        low, high = stats.ratio_interval([(1, 3)])
        self.assertTrue(low < 0.05 and high > 0.85)
        self.assertIsNone(stats.cluster_se([[1, 1]] * 20)["t_ci95_cr1"])
        self.assertIsNone(stats.cluster_se([[0.1, 0.1, 0.1]] * 20)["n_eff"])

    def test_ratio_intervals_stay_in_range_around_the_rate_and_never_beat_independence(self):
        draw = random.Random(5)
        for _ in range(50):
            pairs = [(draw.randint(0, of), of) for of in draw.choices(range(5), k=draw.randint(2, 15))]
            hits, rows = map(sum, zip(*pairs))
            interval = stats.ratio_interval(pairs)
            if interval is not None:
                plain = stats.wilson(hits, rows)
                self.assertTrue(0 <= interval[0] <= hits / rows <= interval[1] <= 1)
                self.assertGreaterEqual(interval[1] - interval[0], plain[1] - plain[0] - 1e-12)

    def test_percentiles_cut_the_same_count_from_both_ends(self):
        self.assertEqual(stats._middle(range(200), 0.95), (5, 194))

    def test_the_same_seed_gives_the_same_interval_and_clusters_widen_it(self):
        self.assertEqual(stats.bootstrap_mean_ci(HIT_RATE), stats.bootstrap_mean_ci(HIT_RATE))
        rows = [x for g in CLUSTERS for x in g]
        plain, clustered = stats.bootstrap_mean_ci(rows), stats.bootstrap_cluster_ci(CLUSTERS)
        self.assertGreater(clustered[1] - clustered[0], plain[1] - plain[0])
        self.assertEqual(stats.bootstrap_cluster_ci([[x] for x in rows]), plain)


class Families(Numbers):
    def test_adjusted_values_keep_their_order_and_holm_is_the_stricter(self):
        p = [0.2, 0.001, 0.04, 0.04, 1.0]
        holm, bh = stats.holm(p), stats.bh(p)
        for i, j in itertools.product(range(len(p)), repeat=2):
            if p[i] <= p[j]:
                self.assertTrue(holm[i] <= holm[j] and bh[i] <= bh[j])
        self.assertTrue(all(raw <= b <= h <= 1 for raw, b, h in zip(p, bh, holm)))
        self.assertEqual((stats.holm([0.03]), stats.holm([])), ([0.03], []))


class Calibration(Numbers):
    def test_murphy_adds_up_to_brier(self):
        for y, p in ((Y, P), (Y2, P2)):
            reliability, resolution, uncertainty = stats.murphy(y, p)
            self.assertAlmostEqual(reliability - resolution + uncertainty, stats.brier(y, p), places=14)

    def test_a_value_on_an_edge_belongs_to_the_bin_below(self):
        for bins in (10, 100):
            for i in range(1, bins + 1):
                self.assertEqual(stats._bin_of([i / bins], bins), [i - 1])
        self.assertEqual(stats._bin_of([0.0, 1.0], 10), [0, 9])

    def test_perfect_forecasts_mostly_fall_inside_the_null_band(self):
        p = [0.55, 0.65, 0.75, 0.85, 0.95] * 12
        low, high = stats.ece_null_band(p)
        self.assertGreater(low, 0)
        draw = random.Random(11)
        errors = [stats.ece([draw.random() < q for q in p], p) for _ in range(300)]
        self.assertGreater(sum(low <= e <= high for e in errors), 270)
        self.assertGreater(stats.ece([0] * 60, p), high)

    def test_auroc_counts_pairs(self):
        pairs = [(p > q) + (p == q) / 2 for h, p in zip(Y2, P2) if h for g, q in zip(Y2, P2) if not g]
        self.assertAlmostEqual(stats.auroc(Y2, P2), sum(pairs) / len(pairs), places=14)

    def test_decimals_from_a_file_give_the_same_figures(self):
        exact = [Decimal(str(q)) for q in P]
        for function in (stats.brier, stats.murphy, stats.ece, stats.log_loss, stats.spiegelhalter_z, stats.auroc):
            self.assertEqual(function(Y, exact), function(Y, P))


class Labels(Numbers):
    def test_agreement_does_not_care_which_reader_comes_first(self):
        self.assert_near(stats.kappa([list(column) for column in zip(*MATRIX)]), stats.kappa(MATRIX), 1e-14)
        self.assertEqual(stats.kappa([[5, 0], [0, 5]])["kappa"], 1)

    def test_unparsed_answers_cost_f1_and_an_absent_class_counts_zero(self):
        self.assertEqual(stats.macro_f1([[5, 0], [0, 5]]), 1)
        self.assertAlmostEqual(stats.macro_f1([[4, 0, 1], [0, 5, 0]]), (8 / 9 + 1) / 2)
        self.assertAlmostEqual(stats.macro_f1([[5, 0, 0], [0, 5, 0], [0, 0, 0]]), 2 / 3)

    def test_overlap_agrees_with_sets_of_positions(self):
        draw = random.Random(2)
        for _ in range(100):
            a, b = ([(s, s + draw.randint(0, 6)) for s in draw.choices(range(20), k=3)] for _ in "ab")
            in_a, in_b = ({i for s, e in spans for i in range(s, e)} for spans in (a, b))
            sizes = len(in_a), len(in_b), len(in_a | in_b)
            right = tuple(len(in_a & in_b) / size if size else None for size in sizes)
            self.assertEqual(stats.overlap(a, b), right)
            self.assertEqual(stats.overlap(a, [list(span) for span in b]), right)


class NothingMeasured(unittest.TestCase):
    def test_no_rows_is_none_and_never_zero(self):
        nothing = [
            stats.wilson(0, 0), stats.clopper_pearson(0, 0), stats.jeffreys(0, 0), stats.upper_one_sided(0, 0),
            stats.rule_of_three(0), stats.band_low(0, 0.9), stats.pass_hat_k(0, 0, 1), stats.newcombe_diff(0, 0, 1, 2),
            stats.fisher_exact(0, 0, 0, 0), stats.tango(0, 0, 0), stats.signflip_exact([]), stats.cluster_se([[], [1]]),
            stats.ratio_interval([(0, 0)]), stats.bootstrap_mean_ci([]),
            stats.bootstrap_cluster_ci([[1, 0]]), stats.bootstrap_se_exact([]), stats.smallest_gain(0),
            stats.mcnemar_unconditional_power(0, 0.1, 0.1), stats.miller_mde(0, 1, 0, 0), stats.brier([], []),
            stats.murphy([], []), stats.log_loss([], []), stats.ece([], []), stats.ece_null_band([]),
            stats.spiegelhalter_z([1], [1.0]), stats.auroc([1, 1], [0.5, 0.6]), stats.kappa([[0, 0], [0, 0]]),
            stats.kappa([[9, 0], [0, 0]]), stats.fleiss_kappa([]), stats.fleiss_kappa([[3, 0]]), stats.macro_f1([[0]]),
        ]
        self.assertEqual(nothing, [None] * len(nothing))
        self.assertEqual(stats.overlap([], [(0, 2)]), (None, 0, 0))

    def test_what_cannot_be_right_is_refused_with_its_value(self):
        nan = float("nan")
        for call, named in [
            (lambda: stats.wilson(5, 4), "5 of 4"), (lambda: stats.wilson(True, 4), "True"),
            (lambda: stats.wilson(-1, 4), "-1"), (lambda: stats.wilson(1, 4, 95), "95"),
            (lambda: stats.tango(3, 3, 5), "6 of 5"), (lambda: stats.mcnemar_exact(1.5, 2), "1.5"),
            (lambda: stats.pass_hat_k(2, 3, 4), "k = 4"), (lambda: stats.n_for_zero(0), "p0 = 0"),
            (lambda: stats.signflip_exact([1, nan]), "nan"), (lambda: stats.signflip_exact([10 ** 9, 1]), "round"),
            (lambda: stats.mcnemar_unconditional_power(9, 0.7, 0.6), "p10 + p01"),
            (lambda: stats.ratio_interval([(4, 3)]), "4 of 3"), (lambda: stats.bootstrap_mean_ci([nan]), "nan"),
            (lambda: stats.bootstrap_mean_ci([1], seed=None), "seed"), (lambda: stats.holm([0.1, None]), "None"),
            (lambda: stats.brier([1], [0.5, 0.5]), "1 outcomes and 2"), (lambda: stats.brier([2], [0.5]), "outcome 2"),
            (lambda: stats.ece([1, 0], [0.5, None]), "row 1"), (lambda: stats.ece([1], [0.5], bins=0), "bins"),
            (lambda: stats.kappa([[1, 2]]), "columns"), (lambda: stats.macro_f1([[1], [2]]), "column"),
            (lambda: stats.fleiss_kappa([[2, 1], [1, 1]]), "readers"), (lambda: stats.overlap([(5, 2)], []), "(5, 2)"),
            (lambda: stats.t_ppf(0.975, 0), "df"), (lambda: stats.smallest_gain(60, power=0.01), "power"),
        ]:
            with self.subTest(named), self.assertRaises(BadData) as caught:
                call()
            self.assertIn(named, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
