"""The label gate of legal_hold: the key follows, it is independent, and no single change of the data goes unseen.

The mutation test changes one thing at a time in a small data folder of four matters; a change that the gate lets pass
has to be proven harmless.
"""
import contextlib
import io
import json
import random
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from evals import check_labels
from evals.legal_hold import gate
from evals.legal_hold.test_rules import random_matter
from evals.shared import labels, planting
from src.legal_hold import legalhold, matter, state
from src.shared import kit as kits
from tools import build_corpus

KIT = kits.load("legal_hold")
SMALL = ("named_by_role", "scope_in_the_narrative", "released_at_run_2", "scope_widened_at_run_2")
def small_data(folder):
    """A data folder of four matters, one of each case of SMALL."""
    for path in KIT.data.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    dealt = ("match", "special", "people", "moved", "purged", "scripts")
    cases = [{**case, "count": 1, "plan": {name: value[0] if name in dealt and isinstance(value, list) else value
                                           for name, value in case["plan"].items()}}
             for case in json.loads((folder / "cases.json").read_text()) if case["case"] in SMALL]
    about = json.loads((folder / "kit.json").read_text()) | {"size": 12, "matters": 4, "seed": 5}
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "kit.json").write_text(json.dumps(about))
    kit = kits.load(KIT.name, folder)
    for name, text in kit.definition.build(kit.book, about["seed"]).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


