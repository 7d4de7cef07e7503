"""What generators and rule lines share: decks that come round, a section extended, a key that was misspelt."""
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from evals.shared import ledger
from src.shared import draw, fields, sections, shapes
from src.shared.draw import Draw
from src.shared.files import BadData, to_json, write_text


class TestDraw(unittest.TestCase):
    def draw(self, seed=1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pools.json"
            write_text(path, to_json({"a": list("abcdefg"), "b": {"c": ["#@"], "none": []}}))
            return Draw(path, seed, {"a": shapes.TEXTS, "b": shapes.WORDS_BY_NAME})

    def test_a_deck_deals_every_entry_before_it_begins_again_in_the_same_order(self):
        draw = self.draw()
        first, second = ([draw.deal("a") for _ in range(7)] for _ in range(2))
        self.assertEqual((sorted(first), first), (list("abcdefg"), second))

    def test_one_seed_gives_one_order(self):
        self.assertEqual([self.draw(3).deal("a") for _ in range(3)], [self.draw(3).deal("a")] * 3)
        self.assertEqual(self.draw(3).code("b", "c"), self.draw(3).code("b", "c"))

    def test_an_empty_or_missing_pool_is_named_by_its_path(self):
        for names in (("b", "none"), ("b", "d"), ("z",)):
            with self.assertRaises(BadData) as caught:
                self.draw().deal(*names)
            self.assertIn("/" + "/".join(names), str(caught.exception))

    def test_what_was_drawn_once_is_not_fresh_again(self):
        draw = self.draw()
        self.assertEqual(sorted(draw.fresh(lambda: draw.one("a")) for _ in range(7)), list("abcdefg"))
        with self.assertRaises(BadData):
            draw.fresh(lambda: draw.one("a"))


class TestPlans(unittest.TestCase):
    """What every generator asks of cases.json, before it draws and behind it."""

    def read(self, value, problems=lambda case: ()):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.json"
            write_text(path, to_json(value))
            return draw.read_cases(path, {"case": shapes.LINE, "count": shapes.COUNT}, problems)

    def refused(self, *args):
        with self.assertRaises(BadData) as caught:
            self.read(*args)
        return str(caught.exception)

    def test_a_case_knows_where_it_stands(self):
        (case,) = self.read([{"case": "one", "count": 2}])
        self.assertTrue(case["where"].endswith("cases.json: one"))

    def test_what_is_no_case_is_named_by_its_place_and_everything_wrong_comes_at_once(self):
        told = self.refused([{"case": "one"}, {"case": "two", "count": 1}, 3])
        self.assertIn("cases.json: one: /: count is missing; a whole number from 0", told)
        self.assertIn("cases.json: case 3: /: 3 is not an object", told)
        self.assertNotIn("two", told)
        for value in ({}, [], None, 5):
            self.assertIn("is not a list of planned cases", self.refused(value))

    def test_what_a_kit_finds_wrong_is_said_with_the_place(self):
        told = self.refused([{"case": "one", "count": 1}, {"case": "two", "count": 1}], lambda case: ["x", "y"])
        for line in ("one: x", "one: y", "two: x", "two: y"):
            self.assertIn(f"cases.json: {line}", told)

    def test_planned_documents_are_counted_and_told_by_their_place(self):
        case = {"count": 3, "documents": [{"tone": "plain"}, {"tone": "x"}]}
        self.assertEqual(list(draw.plan_problems(case, lambda plan: ["odd"] if plan["tone"] == "x" else [])), [
            "count 3 and 2 planned documents; make them agree", "/documents/1: odd"])

    def test_a_word_outside_its_list_is_told_with_the_near_one(self):
        self.assertEqual(draw.not_one_of("tone", "plain", ("plain", "calm")), [])
        self.assertEqual(draw.not_one_of("tone", "clam", ("plain", "calm")),
                         ["tone 'clam' is not one of plain, calm (did you mean calm?)"])

    def test_an_answer_other_than_the_planned_one_is_refused_and_a_further_value_is_not(self):
        draw.refuse_unplanned([("here", {"rule": "A"}, {"rule": "A", "more": 1}, "D-1")])
        with self.assertRaises(BadData) as caught:
            draw.refuse_unplanned([("here", {"rule": "A"}, {"rule": "B"}, "D-1"),
                                   ("there", {"rule": None}, {"rule": 0}, "D-2")])
        self.assertIn('here: planned as {"rule": "A"}, but the rules say {"rule": "B"} (D-1)', str(caught.exception))
        self.assertIn("there: ", str(caught.exception))


class TestKinds(unittest.TestCase):
    """The kinds of values that plans and pools are made of."""

    def unfit(self, kind, value):
        return list(shapes.misfits({"x": value}, {"x": kind}, "here: /"))

    def test_each_kind_holds_its_values_and_no_others(self):
        whole, one = shapes.span(shapes.COUNT), shapes.one_of(("a", "b"))
        for kind, good, bad in (
                (shapes.LINE, ["a b"], ["", " ", "a\nb", "a\0", 1, None]),
                (shapes.COUNT, [0, 10_000], [True, -1, 10_001, Decimal("1"), "1"]),
                (shapes.NUMBER, [-3, Decimal("0.5")], [True, 10 ** 9, Decimal("1e300"), Decimal("1e-10"), "1", None]),
                (one, ["a"], ["c", ["a"], None, 1]), (whole, [[1, 1], [0, 5]], [[2, 1], [1], [1, 2, 3], ["a", "b"], 5]),
                (shapes.options(one), ["a", ["a", "b"]], [[], ["c"], "c", [["a"]]]),
                (shapes.at_least(2, shapes.TEXTS), [["a", "b"]], [["a"], "ab", [1, 2]]),
                (shapes.order_of("ab"), [["b", "a"]], [["a"], ["a", "a", "b"], ["a", 1], "ab"]),
                (shapes.template("n", "s"), ["{n} day{s}", "day", "{{n}}"], [
                    "{n", "n}", "{m}", "{}", "{n.real}", "{n!r}", "{n:>9999999}", "{0}", "{n[0]}", 5]),
                (shapes.template(""), ["EDIT: {}.", "EDIT"], ["{} {}", "{0}", "{n}"])):
            for value in good:
                self.assertEqual(self.unfit(kind, value), [], value)
            for value in bad:
                with self.subTest(kind.words, value=value):
                    self.assertTrue(self.unfit(kind, value))

    def test_a_misfit_deep_inside_is_told_with_its_place_and_what_is_wanted(self):
        kind = shapes.by_name(shapes.options(shapes.one_of(("a", "b"))))
        self.assertEqual(self.unfit(kind, {"k": ["a", "c"]}), ["here: /x/k: 1 'c' is not one of a, b"])
        self.assertEqual(self.unfit(kind, {"k": 1}), ["here: /x: k 1 is not one of a, b, or a list of such"])
        self.assertEqual(self.unfit(shapes.list_of(shapes.record({"n": shapes.COUNT})), [{"n": 1}, {"n": -1}]),
                         ["here: /x/1: n -1 is not a whole number from 0 to 10000"])


class TestExtend(unittest.TestCase):
    PAGE = "One\n---\nfirst\n\nTwo\n---\nsecond\n"

    def test_a_section_is_extended_behind_its_last_character_and_nothing_else_moves(self):
        self.assertEqual(sections.extend(self.PAGE, "One", "\nmore"), self.PAGE.replace("first", "first\nmore"))
        self.assertEqual(sections.extend(self.PAGE, "Two", " end"), self.PAGE.replace("second", "second end"))

    def test_a_title_that_is_not_there_is_an_error(self):
        with self.assertRaises(KeyError):
            sections.extend(self.PAGE, "Three", "x")


class TestMisspelt(unittest.TestCase):
    def test_the_beginning_of_a_long_name_is_nearer_than_another_name(self):
        known = ["crop_proposed", "rate_proposed_l_per_ha", "days_to_harvest"]
        self.assertEqual(fields.near("rate_propsed", known), " (did you mean rate_proposed_l_per_ha?)")
        self.assertEqual(fields.near("crop_propsed", known), " (did you mean crop_proposed?)")
        self.assertEqual(fields.near("tank", known), "")

    def test_only_a_stray_name_near_a_name_that_is_absent_is_told(self):
        known = ["expected_nights", "admitted_at"]
        self.assertEqual(fields.misspelt(["expected_nigths"], known), [
            "expected_nigths is no field (did you mean expected_nights?); expected_nigths was not read"])
        self.assertEqual(fields.misspelt(["expected_nights", "expected_nights_by"], known[:1]), [])
        self.assertEqual(fields.misspelt(["remark"], known), [])


class TestUnstated(unittest.TestCase):
    def test_not_stated_is_told_apart_from_false_and_zero(self):
        for value, wanted in ((None, True), (0, False), ("", False)):
            self.assertIs(ledger.truth("count is not stated", {"count": value}), wanted)
            self.assertIs(ledger.truth("count is stated", {"count": value}), not wanted)


if __name__ == "__main__":
    unittest.main()
