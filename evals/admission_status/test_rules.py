"""The benchmark and the rulebook: midnights by the calendar, the order first, nothing decided on a contradiction."""
import inspect
import itertools
import json
import unittest
from datetime import date, datetime

from evals.admission_status import gate
from src.admission_status import benchmark, elements, policy
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.values import Unreadable

KIT = kits.load("admission_status")
BOOK = KIT.book
SHARED_CASES = kits.ROOT.parent / "shared" / "cases"
PRESENT, AMBIGUOUS, MISSING = "order-present", "order-ambiguous", "order-missing"
# claim, admitted, discharge, nights, midnights
COUNTS = [
    ("one minute before midnight, out the day after next", "2026-06-10 23:59", "2026-06-12", None, 2),
    ("one minute before midnight, out the next day", "2026-06-10 23:59", "2026-06-11", None, 1),
    ("at midnight sharp, out the next day", "2026-06-11 00:00", "2026-06-12", None, 1),
    ("forty-six hours and one date change", "2026-06-10 01:00", "2026-06-11", None, 1),
    ("out on the same day", "2026-06-10 08:00", "2026-06-10", None, 0),
    ("a leap day", "2028-02-28 22:00", "2028-03-01", None, 2),
    ("no leap day in 2027", "2027-02-28 22:00", "2027-03-01", None, 1),
    ("a year's end", "2026-12-31 23:30", "2027-01-02", None, 2),
    ("clocks that go forward", "2026-03-07 20:00", "2026-03-09", None, 2),
    ("no night", "2026-06-10 08:15", None, 0, 0),
    ("two nights", "2026-06-11 00:01", None, 2, 2),
]


def row(order=PRESENT, admitted="2026-06-10 12:00", discharge=None, nights=None, **more):
    return dict(zip(policy.INPUTS, (order, discharge, nights, admitted))) | more


def answer(*args, **more):
    found = policy.decide(BOOK, row(*args, **more))
    return found["support"], found["rule"], found["midnights"], found["meets_benchmark"]


class TestCount(unittest.TestCase):
    def test_midnights_are_date_changes(self):
        for claim, admitted, discharge, nights, wanted in COUNTS:
            with self.subTest(claim):
                self.assertEqual(answer(PRESENT, admitted, discharge, nights)[2], wanted)

    def test_the_gate_counts_the_same_by_day_numbers(self):
        for claim, admitted, discharge, nights, wanted in COUNTS:
            with self.subTest(claim):
                self.assertEqual(gate.midnights(admitted, discharge, nights), wanted)

    def test_no_expectation_is_no_count_and_not_zero(self):
        self.assertIsNone(benchmark.midnights(datetime(2026, 6, 10), None, None))

    def test_what_contradicts_itself_is_refused_with_its_name(self):
        noon = datetime(2026, 6, 10, 12)
        for flag, args in {"expected_discharge_before_admission": (noon, date(2026, 6, 9), None),
                           "date_and_nights_both_given": (noon, date(2026, 6, 12), 2),
                           "admission_not_stated": (None, date(2026, 6, 12), None),
                           "negative_nights": (noon, None, -1), "fractional_nights": (noon, None, 1.5)}.items():
            with self.assertRaises(benchmark.NotComputable, msg=flag) as caught:
                benchmark.midnights(*args)
            self.assertEqual(caught.exception.flag, flag)
            with self.assertRaises(benchmark.NotComputable):
                benchmark.explain(*args, 2)

    def test_the_arithmetic_is_told_step_by_step(self):
        by_date = benchmark.explain(datetime(2026, 6, 10, 23, 50), date(2026, 6, 12), None, 2)
        self.assertEqual([step[1:] for step in by_date],
                         [(date(2026, 6, 12), "−", date(2026, 6, 10), 2), (2, "≥", 2, "reached")])
        by_nights = benchmark.explain(datetime(2026, 6, 10), None, 0, 2)
        self.assertEqual([step[1:] for step in by_nights], [(0, "×", 1, 0), (0, "<", 2, "not reached")])
        self.assertEqual(benchmark.explain(datetime(2026, 6, 10), None, None, 2), [])