class TestCommittedKey(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = check_labels.gate(KIT)

    def test_every_chain_is_replayed_and_every_label_follows_from_both_renderings(self):
        self.assertEqual([str(problem) for problem in self.report.problems], [])
        self.assertEqual(self.report.counts[gate.CHAINS], KIT.about["matters"])
        self.assertEqual(self.report.counts[gate.FOLLOWS], KIT.about["size"])

    def test_personal_details_are_in_no_prompt_and_in_every_one_without_the_guard(self):
        self.assertIn(f"in 0 of {KIT.about['size']} prompts, in {KIT.about['size']} without", self.report.says)

    def test_no_source_file_spells_the_name_of_an_action(self):
        [told] = [label for label in self.report.counts if "name one of 9 actions" in label]
        self.assertEqual(self.report.counts[told], 0)

    def test_another_seed_passes_the_same_gate(self):
        with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
            out = Path(place) / "other"
            self.assertEqual(build_corpus.main([KIT.name, "--seed", "7", "--out", str(out)]), 0)
            self.assertEqual([str(problem) for problem in check_labels.gate(kits.load(KIT.name, out)).problems], [])


class TestActions(unittest.TestCase):
    def test_each_of_the_nine_names_is_found_in_any_spelling(self):
        for place, action in enumerate(gate.ACTIONS):
            spelt = action if place % 2 else "".join(word.title() for word in action.split("_"))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "src" / ("x.py" if place % 2 else "x.js")
                path.parent.mkdir()
                path.write_text(f"{spelt}(1)\n")
                report = labels.Report(folder, ())
                gate.check_actions(report, Path(folder))
                self.assertEqual([problem.row for problem in report.problems], [f"src/{path.name}"])


    def test_whatever_could_reach_somebody_is_found_in_the_kits_own_sources_and_nowhere_else(self):
        for word in gate.MEANS:
            with tempfile.TemporaryDirectory() as folder:
                for package in (KIT.name, "shared"):
                    path = Path(folder) / "src" / package / "x.py"
                    path.parent.mkdir(parents=True)
                    path.write_text(f"import os\nfrom a import {word}\n")
                report = labels.Report(folder, ())
                gate.check_actions(report, Path(folder))
                self.assertEqual([problem.row for problem in report.problems], [f"src/{KIT.name}/x.py"], word)


class TestReplay(unittest.TestCase):
    """Two derivations that share no code, over matters that no case planned."""

    def test_the_gate_and_the_engine_say_the_same_of_any_matter(self):
        rng, book = random.Random(11), KIT.book
        report = labels.Report(KIT.data, gate.FILES)
        tables = gate.json_tables(report, gate.read_json(report, "policy.json"))
        for _ in range(80):
            rows = random_matter(rng)
            everybody = {person["id"]: person for row in rows for person in row["candidates"]}
            for row in rows:    # the gate asks for one roster throughout
                row["candidates"] = [next((p for p in row["candidates"] if p["id"] == name), person)
                                     for name, person in sorted(everybody.items())]
                row["events"] = [event for event in row["events"] if event["id"] in everybody]
            carried, said = state.NOTHING, []
            for row in rows:
                outcome, carried = legalhold.step(matter.read(book.rules.policy["events"], row), carried, book.rules)
                said.append((outcome.stage, {name: word == "CUSTODIAN" for name, word in outcome.hold_status.items()},
                             outcome.escalate, outcome.notices, outcome.on_hold))
            self.assertEqual([found[:5] for found in gate.replay(tables, rows)], said)

    def test_a_fault_planted_in_the_engine_is_found(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            small_data(folder)
            rows = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
            wrong = [{**row, "escalate": [], "matter_stage": "MONITORING"} if row["escalate"] else row for row in rows]
            (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in wrong))
            problems = [str(problem) for problem in gate.check(folder, root=folder).problems]
            self.assertTrue(any("escalate is []; policy.md as it stands gives" in problem for problem in problems))
            self.assertTrue(any("escalate is []; policy.json as it stands gives" in problem for problem in problems))


class TestMutations(planting.Mutated, unittest.TestCase):
    gate = gate
    words = {"kit.json": ("title", "decides", "document", "documents"), "attacks.json": ("call_closed", "leave_off")}
    orderless = ("facts.jsonl", "gold.jsonl")
    parts = dict.fromkeys(("kit.json", "fields.json", "policy.json", "policy.md", "attacks.json"), gate.read_key)
    turns, seed = 78, 20260824
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.home = Path(place.name)
        small_data(cls.home)
        super().setUpClass()

    def problems(self, prompts=None):
        return [str(problem) for problem in gate.check(self.data, prompts, root=self.data).problems]

    def reason(self, mutant):
        if mutant.file in self.pages:
            read = [[" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
                    for text in (self.pages[mutant.file], mutant.text)]
            return "blank lines and line breaks" if read[0] == read[1] else None
        is_number = isinstance(mutant.before, (int, float)) and isinstance(mutant.after, (int, float))
        return "the same number" if is_number and mutant.before == mutant.after else None

    def test_the_small_folder_passes_before_anything_is_changed(self):
        self.assertEqual(self.problems(), [])

    def test_matters_of_ones_own_need_no_pools_and_no_plan(self):
        for file in ("pools.json", "cases.json", "stats.json"):
            (self.data / file).unlink()
        self.assertEqual(self.problems(), [])

    def test_a_notice_dated_before_the_run_that_asks_for_it_is_caught(self):
        row = json.loads(self.texts["facts.jsonl"].splitlines()[0])
        people = {person["id"] for person in row["candidates"]}
        event = next(event for line in self.texts["facts.jsonl"].splitlines() for event in json.loads(line)["events"]
                     if event["type"] == "notice" and event["id"] in people)
        for file in [file for file in self.pages if file.startswith(f"corpus/{row['matter']}")] + ["facts.jsonl"]:
            text = (self.data / file).read_text("utf-8")
            for old in (f'{event["on"]}  hold notice sent: {event["id"]}',
                        f'"on": "{event["on"]}", "type": "notice", "id": "{event["id"]}"'):
                text = text.replace(old, old.replace(event["on"], row["snapshot"]))
            self.write(file, text)
        self.assertIn("dated before the run that asks", "\n".join(self.problems()))

    def test_a_missing_or_doubled_run_is_caught(self):
        lines = self.texts["facts.jsonl"].splitlines(keepends=True)
        for changed in (lines[:4] + lines[5:], lines + lines[:1]):
            self.write("facts.jsonl", "".join(changed))
            self.assertTrue(self.problems())


if __name__ == "__main__":
    unittest.main()
