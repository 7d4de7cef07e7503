"""Swapping two checks moves decisions, prompt and key together, and the gate says what no longer follows."""
import json
import shutil
import tempfile
import unittest
from pathlib import Path

from evals import check_labels
from evals.label_restrict import floors
from src.shared import kit as kits
from src.shared.files import BadData, read_jsonl

KIT = kits.load("label_restrict")
FACTS = [facts for _, facts in read_jsonl(KIT.data / "facts.jsonl")]


def swapped_at(data, place):
    """Let the rules at `place` and behind it change their order in a data folder's checks.json."""
    document = json.loads((KIT.data / "checks.json").read_text(encoding="utf-8"))
    rules = sorted(document["rules"], key=lambda rule: rule["order"])
    one, other = rules[place:place + 2]
    one["order"], other["order"] = other["order"], one["order"]
    (data / "checks.json").write_text(json.dumps(document), encoding="utf-8")
    return one["id"], other["id"]


class TestSwap(unittest.TestCase):
    """Two neighbours of the table change places: the first pair of which some row of the key has both breached."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.data = Path(folder.name) / "data"
        shutil.copytree(KIT.data, cls.data)
        for place in range(len(KIT.book.table.rules) - 1):
            cls.one, cls.other = swapped_at(cls.data, place)
            cls.swapped, cls.moved = kits.load("label_restrict", cls.data), {}
            for facts in FACTS:
                before, after = (kit.definition.decide(kit.book, facts)["deciding_restriction"]
                                 for kit in (KIT, cls.swapped))
                if before != after:
                    cls.moved[facts["id"]] = (before, after)
            if cls.moved:
                break

    def test_decisions_move(self):
        self.assertEqual(set(self.moved.values()), {(self.one, self.other)})

    def test_the_prompt_moves(self):
        before, after = (kit.prompt(next(kit.documents()))[1].text for kit in (KIT, self.swapped))
        self.assertLess(before.index(f". {self.one}:"), before.index(f". {self.other}:"))
        self.assertGreater(after.index(f". {self.one}:"), after.index(f". {self.other}:"))

    def test_the_board_moves(self):
        document = next(iter(self.moved))
        ladders = []
        for kit in (KIT, self.swapped):
            panels = kit.definition.panels(kit.book, document, kit.text(document), {})
            ladders.append(json.dumps([panel for panel in panels if panel["kind"] == "ladder"], default=str))
        one, other = (f'"{name}"' for name in (self.one, self.other))
        self.assertLess(ladders[0].index(one), ladders[0].index(other))
        self.assertGreater(ladders[1].index(one), ladders[1].index(other))

    def test_the_gate_names_the_other_rendering_and_every_row_that_no_longer_follows(self):
        problems = list(map(str, check_labels.gate(self.swapped).problems))
        self.assertTrue(any("policy.md" in problem and self.one in problem for problem in problems))
        for document in self.moved:
            self.assertTrue(any(problem.startswith(f"gold.jsonl: {document}: ") for problem in problems), document)

    def test_a_key_derived_anew_follows_but_for_what_the_cases_say(self):
        from tools import build_corpus
        build_corpus.derive_gold(self.swapped)
        self.addCleanup(shutil.copy, KIT.data / "gold.jsonl", self.data)
        rows = {row["id"]: row for row in self.swapped.gold()}
        for document, (_, after) in self.moved.items():
            self.assertEqual(rows[document]["deciding_restriction"], after)


class TestOpening(unittest.TestCase):
    """A data folder that is not right says everything at once, and whatever stands in it, says so in sentences."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = Path(folder.name)
        for path in KIT.data.iterdir():
            if path.is_file():
                shutil.copy(path, self.data)

    def change(self, file, change):
        value = json.loads((KIT.data / file).read_text(encoding="utf-8"))
        change(value)
        (self.data / file).write_text(json.dumps(value), encoding="utf-8")

    def refused(self):
        with self.assertRaises(BadData) as caught:
            kits.load("label_restrict", self.data)
        return caught.exception.problems

    def test_words_of_the_tone_reader_that_no_longer_fit_the_rules_are_named(self):
        document = next(KIT.documents())
        passed = KIT.book.table.document["passed"]["decision"]
        for change, told in (
                (lambda tone: tone.pop("otherwise"), "otherwise is missing"),
                (lambda tone: tone.update(restrictions={}), "restrictions {} is not a list"),
                (lambda tone: tone["verdicts"].insert(0, 5), "/verdicts: 0 5 is not an object"),
                (lambda tone: tone["verdicts"][0].pop("words"), "/verdicts/0: words is missing"),
                (lambda tone: tone["verdicts"][0].update(words=[]), "words [] is not a list of at least one"),
                (lambda tone: tone["verdicts"][0].update(words=["fine", " "]), "/verdicts/0/words: 1 ' ' is not"),
                (lambda tone: tone.update(otherwise="maybe"), "otherwise 'maybe' is not one of"),
                (lambda tone: tone["verdicts"][0].update(verdict=passed[:-1]), f"{passed[:-1]!r} is not one"),
                (lambda tone: tone["restrictions"][0].update(restriction="x"), "restriction 'x' is not one of")):
            self.change("tone.json", change)
            floors._tone.cache_clear()
            with self.subTest(told), self.assertRaises(BadData) as caught:
                kit = kits.load("label_restrict", self.data)
                floors.note_tone(kit, document, KIT.text(document))
            self.assertIn(told, "\n".join(caught.exception.problems))

    def test_faults_of_all_files_are_said_together(self):
        self.change("kit.json", lambda about: about.update(kit="other"))
        self.change("fields.json", lambda fields: (fields["fields"][2].update(unit="L/h"),
                                                   fields["fields"][9].pop("line")))
        self.change("checks.json", lambda table: (table["rules"][0].update(test="inn"), table["rules"][-1].pop("why")))
        prompt = (KIT.data / "prompt.md").read_text(encoding="utf-8")
        (self.data / "prompt.md").write_text(prompt.replace("{{keys}}", "{{kyes}}"), encoding="utf-8")
        said = self.refused()
        files = [problem.split(": ")[0].removeprefix(f"{self.data}/") for problem in said]
        self.assertEqual(files, ["kit.json", *["fields.json"] * 2, *["checks.json"] * 2, *["prompt.md"] * 2])

    def test_a_rule_is_not_blamed_for_a_field_that_is_broken_itself(self):
        name = KIT.book.table.rules[0]["field"]
        self.change("fields.json", lambda fields: [field.pop("nullable") for field in fields["fields"]
                                                   if field["name"] == name])
        (said,) = self.refused()
        self.assertIn(f"({name}): nullable is missing", said)

    def test_two_files_that_are_no_json_are_both_named(self):
        for file in ("checks.json", "fields.json"):
            (self.data / file).write_text("{", encoding="utf-8")
        self.assertEqual([problem.split(": ")[0] for problem in self.refused()],
                         [f"{self.data / file}" for file in ("checks.json", "fields.json")])