class TestRulebook(unittest.TestCase):
    def test_a_rule_can_read_an_order_finding_and_a_count_and_nothing_else(self):
        self.assertEqual(list(inspect.signature(policy.support).parameters), ["book", "order_finding", "midnights"])
        self.assertEqual(set(BOOK.table.reads), {elements.ORDER, policy.COUNT, policy.BENCHMARK})

    def test_each_rule_decides_on_both_sides_of_its_edge(self):
        for order, nights, wanted in ((MISSING, 5, ("ORDER-GAP", "TM-1")), (AMBIGUOUS, 5, ("ORDER-GAP", "TM-2")),
                                      (PRESENT, None, ("EXPECTATION-GAP", "TM-3")),
                                      (PRESENT, 0, ("BENCHMARK-NOT-MET", "TM-4")),
                                      (PRESENT, 1, ("BENCHMARK-NOT-MET", "TM-4")),
                                      (PRESENT, 2, ("INPATIENT-SUPPORTED", "TM-5")),
                                      (PRESENT, 3, ("INPATIENT-SUPPORTED", "TM-5"))):
            self.assertEqual(answer(order, nights=nights)[:2], wanted, (order, nights))

    def test_no_stay_however_long_softens_a_missing_order(self):
        for order, nights in itertools.product((MISSING, AMBIGUOUS), (None, 0, 1, 2, 40)):
            self.assertEqual(answer(order, nights=nights)[0], "ORDER-GAP")

    def test_a_contradictory_expectation_decides_nothing_and_says_so(self):
        for flag, args in {"expected_discharge_before_admission": {"discharge": "2026-06-08"},
                           "date_and_nights_both_given": {"discharge": "2026-06-12", "nights": 2},
                           "negative_nights": {"nights": -1}, "fractional_nights": {"nights": 1.5}}.items():
            found = policy.decide(BOOK, row(**args))
            self.assertEqual([found[name] for name in gate.ANSWER], [None] * 4, flag)
            self.assertEqual(found["flags"], [flag])

    def test_the_order_decides_even_beside_a_contradictory_expectation(self):
        found = policy.decide(BOOK, row(MISSING, discharge="2026-06-08"))
        self.assertEqual((found["support"], found["rule"], found["midnights"]), ("ORDER-GAP", "TM-1", None))
        self.assertEqual(found["flags"], ["expected_discharge_before_admission"])

    def test_what_cannot_be_read_is_refused_where_a_rule_reads_it_and_flagged_where_none_does(self):
        for changed in ({"admitted_at": "2026-06-10 24:00"}, {"expected_discharge": "12/06/2026"},
                        {"expected_discharge": "Unknown"}, {"expected_nights": "a few"}, {"expected_nights": True},
                        {"expected_nights": "2 days"}, {"expected_nights": "48 hours"}, {"expected_nights": "2 or 3"}):
            value = {"expected_nights": 2} if "admitted_at" in changed else {}
            with self.assertRaises(BadData, msg=changed):
                policy.decide(BOOK, row() | value | changed)
            found = policy.decide(BOOK, row(MISSING) | value | changed)
            self.assertEqual((found["support"], found["flags"]), ("ORDER-GAP", [f"{next(iter(changed))}_not_read"]))

    def test_an_expectation_that_is_called_documented_and_has_no_value_is_flagged(self):
        found = policy.decide(BOOK, row(stay_expectation="documented"))
        self.assertEqual((found["rule"], found["flags"]), ("TM-3", ["expectation_without_value"]))
        self.assertEqual(policy.decide(BOOK, row(stay_expectation="absent"))["flags"], [])

    def test_an_order_finding_is_never_guessed(self):
        for changed in ({"order_finding": None}, {"order_finding": "yes"}, {"order_finding": ["order-present"]}):
            with self.assertRaises(BadData) as caught:
                policy.decide(BOOK, row(nights=2) | changed)
            self.assertIn("order_finding", str(caught.exception))
        self.assertEqual(policy.decide(BOOK, row("Order Present", nights="2 nights"))["rule"], "TM-5")

    def test_a_row_without_any_of_the_inputs_is_refused_with_the_near_ones(self):
        with self.assertRaises(BadData) as caught:
            policy.decide(BOOK, {"arrived": "Mon 23:50", "expected": "one more night"})
        self.assertIn("did you mean expected_nights?", str(caught.exception))

    def test_a_flat_row_may_say_whose_expectation_it_is(self):
        for word, wanted in (("documented", "TM-5"), ("ambiguous", "TM-3"), ("absent", "TM-3"), (None, "TM-5")):
            self.assertEqual(answer(discharge="2026-06-13", stay_expectation=word)[1], wanted, word)
        with self.assertRaises(BadData):
            policy.decide(BOOK, row(nights=2, stay_expectation="perhaps"))

    def test_a_missing_order_names_what_was_given_and_not_read(self):
        with self.assertRaises(BadData) as caught:
            policy.decide(BOOK, {"arrived": "2026-06-10 14:00", "order": "x", "expected_discharge": "2026-06-12"})
        self.assertRegex(str(caught.exception), r"given and not read: arrived.*, order \(did you mean order_finding\?\)")

    def test_a_missing_expectation_names_what_was_given_and_not_read(self):
        for name in ("anticipated_discharge", "discharge", "edd", "nights", "Expected_Discharge"):
            found = policy.decide(BOOK, row() | {name: "2026-06-12", "bed": None})
            self.assertEqual((found["rule"], found["flags"]), ("TM-3", ["unknown_key"]), name)
            self.assertIn(f"given and not read: {name}", found["notes"][0])
            self.assertNotIn("bed", found["notes"][0])
        found = policy.decide(BOOK, {"order_finding": PRESENT, "admission": "2026-06-10 12:00", "expected_nights": 2})
        self.assertEqual(found["flags"], ["admission_not_stated", "unknown_key"])
        self.assertEqual(policy.decide(BOOK, row(nights=2, bed="12B"))["flags"], [], "nothing is missing")

    def test_an_empty_cell_is_not_stated_and_elements_of_another_shape_are_named(self):
        for blank in (None, "", " "):
            self.assertEqual(answer(nights=2, stay_expectation=blank)[1], "TM-5")
        for given in ({elements.ORDER: PRESENT}, "x", None, [PRESENT]):
            with self.assertRaises(BadData) as caught:
                policy.decide(BOOK, row() | {"elements": given})
            self.assertIn("is no list of objects", str(caught.exception))
        with self.assertRaises(BadData) as caught:
            policy.decide(BOOK, elements.nest({elements.ORDER: PRESENT, "expected_nights": 2})
                          | {"admitted_at": "2026-06-10 12:00"})
        self.assertIn("'stay_expectation' has no finding", str(caught.exception))

    def test_a_slip_beside_a_complete_row_is_flagged(self):
        for nights in (None, 2):
            self.assertEqual(policy.decide(BOOK, row(nights=nights, expected_nigths=3))["flags"], ["unknown_key"])

    def test_a_misspelt_input_is_flagged(self):
        found = policy.decide(BOOK, {"order_finding": PRESENT, "admitted_at": "2026-06-10 12:00", "expected_night": 2})
        self.assertEqual((found["rule"], found["flags"]), ("TM-3", ["unknown_key"]))

    def test_only_a_documented_expectation_is_counted(self):
        for word, wanted in (("documented", "TM-5"), ("ambiguous", "TM-3"), ("absent", "TM-3")):
            reply = elements.nest({elements.ORDER: PRESENT, elements.EXPECTATION: word, "expected_nights": 3})
            self.assertEqual(policy.decide(BOOK, reply | {"admitted_at": "2026-06-10 12:00"})["rule"], wanted)
        unread = policy.count(BOOK, {elements.EXPECTATION: None, "expected_nights": 3}, {})
        self.assertIsInstance(unread, Unreadable)
        self.assertIsNone(policy.support(BOOK, PRESENT, unread).decision)
        self.assertEqual(policy.support(BOOK, MISSING, unread).decision, "ORDER-GAP")

    def test_engine_and_gate_agree_on_every_class_of_inputs(self):
        tables = {"rules": [(str(rule["order"]), rule["id"], *self.clause(rule), rule["decision"])
                            for rule in BOOK.table.rules],
                  "values": [(policy.BENCHMARK, str(BOOK.threshold), "", "", "")]}
        for order, count in itertools.product((PRESENT, AMBIGUOUS, MISSING, None), (None, 0, 1, 2, 3, 400)):
            walked = policy.support(BOOK, order, count)
            self.assertEqual((walked.decision, walked.rule), gate.walk(tables, order, count), (order, count))

    @staticmethod
    def clause(rule):
        from evals.shared import ledger
        return ledger.clause(None, "", "", rule["when"], with_unit=False), rule["when"].get("unit", "")


@unittest.skipUnless((SHARED_CASES / "boundary.jsonl").exists(), "the shared boundary cases lie beside the project")
class TestSharedCases(unittest.TestCase):
    def cases(self, file):
        rows = [json.loads(line) for line in (SHARED_CASES / file).read_text("utf-8").splitlines()]
        return [case for case in rows if case["kit"] == KIT.hyphened]

    def test_every_boundary_row_comes_out_right(self):
        cases = self.cases("boundary.jsonl")
        self.assertGreater(len(cases), 10)
        for case in cases:
            found = policy.decide(BOOK, case["inputs"])
            self.assertEqual({name: found[name] for name in case["right"]}, case["right"], case["why"])
            self.assertIn(case.get("flag"), [None, *found["flags"]])

    def test_shapes_from_the_field_are_refused_with_a_reason(self):
        for case in self.cases("real_shapes.jsonl"):
            with self.assertRaises(BadData, msg=case["shape"]) as caught:
                policy.decide(BOOK, case["inputs"])
            self.assertIn("wanted", str(caught.exception))
