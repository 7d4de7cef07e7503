"""The label gate of legal_hold: the key follows, it is independent, and no single change of the data goes unseen.

The mutation test changes one value at a time in a small data folder of four matters; a change that nothing can see is
proven to be one that no rule, score or prompt reads.
"""
import contextlib
import copy
import io
import json
import random
import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from evals import check_labels
from evals.legal_hold import gate
from evals.legal_hold.test_rules import random_matter
from src.legal_hold import legalhold, matter, state
from src.shared import kit as kits
from tools import build_corpus

KIT = kits.load("legal_hold")
SMALL = ("named_by_role", "scope_in_the_narrative", "released_at_run_2", "scope_widened_at_run_2")
MUTANTS = {"gold.jsonl": 70, "facts.jsonl": 70, "policy.json": 35, "policy.md": 15, "cases.json": 10, "corpus": 45}
# Free text that reaches no rule and no score: what is said here may be said in other words.
PROSE = {"policy.json": {"title", "authority", "why", "source", "from", "CUSTODIAN", "NOT_CUSTODIAN",
                         "never_sent_words"},
         "cases.json": {"sentence", "family", "plan"}, "gold.jsonl": {"rationale"}, "facts.jsonl": set()}
# What the gate leaves to the engine's own validation, or to what people read.
UNREAD = {"policy.json": {"events", "flags", "statuses", "decisions", "missing", "stops_at"}}


def small_data(folder):
    """A data folder of four matters, one of each case of SMALL."""
    for path in KIT.data.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    dealt = ("match", "special", "people", "moved", "purged", "scripts")
    cases = [{**case, "count": 1, "plan": {name: value[0] if name in dealt and isinstance(value, list) else value
                                           for name, value in case["plan"].items()}}
             for case in json.loads((folder / "cases.json").read_text()) if case["case"] in SMALL]
    about = json.loads((folder / "kit.json").read_text()) | {"size": 12, "matters": 4}
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "kit.json").write_text(json.dumps(about))
    kit = kits.load(KIT.name, folder)
    for name, text in kit.definition.build(kit.book, 5).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def places(value, path=()):
    """The paths of all leaves of a JSON value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if children is None:
        yield path
    for key, child in children or ():
        yield from places(child, (*path, key))


def changed(value, rng):
    """Another value of a leaf's own kind: near the old one, so that it is hard to see."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    if value is None:
        return "2025-01-01"
    if value in ("CUSTODIAN", "NOT_CUSTODIAN"):
        return "CUSTODIAN" if value == "NOT_CUSTODIAN" else "NOT_CUSTODIAN"
    digits = [place for place, mark in enumerate(value) if mark.isdigit()]
    if digits:
        place = digits[-1]
        return value[:place] + str((int(value[place]) + 1) % 10) + value[place + 1:]
    return value + "x" if value else "x"


def altered(document, path, rng):
    found = copy.deepcopy(document)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = changed(inner[path[-1]], rng)
    return found


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
        self.assertEqual(self.report.counts[f"source files that name one of {len(gate.ACTIONS)} actions"], 0)
        self.assertEqual(len(gate.ACTIONS), 9)

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
                report = gate.labels.Report(folder, ())
                gate.check_actions(report, Path(folder))
                self.assertEqual([problem.row for problem in report.problems], [f"src/{path.name}"])


class TestReplay(unittest.TestCase):
    """Two derivations that share no code, over matters that no case planned."""

    def test_the_gate_and_the_engine_say_the_same_of_any_matter(self):
        rng, book = random.Random(11), KIT.book
        report = gate.labels.Report(KIT.data, gate.FILES)
        tables = gate.json_tables(report, gate.read_json(report, "policy.json"))
        for _ in range(150):
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
            self.assertEqual(gate.replay(tables, rows), said)

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


class TestMutations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder, cls.rng = Path(place.name), random.Random(20260824)
        small_data(cls.folder)

    def is_caught(self, file, text):
        path = self.folder / file
        before = path.read_text()
        path.write_text(text)
        try:
            return bool(gate.check(self.folder, root=self.folder).problems)
        finally:
            path.write_text(before)

    def mutants(self, file):
        """(path in the file, its text with one leaf changed) for a drawn number of leaves."""
        text = (self.folder / file).read_text()
        lines = text.splitlines() if file.endswith(".jsonl") else [text]
        documents = [json.loads(line) for line in lines]
        leaves = [(number, path) for number, document in enumerate(documents) for path in places(document) if path]
        for number, path in self.rng.sample(leaves, min(MUTANTS[file], len(leaves))):
            other = [*documents[:number], altered(documents[number], path, self.rng), *documents[number + 1:]]
            yield path, "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in other)

    def test_the_small_folder_passes_before_anything_is_changed(self):
        self.assertEqual([str(problem) for problem in gate.check(self.folder, root=self.folder).problems], [])

    def test_a_changed_value_is_caught_unless_nothing_reads_it(self):
        counts = Counter()
        for file in ("gold.jsonl", "facts.jsonl", "policy.json", "cases.json"):
            for path, text in self.mutants(file):
                caught = self.is_caught(file, text)
                harmless = set(map(str, path)) & (PROSE[file] | UNREAD.get(file, set()))
                counts[file, "caught" if caught else "harmless"] += 1
                self.assertTrue(caught or harmless, f"{file}: {path} was changed and nobody noticed")
        self.assertGreater(sum(times for (_, how), times in counts.items() if how == "caught"), 140)

    def test_a_changed_cell_of_the_readers_tables_is_caught(self):
        text = (self.folder / "policy.md").read_text()
        lines = text.split("\n")
        rows = [number for number, line in enumerate(lines) if line.startswith("| ")
                and not line.startswith(("| order", "| table", "| threshold", "| run "))]
        for number in self.rng.sample(rows, min(MUTANTS["policy.md"], len(rows))):
            cells = lines[number].split(" | ")
            place = self.rng.randrange(len(cells))
            cells[place] = cells[place].rstrip(" |") + "1" + (" |" if cells[place].endswith("|") else "")
            self.assertTrue(self.is_caught("policy.md",
                                           "\n".join([*lines[:number], " | ".join(cells), *lines[number + 1:]])),
                            lines[number])

    def test_a_changed_line_of_a_page_is_caught_outside_the_personal_details(self):
        pages = sorted(path.relative_to(self.folder).as_posix() for path in (self.folder / "corpus").iterdir())
        for _ in range(MUTANTS["corpus"]):
            file = self.rng.choice(pages)
            lines = (self.folder / file).read_text().split("\n")
            personal = {number for number, line in enumerate(lines) if "home address" in line}
            number = self.rng.choice([number for number, line in enumerate(lines)
                                      if line.strip() and number not in personal])
            line = changed(lines[number], self.rng)
            self.assertTrue(self.is_caught(file, "\n".join([*lines[:number], line, *lines[number + 1:]])), (file, line))

    def test_a_missing_or_doubled_run_is_caught(self):
        lines = (self.folder / "facts.jsonl").read_text().splitlines(keepends=True)
        self.assertTrue(self.is_caught("facts.jsonl", "".join(lines[:4] + lines[5:])))
        self.assertTrue(self.is_caught("facts.jsonl", "".join(lines + lines[:1])))


if __name__ == "__main__":
    unittest.main()
