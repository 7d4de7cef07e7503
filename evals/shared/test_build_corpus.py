"""The corpus builder, on every kit of the checkout: same seed, same bytes; gaps and strays are named."""
import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from evals import check_labels
from evals.shared import planting
from src.shared import key
from src.shared import kit as kits
from src.shared.files import BadData, to_json, write_text
from tools import build_corpus

BUILT = [name for name in kits.names() if kits.load(name).definition.build]


def run(*arguments):
    """(exit code, standard output, standard error) of the command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = build_corpus.main([str(argument) for argument in arguments])
        except SystemExit as e:
            code = e.code
    return code, out.getvalue(), err.getvalue()


class Folder(unittest.TestCase):
    """Each test has an empty folder of its own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, name):
        """A copy of a kit's data folder."""
        return Path(shutil.copytree(kits.load(name).data, self.folder / f"copy-{name}"))


class TestBuild(Folder):
    def test_some_kit_has_a_generator(self):
        self.assertTrue(BUILT)

    def test_the_committed_bytes_are_those_of_a_fresh_build_without_a_gap(self):
        self.assertEqual(run("--check", *BUILT)[::2], (0, ""))

    def test_the_hash_seed_and_the_locale_change_no_byte(self):
        for environment in ({"PYTHONHASHSEED": "1", "LC_ALL": "C"}, {"PYTHONHASHSEED": "2", "PYTHONUTF8": "0"}):
            done = subprocess.run([sys.executable, "-m", "tools.build_corpus", "--check", *BUILT], cwd=kits.ROOT,
                                  env={**os.environ, **environment}, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_another_seed_gives_a_whole_folder_without_a_gap(self):
        for name in BUILT:
            out = self.folder / name
            self.assertEqual(run(name, "--seed", 7, "--out", out)[0], 0)
            self.assertEqual(run(name, "--check", "--data", out)[0], 0)
            home = kits.load(name).data
            self.assertNotEqual((out / "facts.jsonl").read_bytes(), (home / "facts.jsonl").read_bytes())
            self.assertEqual({path.name for path in out.iterdir()}, {path.name for path in home.iterdir()})

    def test_a_derived_key_is_the_built_key_and_leaves_the_corpus_alone(self):
        for name in BUILT:
            folder = self.copy(name)
            before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            (folder / "gold.jsonl").write_text("old\n")
            (folder / "stats.json").write_text("old\n")
            self.assertEqual(run(name, "--derive-gold", "--data", folder)[::2], (0, ""))
            after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            self.assertEqual([path.name for path in before.keys() | after.keys()
                              if before.get(path) != after.get(path)], [])


class TestShapes(Folder):
    """Whatever stands in cases.json or pools.json, a build succeeds or says a line a fault, with the file."""

    OTHERS = (None, True, -1, 10 ** 12, 0.5, "", "x", "{x}", "a\nb", [], ["x"], [None], {}, {"x": 1})
    TURNS = planting.SHAPES

    def places(self, value, path=()):
        """The path of everything in a JSON value; of a list its first and its last entry."""
        yield path
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        entries = list(children)
        for part, child in [*entries[:1], *entries[1:][-1:]] if isinstance(value, list) else entries:
            yield from self.places(child, (*path, part))

    def test_no_value_of_the_planned_cases_or_the_pools_stops_a_build_otherwise_than_in_words(self):
        chance = random.Random(20260822)
        for name in BUILT:
            folder = self.copy(name)
            kit, refused = kits.load(name, folder), 0
            for file in ("cases.json", "pools.json"):
                text = (folder / file).read_text(encoding="utf-8")
                places = list(self.places(json.loads(text)))[1:]
                for path in chance.choices(places, k=self.TURNS):
                    value = json.loads(text)
                    holder, other = value, chance.choice(self.OTHERS)
                    for part in path[:-1]:
                        holder = holder[part]
                    holder[path[-1]] = other
                    write_text(folder / file, json.dumps(value))
                    with self.subTest(name, file=file, path=path, other=other):
                        try:
                            kit.definition.build(kit.book, kit.about["seed"])
                        except BadData as e:
                            refused += 1
                            for problem in e.problems:
                                self.assertIn(str(folder), problem)
                                self.assertNotIn("\n", problem)
                write_text(folder / file, text)
            self.assertGreater(refused, self.TURNS)


class TestRefusals(Folder):
    def setUp(self):
        super().setUp()
        self.name = BUILT[0]

    def test_an_unknown_kit_lists_the_near_ones(self):
        code, _, err = run(self.name[:-1])
        self.assertEqual(code, 2)
        self.assertIn(f"did you mean {self.name}?", err)

    def test_a_seed_without_a_folder_is_refused(self):
        self.assertEqual(run(self.name, "--seed", 7)[0], 2)

    def test_a_folder_with_something_in_it_is_not_written_over(self):
        (self.folder / "mine.txt").write_text("mine")
        code, _, err = run(self.name, "--out", self.folder)
        self.assertEqual(code, 2)
        self.assertIn("not an empty folder", err)

    def test_a_document_of_your_own_stops_the_build_before_anything_is_written(self):
        folder = self.copy(self.name)
        (folder / "corpus" / "MINE-1.txt").write_text("mine")
        (folder / "gold.jsonl").write_text("{}\n")
        code, _, err = run(self.name, "--data", folder)
        self.assertEqual((code, (folder / "gold.jsonl").read_text()), (2, "{}\n"))
        self.assertIn("MINE-1.txt", err)

    def test_documents_that_are_no_build_have_no_stats_and_are_replaced_on_request_alone(self):
        folder = self.copy(self.name)
        page, stats = sorted((folder / "corpus").iterdir())[0], folder / "stats.json"
        drawn = page.read_text(encoding="utf-8")
        page.write_text(f"{drawn}\nmine\n", encoding="utf-8")
        code, _, err = run(self.name, "--derive-gold", "--data", folder)
        self.assertEqual((code, stats.exists()), (0, False))
        self.assertIn("these are not what the rules and plans beside them would draw", err)
        code, _, err = run(self.name, "--data", folder)
        self.assertEqual((code, page.read_text(encoding="utf-8")), (2, f"{drawn}\nmine\n"))
        self.assertIn("--replace", err)
        self.assertEqual(run(self.name, "--replace", "--data", folder)[0], 0)
        self.assertEqual((page.read_text(encoding="utf-8"), stats.exists()), (drawn, True))

    def test_check_names_the_file_and_the_line_that_differ(self):
        folder = self.copy(self.name)
        path = folder / "facts.jsonl"
        lines = path.read_text().splitlines()
        lines[2] += " "
        path.write_text("\n".join(lines) + "\n")
        code, _, err = run(self.name, "--check", "--data", folder)
        self.assertEqual(code, 1)
        self.assertIn("facts.jsonl: line 3: differs", err)

    def test_check_names_a_missing_file(self):
        folder = self.copy(self.name)
        (folder / "stats.json").unlink()
        self.assertIn("stats.json: is missing", run(self.name, "--check", "--data", folder)[2])

    def test_a_row_that_cannot_be_decided_keeps_the_old_key(self):
        folder = self.copy(self.name)
        (folder / "facts.jsonl").write_text('{"id": "A"}\n{"foreign": 1}\n')
        (folder / "gold.jsonl").write_text("old\n")
        code, _, err = run(self.name, "--derive-gold", "--data", folder)
        self.assertEqual((code, (folder / "gold.jsonl").read_text()), (2, "old\n"))
        self.assertIn("line 1", err)
        self.assertIn("line 2: id None is no document", err)

    def test_files_that_systems_leave_in_a_folder_are_no_documents(self):
        folder = self.copy(self.name)
        for name in (".DS_Store", "Thumbs.db", "desktop.ini", "._one.txt"):
            (folder / "corpus" / name).write_bytes(b"\0\1")
        self.assertEqual(run(self.name, "--check", "--data", folder)[::2], (0, ""))
        self.assertEqual([str(problem) for problem in check_labels.gate(kits.load(self.name, folder)).problems], [])

    def test_a_row_whose_id_could_leave_the_folder_gives_no_key(self):
        folder = self.copy(self.name)
        row = json.loads((folder / "facts.jsonl").read_text(encoding="utf-8").splitlines()[0])
        (folder / "facts.jsonl").write_text(to_json({**row, "id": "../x"}) + "\n", encoding="utf-8")
        code, _, err = run(self.name, "--derive-gold", "--data", folder)
        self.assertEqual(code, 2)
        self.assertIn("line 1: id '../x' is no document; write the name of a file in corpus/", err)

    def test_an_empty_facts_file_gives_no_key(self):
        folder = self.copy(self.name)
        (folder / "facts.jsonl").write_text("")
        self.assertEqual(run(self.name, "--derive-gold", "--data", folder)[0], 2)


class TestGaps(unittest.TestCase):
    STATS = {"rules": {"r": {"pass": 1, "breached": 1}}, "distinct_values": {"f": 2},
             "limits": {"r": {"step": 1, "unit": "days", "just_below": 1, "exactly_at": 1, "just_above": 1}}}

    def test_a_complete_set_has_no_gap(self):
        self.assertEqual(list(key.gaps(self.STATS)), [])

    def test_a_rule_that_never_decides_is_named(self):
        stats = {**self.STATS, "rules": {"r": {"pass": 1, "breached": 0}}}
        self.assertEqual(list(key.gaps(stats)), ["r: no document where it is breached"])

    def test_a_missing_side_of_a_limit_is_named(self):
        stats = {**self.STATS, "limits": {"r": {**self.STATS["limits"]["r"], "exactly_at": 0}}}
        self.assertEqual(list(key.gaps(stats)), ["r: no document exactly at the limit (step 1 days)"])

    def test_a_constant_field_is_named(self):
        self.assertEqual(list(key.gaps({**self.STATS, "distinct_values": {"f": 1}})),
                         ["f: has one value in every document"])
