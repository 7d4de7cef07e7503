"""Raw values are read as what they say, or refused; nothing is guessed."""
import datetime
import doctest
import unittest
from decimal import Decimal

from src.shared import prompt, values
from src.shared.values import OtherUnit, Unreadable

LITRES = frozenset({"l/ha", "litres/ha"})
HOURS = frozenset({"hours", "h", "hours after application"})


def rate(raw):
    return values.read_number(raw, "L/ha", LITRES)


class TestNumbers(unittest.TestCase):
    def test_a_number_with_its_unit_is_the_number(self):
        for raw in ("2.5 L/ha", "2.5", "2,5 l/ha", " 2.50 litres/ha ", "2.5L/ha", Decimal("2.5"), 2.5):
            with self.subTest(raw=raw):
                self.assertEqual(rate(raw), Decimal("2.5"))

    def test_a_decimal_keeps_the_digits_of_the_page(self):
        self.assertEqual(str(rate("0.30")), "0.30")
        self.assertEqual(rate("0.1") + rate("0.2"), rate("0.3"))

    def test_a_number_that_may_be_two_numbers_is_refused(self):
        for raw in ("1,200", "1,000", "12,500", "1 000", "1\u00a0000", "1,234.5,6",
                    "12,34,56", "3,5,7", "12,34,567", "9-16",
                    "2–3", "1.8 - 2.3", "5/6", "≤ 5", "ca. 5 L/ha", "2.5 L/ha (max. 3)", "5.", ".5", "1_000", "0x10"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                rate(raw)

    def test_separators_that_leave_one_reading_are_read(self):
        for raw, want in (("0,125", "0.125"), ("0.125", "0.125"), ("12,34", "12.34"), ("1.234,56", "1234.56"),
                          ("1,234.56", "1234.56"), ("1,234,567", "1234567"), ("1.234.567", "1234567"), ("1e3", "1000"),
                          ("2,5 l / ha", "2.5"), ("2.500", "2.5")):
            with self.subTest(raw=raw):
                self.assertEqual(rate(raw), Decimal(want))

    def test_words_and_comparisons_are_no_numbers(self):
        for raw in ("none", "about 3", "< 5", ">=5", "5+", "three", "NaN", "Infinity", "\uff12"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                rate(raw)

    def test_true_is_not_one_and_a_list_is_no_number(self):
        for raw in (True, False, [2], {"value": 2}):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                rate(raw)

    def test_a_number_in_another_unit_is_not_stated_and_keeps_its_text(self):
        for raw in ("2 days", "22 fl oz/A", "48 minutes"):
            with self.subTest(raw=raw), self.assertRaises(OtherUnit) as caught:
                values.read_number(raw, "hours", HOURS)
            self.assertEqual(caught.exception.raw, raw)

    def test_a_negative_number_is_read_whatever_its_minus(self):
        self.assertEqual([rate("-2"), rate("\u22122")], [-2, -2])

    def test_nothing_is_not_zero(self):
        self.assertIsNone(rate(None))
        self.assertIsNone(rate("  "))
        self.assertEqual(rate("0"), 0)

    def test_digits_beyond_all_use_are_refused_quickly(self):
        for raw in ("9" * 10_000, Decimal("1e400"), 10 ** 40, Decimal("1e-400")):
            with self.subTest(raw=str(raw)[:20]), self.assertRaises(Unreadable):
                rate(raw)


class TestNames(unittest.TestCase):
    def test_a_list_keeps_names_and_order(self):
        self.assertEqual(values.read_list(" winter wheat,carrots ,  red  beet"),
                         ("winter wheat", "carrots", "red beet"))
        self.assertEqual(values.read_list(["carrots", "peas"]), ("carrots", "peas"))

    def test_two_names_never_pass_as_one(self):
        for raw in ("Hollowmere 450 SC + water", "Hollowmere and Belquoran", "A/B", "A with B", "A, B", "A\nB"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_one_name(raw)
            if "," not in raw:
                with self.subTest(listed=raw), self.assertRaises(Unreadable):
                    values.read_list(f"Corvistel, {raw}", one_name=True)
        self.assertEqual(values.read_one_name("Sandown 45 SC\n"), "Sandown 45 SC")
        self.assertEqual(values.read_list("research and development, finance"), ("research and development", "finance"))

    def test_what_stands_for_no_name_is_no_name(self):
        for raw in ("n/a", "N/A", "unknown", "-", "\u2014", "TBC", "not applicable", "null"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_one_name(raw)
            with self.subTest(listed=raw), self.assertRaises(Unreadable):
                values.read_list(raw, one_name=True)
        self.assertEqual(values.read_one_name("None"), "None")

    def test_a_name_with_a_character_that_nobody_sees_is_refused(self):
        for raw in ("Hollowmere\u200b 450 SC", "Hollow\u00admere", "\u202eHollowmere", "Hollowmere\ud800"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable) as caught:
                values.read_one_name(raw)
            self.assertIn("cannot be seen", caught.exception.why)
        self.assertEqual(values.read_one_name("ma\u00efs\u00a0doux"), "ma\u00efs doux")

    def test_none_beside_names_is_a_contradiction(self):
        with self.assertRaises(Unreadable):
            values.read_list("none, Hollowmere 450 SC")
        self.assertEqual(values.read_list("none"), ("none",))

    def test_names_fold_case_blanks_and_composition_and_nothing_else(self):
        self.assertEqual(values.fold_name(" Winter  WHEAT"), "winter wheat")
        self.assertEqual(values.fold_name("mai\u0308s"), values.fold_name("ma\u00efs"))
        self.assertNotEqual(values.fold_name("potato"), values.fold_name("potatoes"))

    def test_a_word_is_found_in_any_spelling_and_never_by_part(self):
        allowed = ("within_label", "wait_required")
        for raw in ("within_label", "Within Label", "WITHIN-LABEL", " within  label "):
            self.assertEqual(values.read_word(raw, allowed), "within_label")
        for raw in ("within", "within_label.", "wait", 1, True):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_word(raw, allowed)


class TestDates(unittest.TestCase):
    def test_only_iso_calendar_dates_are_dates(self):
        self.assertEqual(values.read_date("2028-02-29"), datetime.date(2028, 2, 29))
        for raw in ("2027-02-29", "12/06/2026", "2026-6-1", "20260601", "tomorrow", 20260601, "2026-W10-1"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_date(raw)

    def test_a_day_ends_at_2359(self):
        self.assertEqual(values.read_date_time("2026-06-10 23:59"), datetime.datetime(2026, 6, 10, 23, 59))
        for raw in ("2026-06-10 24:00", "2026-06-10 12:60", "2026-06-31 10:00", "2026-06-10"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_date_time(raw)


def load_tests(loader, tests, pattern):
    """The examples in the docstrings are tests too."""
    for module in (values, prompt):
        tests.addTests(doctest.DocTestSuite(module))
    return tests
