"""Raw values are read as what they say, or refused; nothing is guessed."""
import datetime
import doctest
import unittest
from decimal import Decimal

from src.shared import prompt, values
from src.shared.values import OtherUnit, Unreadable

LITRES = frozenset({"l/ha", "litres/ha"})
# Full-width comma, ideographic comma and stop, bullet, middle dots, dashes, bars, arrow, tab, line ends, other signs.
BETWEEN = ("\uff0c\u3001\u3002\u060c\u2022\u00b7\u30fb\u2027\u2219\u22c5\u2013\u2014\u2212\u2015|\u00a6\u2016\u2192"
           "\t\x0b\x0c\u2028\u0085/\uff0f\u2044+\uff0b&\uff06;\uff1b:\uff1a!?=<>~*#@\"\u00d7\u2026")
HOURS = frozenset({"hours", "h", "hours after application"})


def rate(raw):
    return values.read_number(raw, "L/ha", LITRES)


class TestNumbers(unittest.TestCase):
    def test_a_number_with_its_unit_is_the_number(self):
        for raw in ("2.5 L/ha", "2.5", "2,5 l/ha", " 2.50 litres/ha ", "2.5L/ha", Decimal("2.5"), 2.5):
            with self.subTest(raw=raw):
                self.assertEqual(rate(raw), Decimal("2.5"))

    def test_a_figure_that_is_of_the_unit_is_no_second_number(self):
        for raw in ("2.5 L ha-1", "2.5 L ha\N{MINUS SIGN}1"):
            self.assertEqual(values.read_number(raw, "L/ha", frozenset({"l ha-1"})), Decimal("2.5"))
        with self.assertRaises(Unreadable):
            values.read_number("2.5 L ha-2", "L/ha", frozenset({"l ha-1"}))

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
        for raw in ("Hollowmere 450 SC + water", "Hollowmere and Belquoran", "A/B", "A with B", "A, B", "A\nB",
                    "A et B", "A und B", "A y B", "A e B", "A en B", "A - B", "A -B", "A. B", "A: B", "A (and B)",
                    *(f"A{sign}B" for sign in BETWEEN), *(f"A {sign} B" for sign in BETWEEN)):
            with self.subTest(raw=raw), self.assertRaises(Unreadable) as caught:
                values.read_one_name(raw)
            self.assertIn("may be several names", caught.exception.why)
            if "," not in raw:
                with self.subTest(listed=raw), self.assertRaises(Unreadable):
                    values.read_list(f"Corvistel, {raw}", one_name=True)
                with self.subTest(alone=raw), self.assertRaises(Unreadable):
                    values.read_list(raw, one_name=True)
        self.assertEqual(values.read_one_name("Sandown 45 SC\n"), "Sandown 45 SC")
        self.assertEqual(values.read_list("research and development, finance"), ("research and development", "finance"))

    def test_what_begins_with_a_bullet_or_stands_in_quotes_is_not_the_name_alone(self):
        for raw in ("- Hollowmere", "* Hollowmere", "\u2022 Hollowmere", ".Hollowmere", "\"Hollowmere 450 SC\"",
                    "'Hollowmere'", "\uff28ollowmere", "Hollowmere \uff14", "\ufb01eld beans"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_one_name(raw)

    def test_the_names_that_products_and_crops_have_are_read(self):
        for name in ("St. John's wort", "Queen Anne\u2019s lace", "Pomme d'or", "Round-Up", "Round\u2011Up",
                     "pak-choi", "ma\u00efs doux", "\u0141ubin", "Gr\u00f6\u00dfe \u00d6l", "Switch 62.5 WG",
                     "Decis (forte)", "Kerb [N]", "(E)-beta 5", "Brassica spp.", "Brassica spp. alba",
                     "No. 5 Oil", "Copac E", "Formula I",
                     "Kumulus 80% WG", "Orchard grass", "Endive", "Everest 70", "Notable 5", "prod_17",
                     "\u5c0f\u9ea6", "\u0917\u0947\u0939\u0942\u0901", "\u0e02\u0e49\u0e32\u0e27", "Elatus Plus",
                     "Amistar\u00ae Top", "Ortiva\u2122", "Otherwell 5", "X-Pand 5", "Seedless grapes"):
            with self.subTest(name):
                self.assertEqual(values.read_one_name(name), name)
                self.assertEqual(values.read_list(f"{name},  Corvistel", one_name=True), (name, "Corvistel"))

    def test_a_comma_inside_brackets_parts_no_names(self):
        for raw in ("organophosphates (Belquoran 120 WG, Hollowmere 450 SC)", "Hollowmere (450 SC, 250 EC)",
                    "wheat [winter, spring], oats", "1) Hollowmere 2) Belquoran"):
            with self.subTest(raw), self.assertRaises(Unreadable) as caught:
                values.read_list(raw, one_name=True)
            self.assertIn("brackets", caught.exception.why)

    def test_the_commas_in_the_numbers_of_a_chemical_name_part_no_names(self):
        for name in ("2,4-D amine", "1,3-dichloropropene", "2,4,5-T", "A.B.C. 500"):
            with self.subTest(name):
                self.assertEqual(values.read_one_name(name), name)
                self.assertEqual(values.read_list(name, one_name=True), (name,))
                self.assertEqual(values.read_list(f"Corvistel,{name} , Belquoran", one_name=True),
                                 ("Corvistel", name, "Belquoran"))
        self.assertEqual(values.read_list("Hollowmere 450,2-way mix", one_name=True), ("Hollowmere 450", "2-way mix"))
        for raw in ("2,4-D, MCPA", "2,4-D and MCPA", "MCPA 2,4-D", "2,4", "2, 4-D"):
            with self.subTest(raw), self.assertRaises(Unreadable):
                values.read_one_name(raw)
        with self.assertRaises(Unreadable):
            values.read_list("MCPA, 2, 4-D", one_name=True)

    def test_what_stands_for_no_name_is_no_name(self):
        for raw in ("n/a", "N/A", "n.a.", "unknown", "-", "\u2014", "TBC", "not applicable", "null", "450", "?", "x",
                    "all products", "Any", "none stated", "None listed.", "see label", "(see label)", "refer to label",
                    "any product containing zemidral", "all other partners", "no restrictions", "as per label", "etc",
                    "products with copper", "Hollowmere etc.", "do not mix", "consult supplier",
                    "prohibited", "yes", "Dash only", "other fungicides", "aucun", "EC formulations"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_one_name(raw)
            with self.subTest(listed=raw), self.assertRaises(Unreadable):
                values.read_list(raw, one_name=True)
        self.assertEqual(values.read_one_name("None"), "None")

    def test_a_name_with_a_character_that_nobody_sees_is_refused(self):
        for raw in ("Hollowmere\u200b 450 SC", "Hollow\u00admere", "\u202eHollowmere", "Hollowmere\ud800",
                    "Hollowmere 450 SC\ufe0f", "Hollowmere\u0332", "Hollow\u034fmere", "\u115fHollowmere",
                    "Hollow\x07mere"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable) as caught:
                values.read_one_name(raw)
            self.assertIn("cannot be seen", caught.exception.why)
        self.assertEqual(values.read_one_name("ma\u00efs\u00a0doux"), "ma\u00efs doux")
        self.assertEqual(values.read_one_name("mai\u0308s"), "mai\u0308s")

    def test_none_beside_names_is_a_contradiction(self):
        with self.assertRaises(Unreadable):
            values.read_list("none, Hollowmere 450 SC")
        self.assertEqual(values.read_list("none"), ("none",))

    def test_names_fold_what_is_typed_and_printed_in_two_ways_and_nothing_else(self):
        self.assertEqual(values.fold_name(" Winter  WHEAT"), "winter wheat")
        self.assertEqual(values.fold_name("mai\u0308s"), values.fold_name("ma\u00efs"))
        self.assertEqual(values.fold_name("Anne\u2019s Round\u2011Up."), values.fold_name("Anne's Round-Up"))
        for name, other in (("potato", "potatoes"), ("Round-Up", "Round Up"), ("A.B", "AB"), ("ma\u00efs", "mais")):
            self.assertNotEqual(values.fold_name(name), values.fold_name(other))

    def test_a_word_is_found_in_any_spelling_and_never_by_part(self):
        allowed = ("within_label", "wait_required")
        for raw in ("within_label", "Within Label", "WITHIN-LABEL", " within  label "):
            self.assertEqual(values.read_word(raw, allowed), "within_label")
        for raw in ("within", "within_label.", "wait", 1, True):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_word(raw, allowed)

    def test_a_word_is_found_whatever_stands_for_its_hyphen_and_in_letters_that_look_alike(self):
        for sign in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u00ad\ufe58\ufe63\uff0d\uff3f\u203f\u00a0":
            with self.subTest(sign=hex(ord(sign))):
                self.assertEqual(values.read_word(f"Auto{sign}Release", ("AUTO-RELEASE",)), "AUTO-RELEASE")
                self.assertEqual(values.read_list(f"Auto {sign} Release", ("AUTO-RELEASE",)), ("AUTO-RELEASE",))
        for raw in ("\uff21uto-release", "auto-release\u200b", "\u2060auto-release"):
            self.assertEqual(values.read_word(raw, ("AUTO-RELEASE",)), "AUTO-RELEASE", raw)
        for raw in ("auto\u00b7release", "\u0410UTO-RELEASE", "auto release\u0332"):
            with self.subTest(raw=raw), self.assertRaises(Unreadable):
                values.read_word(raw, ("AUTO-RELEASE",))


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
