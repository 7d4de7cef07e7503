"""What generators and rule lines share: decks that come round, a section extended, a key that was misspelt."""
import tempfile
import unittest
from pathlib import Path

from evals.shared import ledger
from src.shared import draw, fields, sections
from src.shared.draw import Draw
from src.shared.files import BadData, to_json, write_text


class TestDraw(unittest.TestCase):
    def draw(self, seed=1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pools.json"
            write_text(path, to_json({"a": list("abcdefg"), "b": {"c": ["#@"], "none": []}}))
            return Draw(path, seed)

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
            return draw.read_cases(path, {"case", "count"}, problems)

    def refused(self, *args):
        with self.assertRaises(BadData) as caught:
            self.read(*args)
        return str(caught.exception)

    def test_a_case_knows_where_it_stands(self):
        (case,) = self.read([{"case": "one", "count": 2}])
        self.assertTrue(case["where"].endswith("cases.json: one"))

    def test_what_is_no_case_is_named_by_its_place_and_everything_wrong_comes_at_once(self):
        told = self.refused([{"case": "one"}, {"case": "two", "count": 1}, 3])
        self.assertIn("case 1: an object with case, count", told)
        self.assertIn("case 3: ", told)
        self.assertNotIn("case 2: ", told)
        self.assertIn("a list of cases is wanted", self.refused({}))

    def test_what_a_kit_finds_wrong_is_said_with_the_place(self):
        told = self.refused([{"case": "one", "count": 1}, {"case": "two", "count": 1}], lambda case: ["x", "y"])
        for line in ("one: x", "one: y", "two: x", "two: y"):
            self.assertIn(f"cases.json: {line}", told)

    def test_planned_documents_are_counted_and_their_keys_are_known(self):
        case = {"count": 3, "documents": [{"tone": "plain"}, {"tonne": 1}]}
        problems = lambda plan: ["odd"] if "tonne" in plan else []
        self.assertEqual(list(draw.plan_problems(case, {"tone": ""}, problems)), [
            "count 3 and 2 planned documents; make them agree",
            "document 2: unknown key 'tonne' (did you mean tone?); known: tone", "document 2: odd"])

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


class TestExtend(unittest.TestCase):
    PAGE = "One\n---\nfirst\n\nTwo\n---\nsecond\n"

    def test_a_section_is_extended_behind_its_last_character_and_nothing_else_moves(self):
        self.assertEqual(sections.extend(self.PAGE, "One", "\nmore"), self.PAGE.replace("first", "first\nmore"))
        self.assertEqual(sections.extend(self.PAGE, "Two", " end"), self.PAGE.replace("second", "second end"))

    def test_a_title_that_is_not_there_is_an_error(self):
        with self.assertRaises(KeyError):
            sections.extend(self.PAGE, "Three", "x")


class TestMisspelt(unittest.TestCase):
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
