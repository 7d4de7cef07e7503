"""Two runs compared, on the board and at the command line: what is named first, what is linked, what is refused."""
import contextlib
import doctest
import io
import json
import unittest

from evals import compare as command
from evals.shared import record, showing
from src.shared import blame, comparing, wording
from src.shared.view import compare, figures, shelf

KIT = showing.first_kit()


class Staged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(KIT)
        cls.addClassCleanup(cls.stage.close)
        cls.floors = cls.stage.floors()
        hyphened = cls.stage.kit().hyphened
        cls.before, cls.after = f"r001-{hyphened}", f"r002-{hyphened}"
        baseline = next(arm for arm, run_id in cls.floors.items() if run_id[0] == "b" and arm != "null")
        cls.stage.record(cls.before, baseline, {"model": "m-1"})
        cls.stage.record(cls.after, "null", {"model": "m-2"})
        cls.opened = cls.stage.opened()

    def view(self, **query):
        return compare.compare(self.opened, {name: [value] for name, value in query.items()})

    def table(self, view, title):
        return next(panel for panel in view["panels"] if panel["kind"] == "table" and title in panel["title"])


class TestView(Staged):
    def test_the_newest_model_run_stands_against_the_one_before_it(self):
        view = self.view()
        self.assertEqual((view["first"]["id"], view["second"]["id"]), (self.before, self.after))
        self.assertIn("newest model run", view["why"])
        self.assertIn("What has to be equal", view["panels"][1]["title"])
        self.assertNotIn("Baselines", [panel["title"] for panel in view["panels"]])

    def test_every_changed_document_is_a_link_and_every_broken_one_says_why(self):
        rows = self.table(self.view(), "Document by document")["rows"]
        found = {row[0]["text"]: row[1:] for row in rows}
        first, second = (record.read(record.path_of(self.stage.results, run)) for run in (self.before, self.after))
        told = comparing.compare(*map(Held, (first, second)))["changed"]
        for word, kind in (("fixed", "fixed"), ("broken", "broken"), ("still wrong", "still_wrong")):
            for column, cells in zip(("raw", "rechecked"), found[word]):
                self.assertEqual(cells[0]["text"], str(len(told[column][kind])))
                if word != "still wrong":
                    linked = [cell["link"]["document"] for cell in cells[1:] if "link" in cell]
                    self.assertEqual(linked, told[column][kind][:compare.LINKS_SHOWN])
        self.assertIn(" points (", found["difference (95 %)"][0]["text"])
        self.assertLessEqual(float(found["p, exact"][0]["text"]), 1)
        broken = [cell for cells in found["broken"] for cell in cells[1:] if "link" in cell]
        self.assertTrue(broken)
        for cell in broken:
            self.assertTrue(cell["why"].startswith(blame.KINDS), cell)

    def test_a_floor_beside_a_model_run_is_said_to_be_a_baseline(self):
        floor = next(run_id for arm, run_id in self.floors.items() if run_id[0] == "b" and arm != "null")
        shown = self.view(first=floor, second=self.after)["panels"]
        note = next(panel for panel in shown if panel["title"] == "Baselines")
        self.assertIn("no peer", note["text"])
        self.assertIn(floor, note["text"])

    def test_the_looks_at_the_labelled_set_are_counted_from_the_records(self):
        note = next(panel for panel in self.view()["panels"] if panel["title"] == "What these figures can show")
        self.assertIn(wording.looks(2), note["lines"])

    def make_differ(self, guard):
        """Give the second run another value of one guard until the end of the test."""
        path = record.path_of(self.stage.results, self.after)
        kept = path.read_text(encoding="utf-8")
        self.addCleanup(path.write_text, kept, encoding="utf-8")
        value = json.loads(kept)["guards"][guard]
        changed = kept.replace(f'"{guard}":"{value}"', f'"{guard}":"other"')
        self.assertNotEqual(changed, kept)
        path.write_text(changed, encoding="utf-8")

    def test_runs_over_other_labels_get_a_sentence_and_no_figure(self):
        self.make_differ("gold")
        view = compare.compare(self.stage.opened(), {"first": [self.before], "second": [self.after]})
        self.assertIn("gold differs", view["refused"][0])
        self.assertEqual([panel["kind"] for panel in view["panels"]][-1], "note")
        self.assertEqual(view["panels"][-1]["lines"], view["refused"])
        self.assertFalse([panel for panel in view["panels"] if panel["title"] == "Metrics"])

    def test_another_prompt_may_be_what_it_is_about(self):
        self.make_differ("prefix")
        opened = self.stage.opened()
        self.assertIn("allow it to differ", compare.compare(opened, {})["panels"][-1]["text"])
        self.assertEqual(compare.compare(opened, {"across": ["prefix"]})["refused"], [])

    def test_what_has_no_meaning_is_refused_with_a_sentence(self):
        for query, word in (({"frist": self.before}, "first"), ({"first": self.before}, "second is missing"),
                            ({"first": self.before, "second": self.before}, "two different"),
                            ({"first": self.before, "second": "r009"}, "no run is called"),
                            ({"across": "gold"}, "prefix")):
            with self.subTest(query), self.assertRaises(shelf.BadQuery) as caught:
                self.view(**query)
            self.assertIn(word, str(caught.exception))


class TestFewRuns(unittest.TestCase):
    def setUp(self):
        self.stage = showing.Stage(KIT)
        self.addCleanup(self.stage.close)

    def test_without_two_runs_there_is_a_note(self):
        view = compare.compare(self.stage.opened(), {})
        self.assertEqual((view["first"], [panel["kind"] for panel in view["panels"]]), (None, ["note"]))

    def test_without_a_model_run_two_floors_are_taken_and_it_says_so(self):
        self.stage.floors()
        view = compare.compare(self.stage.opened(), {})
        self.assertEqual(view["first"]["kind"], "free floor")
        self.assertIn("baseline" if len(view["runs"]) > 3 else "first two", view["why"])


class TestCommand(Staged):
    def said(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = command.main([str(record.path_of(self.stage.results, run)) for run in words])
        return code, out.getvalue()

    def test_it_says_why_what_broke_and_how_often_the_set_was_looked_at(self):
        code, text = self.said(self.before, self.after)
        self.assertEqual(code, 0)
        self.assertIn(wording.looks(2), text)
        self.assertRegex(text, r"\n    \S+: (misread value|misapplied rule|wrong arithmetic|no answer)")

    def test_two_floors_are_told_to_be_baselines(self):
        ids = [run_id for run_id in self.floors.values() if run_id[0] == "b"][:2]
        self.assertIn("asked no model: baselines", self.said(*ids)[1])


class TestBadges(unittest.TestCase):
    def test_the_examples_of_the_wording_are_true(self):
        for module in (wording, blame, figures):
            found = doctest.testmod(module)
            self.assertEqual((found.failed, found.attempted > 0), (0, True), module.__name__)

    def test_a_chance_too_small_to_hold_is_not_0(self):
        self.assertEqual((wording.chance(0.0), wording.chance(1)), ("<1e-300", "1"))

    def test_none_of_too_few_is_no_sign_of_safety(self):
        few, many = ({"count": 0, "opportunities": number, "clusters": None, "rows": []} for number in (58, 59))
        self.assertIn("no sign of safety", figures.count(few)["why"])
        self.assertNotIn("why", figures.count(many))
        self.assertIn("24", figures.count({**many, "opportunities": 716, "clusters": 24})["why"])


class Held:
    """A record in memory as a comparison reads one."""

    def __init__(self, whole):
        self.said, self.entries = whole, lambda: iter(whole["documents"])
