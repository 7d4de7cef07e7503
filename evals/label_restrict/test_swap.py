"""Swapping two checks in checks.json moves decisions, prompt and key together, and the gate says what no longer follows."""
import json
import shutil
import tempfile
import unittest
from pathlib import Path

from evals import check_labels
from src.shared import kit as kits
from src.shared.files import read_jsonl

ONE, OTHER = "max_rate_per_application", "max_applications_per_season"


class TestSwap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kit = kits.load("label_restrict")
        self.data = Path(folder.name) / "data"
        shutil.copytree(self.kit.data, self.data)
        path = self.data / "checks.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        rules = {rule["id"]: rule for rule in document["rules"]}
        rules[ONE]["order"], rules[OTHER]["order"] = rules[OTHER]["order"], rules[ONE]["order"]
        path.write_text(json.dumps(document), encoding="utf-8")
        self.swapped = kits.load("label_restrict", self.data)

    def moved(self):
        """{document: (restriction before, restriction after)} of the rows that the swap decides anew."""
        found = {}
        for _, facts in read_jsonl(self.kit.data / "facts.jsonl"):
            before, after = (kit.definition.decide(kit.book, facts)["deciding_restriction"] for kit in (self.kit, self.swapped))
            if before != after:
                found[facts["id"]] = (before, after)
        return found

    def test_decisions_move(self):
        moved = self.moved()
        self.assertTrue(moved)
        self.assertEqual(set(moved.values()), {(ONE, OTHER)})

    def test_the_prompt_moves(self):
        before, after = (kit.prompt(next(kit.documents()))[1].text for kit in (self.kit, self.swapped))
        self.assertLess(before.index(f". {ONE}:"), before.index(f". {OTHER}:"))
        self.assertGreater(after.index(f". {ONE}:"), after.index(f". {OTHER}:"))

    def test_the_board_moves(self):
        document = next(iter(self.moved()))
        ladders = []
        for kit in (self.kit, self.swapped):
            panels = kit.definition.panels(kit.book, document, kit.text(document), {})
            ladders.append(json.dumps([panel for panel in panels if panel["kind"] == "ladder"], default=str))
        self.assertLess(ladders[0].index(ONE), ladders[0].index(OTHER))
        self.assertGreater(ladders[1].index(ONE), ladders[1].index(OTHER))

    def test_the_gate_names_the_other_rendering_and_every_row_that_no_longer_follows(self):
        problems = check_labels.gate(self.swapped).problems
        self.assertTrue(any("policy.md" in str(problem) and ONE in str(problem) for problem in problems))
        named = {problem.row for problem in problems if str(problem.row).startswith("LBL-") or "LBL-" in str(problem)}
        for document in self.moved():
            self.assertTrue(any(document in str(problem) for problem in problems), document)
        self.assertTrue(named)

    def test_a_key_derived_anew_follows_but_for_what_the_cases_say(self):
        from tools import build_corpus
        build_corpus.derive_gold(self.swapped)
        rows = {row["id"]: row for row in self.swapped.gold()}
        for document, (_, after) in self.moved().items():
            self.assertEqual(rows[document]["deciding_restriction"], after)
