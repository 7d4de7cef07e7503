"""What every kit has to keep, as tests that a kit inherits.

    class TestKit(contract.KitContract, unittest.TestCase):
        name = "label_restrict"
"""
import contextlib
import copy
import gc
import importlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from evals import check_labels
from evals.shared import arms, record, scoring
from src.shared import follow, guards, tally
from src.shared import kit as kits
from src.shared.files import BadData, read_jsonl, to_json
from src.shared.parts import Completion

# Tests hold whole kits in memory, and looking for garbage among them over and over would be a tenth of their time.
gc.set_threshold(100_000, 20, 20)
# What a hand may leave in any place of a data file.
ODD = (None, True, -1.5, 10 ** 40, "", "x", "{0[", "$x", [], {}, [None], [[]], {"x": {}}, ["x"])


class KitContract:
    """Tests over one kit, by its `name`."""

    name = None

    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load(cls.name)
        cls.bench = importlib.import_module(f"evals.{cls.name}.bench").BENCH
        cls.gold = list(cls.kit.gold())
        cls.arms = arms.free(cls.kit, cls.bench)

    def entries(self, arm, grading):
        """The record entries of one arm over all documents."""
        for row in self.gold:
            document = row["id"]
            yield grading.entry(row, follow.read(self.kit, document, arm.call(document, self.kit.text(document))))

    def run_arm(self, arm):
        """(entries, closing part of the record) of one arm."""
        grading = scoring.Scoring(self.kit, self.bench)
        return list(self.entries(arm, grading)), grading.closing()

    def answered(self, row, **changed):
        """What comes down the line for a reply of gold with some values changed."""
        reply = {key: row.get(key) for key in self.kit.definition.keys(self.kit.book)} | changed
        return follow.read(self.kit, row["id"], Completion(text=to_json(reply), finish="stop"))

    def test_a_quote_is_kept_with_the_characters_of_the_page_that_it_is(self):
        grading = scoring.Scoring(self.kit, self.bench)
        for row in self.gold:
            entry, page = grading.entry(row, self.answered(row)), self.kit.text(row["id"])
            values = entry["raw"]["values"]
            quoted = {name: values[name] for name in self.bench.quotes if values[name]}
            self.assertEqual(entry.get("spans", {"raw": {}})["raw"].keys(), quoted.keys(), row["id"])
            for name, quote in quoted.items():
                self.assertIn([*map(str.casefold, quote.split())],
                              [page[start:end].casefold().split() for start, end in entry["spans"]["raw"][name]])

    def test_all_labels_follow(self):
        report = check_labels.gate(self.kit)
        self.assertEqual([str(problem) for problem in report.problems], [])

    def test_a_headline_that_is_no_figure_of_the_kit_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for mark in (self.kit.about["primary_metric"], "nosuch"):
                Path(folder, "kit.json").write_text(json.dumps({**self.about(), "primary_metric": mark}), "utf-8")
                told = "\n".join(map(str, check_labels._check(self.name, Path(folder)).problems))
                self.assertEqual("primary_metric: \"nosuch\" is no figure of this kit" in told, mark == "nosuch")

    def about(self):
        return json.loads((self.kit.data / "kit.json").read_text("utf-8"))

    def test_a_reply_of_gold_is_right_on_every_mark_and_nothing_is_overridden(self):
        grading = scoring.Scoring(self.kit, self.bench)
        for row in self.gold:
            entry = grading.entry(row, self.answered(row))
            self.assertEqual((entry["outcome"], entry["overrides"]), ("answered", []), row["id"])
        closing = grading.closing()
        for error in closing["errors"]:
            for column in tally.COLUMNS:
                self.assertFalse(error[column] and error[column]["count"], error["id"])
        headline = closing["metrics"][0]
        self.assertEqual(headline["raw"]["num"], headline["raw"]["den"])

    def test_the_fixed_prefix_comes_first_and_is_the_same_on_every_call(self):
        prefixes = set()
        for row in self.gold:
            parts = self.kit.prompt(row["id"])
            fixed = [part.fixed for part in parts]
            self.assertEqual(fixed, sorted(fixed, reverse=True))
            prefixes.add("".join(part.text for part in parts if part.fixed))
        self.assertEqual(len(prefixes), 1)
        self.assertNotIn("{{", prefixes.pop())

    def test_null_beats_nothing(self):
        entries, closing = self.run_arm(self.arms["null"])
        headline = closing["metrics"][0]
        self.assertEqual(headline["raw"]["num"], 0)
        self.assertEqual(headline["raw"]["den"] % len(entries), 0)

    def test_every_documents_end_is_counted_once(self):
        entries, closing = self.run_arm(self.arms["stub"])
        outcomes = closing["totals"]["outcomes"]
        self.assertEqual(sum(outcomes.values()), len(entries))
        for outcome in set(follow.OUTCOMES) - {follow.HARNESS}:
            want = sum(entry["outcome"] == outcome for entry in entries)
            self.assertEqual(outcomes[outcome], want)
            self.assertGreater(want, 0, f"the stub plants no {outcome}")

    def test_no_answer_is_a_miss_and_never_an_exclusion(self):
        nothing = Completion(error={"kind": "x", "outcome": follow.FAILED, "message": "gone"})
        grading, whole = scoring.Scoring(self.kit, self.bench), scoring.Scoring(self.kit, self.bench)
        for row in self.gold:
            grading.entry(row, follow.read(self.kit, row["id"], nothing))
            whole.entry(row, self.answered(row))
        for metric in self.bench.metrics:
            missed, full = grading.tally.rate("raw", metric.id), whole.tally.rate("raw", metric.id)
            if missed and full:
                self.assertEqual((missed["num"], missed["den"]), (0, full["den"]), metric.id)

    def test_every_cell_of_a_matrix_has_a_label(self):
        for arm in self.arms.values():
            grading = scoring.Scoring(self.kit, self.bench)
            entries = list(self.entries(arm, grading))
            for matrix in self.bench.matrices(self.kit):
                for column in tally.COLUMNS:
                    counted = grading.tally.matrix(column, matrix.id, matrix.labels)
                    want = sum(matrix.id in entry["cells"][column] for entry in entries)
                    self.assertEqual(sum(map(sum, counted or [])), want, (arm.name, matrix.id))

    def test_a_record_whose_figures_are_not_its_rows_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "eval-b001-x.json"
            entries, closing = self.run_arm(next(arm for arm in self.arms.values() if arm.letter == "b"))
            record.write(path, entries, lambda: closing)
            self.assertEqual(len(record.read(path)["documents"]), len(self.gold))
            closing["metrics"][0]["raw"]["num"] += 1
            record.write(path, entries, lambda: closing)
            with self.assertRaises(BadData) as caught:
                record.read(path)
            self.assertIn("metric", str(caught.exception))

    def test_what_is_derived_from_the_facts_is_the_key(self):
        for (number, facts), row in zip(read_jsonl(self.kit.data / "facts.jsonl"), self.gold):
            found = self.kit.definition.decide(self.kit.book, facts)
            for key, value in found.items():
                if key in row:
                    self.assertEqual(value, row[key], (row["id"], key))

    def test_faults_of_several_files_are_named_in_one_answer(self):
        with opened_copy(self.kit) as (folder, rules):
            change(folder / kits.MARKER, lambda about: about.update(title=3))
            change(folder / "fields.json", lambda fields: fields["fields"][0].update(type="nubmer"))
            change(folder / rules, lambda document: [rule.update(why=[]) for rule in entries_with(document, "order")])
            with (folder / "prompt.md").open("a", encoding="utf-8") as page:
                page.write("{{nowhere}}\n")
            with self.assertRaises(BadData) as caught:
                kits.load(self.name, folder)
            said = caught.exception.problems
            for file, words in ((kits.MARKER, "title 3 is not"), ("fields.json", "'nubmer'"), ("prompt.md", "nowhere")):
                of_file = [problem for problem in said if problem.startswith(f"{folder / file}: ")]
                self.assertTrue(any(words in problem for problem in of_file), said)
            of_rules = [problem for problem in said if problem.startswith(f"{folder / rules}: ")]
            document = json.loads((folder / rules).read_text(encoding="utf-8"))
            self.assertEqual(sum("why [] is not a text" in problem for problem in of_rules),
                             len(list(entries_with(document, "order"))))

    def test_no_value_in_any_place_is_more_than_refused(self):
        chance, refused, facts = random.Random(20260901), 0, next(read_jsonl(self.kit.data / "facts.jsonl"))[1]
        with opened_copy(self.kit) as (folder, rules):
            for file in (kits.MARKER, "fields.json", *([rules] * 3)):
                whole = (folder / file).read_text(encoding="utf-8")
                for _ in range(12):
                    document = json.loads(whole)
                    *inner, last = chance.choice(list(places(document)))
                    within(document, inner)[last] = copy.deepcopy(chance.choice(ODD))
                    (folder / file).write_text(json.dumps(document), encoding="utf-8")
                    try:
                        kit = kits.load(self.name, folder)
                    except BadData as e:
                        refused += 1
                        self.assertTrue(all(problem.startswith(f"{folder}/") for problem in e.problems), e.problems)
                    else:
                        self.assertIn("trace", kit.definition.decide(kit.book, facts))
                (folder / file).write_text(whole, encoding="utf-8")
        self.assertGreater(refused, 20)

    def test_rules_alone_decide_from_the_command_line(self):
        rows = (self.kit.data / "facts.jsonl").read_text(encoding="utf-8").splitlines()[:3]
        done = subprocess.run([sys.executable, "-m", "src.decide", self.name], input="\n".join([*rows, "{"]) + "\n",
                              capture_output=True, text=True, encoding="utf-8", cwd=kits.ROOT)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, len(lines), lines[3]["line"]), (1, 4, 4))
        self.assertIn("error", lines[3])
        for line in lines[:3]:
            self.assertIn("trace", line)


@contextlib.contextmanager
def opened_copy(kit):
    """(a folder with the files of a kit's data folder and none of its documents, the name of the file of its rules)."""
    with tempfile.TemporaryDirectory() as place:
        for path in kit.data.iterdir():
            if path.is_file():
                shutil.copy(path, place)
        yield Path(place), next(name for name in guards.RULE_FILES if (kit.data / name).exists())


def change(path, edit):
    """Let `edit` change the value of a JSON file."""
    value = json.loads(path.read_text(encoding="utf-8"))
    edit(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def entries_with(value, key):
    """Yield every object inside a JSON value that has a key."""
    if isinstance(value, dict) and key in value:
        yield value
    for _, child in children(value):
        yield from entries_with(child, key)


def places(value, path=()):
    """Yield the path of every value inside a JSON value."""
    for key, child in children(value):
        yield (*path, key)
        yield from places(child, (*path, key))


def within(value, path):
    """What stands at a path inside a JSON value."""
    for key in path:
        value = value[key]
    return value


def children(value):
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
