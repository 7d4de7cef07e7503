"""`python -m evals.run` as people use it, in a copy of the checkout."""
import atexit
import compileall
import contextlib
import functools
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from evals import check_labels
from src.shared import kit as kits
from src.shared import ledger
from src.shared.files import BadData

# The kit with the fewest documents stands for all: what is tested here is the same code for each.
NAME = min(kits.names(), key=lambda name: sum(1 for _ in kits.load(name).documents()))
OTHERS = set(kits.names()) - {NAME}
HYPHENED = NAME.replace("_", "-")


FEW = 12


def few(data):
    """A data folder cut down to its first documents, so that a run is short; left whole where its gate objects."""
    whole = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    kept = set()
    for name in ("gold.jsonl", "facts.jsonl"):
        rows = (data / name).read_text(encoding="utf-8").splitlines()[:FEW]
        kept |= {json.loads(row)["id"] for row in rows}
        (data / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    for page in (data / "corpus").iterdir():
        if page.stem not in kept:
            page.unlink()
    about = json.loads((data / "kit.json").read_text(encoding="utf-8"))
    about |= {"size": FEW} | ({"hard_family_floors": {}} if "hard_family_floors" in about else {})
    (data / "kit.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    (data / "cases.json").write_text("[]", encoding="utf-8")
    (data / "stats.json").unlink(missing_ok=True)
    try:
        sound = not check_labels.gate(kits.load(NAME, data)).problems
    except BadData:
        sound = False
    if not sound:
        for path, content in whole.items():
            path.write_bytes(content)


class Checkout:
    """A copy of this checkout with one kit in it, so that runs may write where they like."""

    def __init__(self, case):
        folder = tempfile.TemporaryDirectory()
        case.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "copy"
        shutil.copytree(_model(), self.root, copy_function=_given)

    def run(self, *words, module="evals.run", stdin="", **environment):
        """Run a command; returns the finished process, its output as text."""
        return subprocess.run([sys.executable, "-m", module, *words], cwd=self.root, input=stdin, capture_output=True,
                              text=True, encoding="utf-8",
                              env=self.environment(**environment))

    def here(self, *words, module="evals.run", **environment):
        """The same command without a process of its own, for what is not about processes: a tenth of the time."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            for patch in (mock.patch.object(kits, "ROOT", self.root), mock.patch("sys.stdin", io.StringIO()),
                          mock.patch.object(ledger, "PLACE", self.root / "results" / "ledger"),
                          mock.patch.dict(os.environ, self.environment(**environment), clear=True),
                          contextlib.chdir(self.root), contextlib.redirect_stdout(out),
                          contextlib.redirect_stderr(err)):
                stack.enter_context(patch)
            try:
                code = importlib.import_module(module).main(list(words))
            except SystemExit as e:
                code = e.code
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    @staticmethod
    def environment(**more):
        """The environment of a command: no provider but one that is given, and nothing compiled, which a full disk would
        cut short."""
        own = {name: value for name, value in os.environ.items() if name not in ("API_KEY", "BASE_URL", "MODEL")}
        return {**own, "PYTHONDONTWRITEBYTECODE": "1", **more}

    @property
    def kit(self):
        """(data folder, results folder) of the kit under test."""
        return _kit(self.root)


def _kit(root):
    place = "" if (root / "data" / kits.MARKER).exists() else NAME
    return root / "data" / place, root / "results" / place


def _given(source, target):
    """Code, which no test changes, is the model's own file; everything else a copy of it."""
    (os.link if source.endswith((".py", ".pyc")) else shutil.copy2)(source, target)


@functools.lru_cache(maxsize=None)
def _model():
    """What every Checkout is a copy of, made once: the checkout with one kit of few documents."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    root = Path(folder.name) / "copy"
    skipped = shutil.ignore_patterns("__pycache__", ".git", "local", "shots", "ledger", ".env", "test_*.py", *OTHERS)
    shutil.copytree(kits.ROOT, root, ignore=skipped)
    few(_kit(root)[0])
    # Compiled here, so that not every command does it again.
    compileall.compile_dir(root, quiet=2)
    return root


class TestFreeRuns(unittest.TestCase):
    def setUp(self):
        self.copy = Checkout(self)
        self.data, self.results = self.copy.kit

    def test_without_a_word_every_free_arm_runs_and_every_figure_has_its_count(self):
        done = self.copy.run(NAME)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("all labels follow", done.stdout)
        for line in done.stdout.splitlines():
            if re.match(r".* (raw|rechecked) ", line):
                self.assertRegex(line, r"\d+/\d+ |–")
        self.assertEqual(len(list((self.results / "local").glob("eval-*.json"))), len(set(
            re.findall(r"eval-[bt]000-[a-z-]+", " ".join(path.name for path in (self.results / "local").iterdir())))))

    def test_the_same_run_twice_is_the_same_record_but_for_its_date(self):
        texts = []
        for run_id in (f"b801-{HYPHENED}", f"b802-{HYPHENED}"):
            self.assertEqual(self.copy.here(NAME, "--arm", "null", "--run-id", run_id).returncode, 0)
            found = json.loads((self.results / f"eval-{run_id}.json").read_text(encoding="utf-8"))
            texts.append({**found, "run": {**found["run"], "id": "", "date": "", "command": ""}})
        self.assertEqual(texts[0], texts[1])

    def test_a_kept_run_is_not_overwritten(self):
        run = ("--arm", "null", "--run-id", f"b801-{HYPHENED}")
        self.copy.here(NAME, *run)
        done = self.copy.here(NAME, *run)
        self.assertEqual(done.returncode, 2)
        self.assertIn("not overwritten", done.stderr)

    def test_a_run_id_says_what_the_run_is(self):
        for run_id, word in (("r001", "scored model run"), ("z001", "no kind of run"), ("b1", "three digits"),
                             ("b001-other", "three digits"), ("../b001", "three digits")):
            done = self.copy.here(NAME, "--arm", "null", "--run-id", f"{run_id}-{HYPHENED}")
            self.assertEqual(done.returncode, 2, run_id)
            self.assertIn(word, done.stderr)

    def test_unknown_names_are_answered_with_near_ones(self):
        for words, near in (([NAME[:-1]], NAME), ([NAME, "--arm", "nul"], "null"),
                            ([NAME, "--docs", "XYZ-1"], "no such document")):
            done = self.copy.here(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(near, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_documents_are_chosen_by_id_and_glob(self):
        first = next(kits.load(NAME).documents())
        done = self.copy.here(NAME, "--arm", "null", "--docs", first, "--json")
        self.assertEqual(json.loads(done.stdout)["null"]["totals"]["documents"], 1)
        done = self.copy.here(NAME, "--arm", "null", "--docs", first[:3] + "*", "--limit", "3", "--json")
        self.assertEqual(json.loads(done.stdout)["null"]["totals"]["documents"], 3)

    def test_a_label_that_does_not_follow_stops_the_run(self):
        gold = self.data / "gold.jsonl"
        lines = gold.read_text(encoding="utf-8").splitlines()
        row = json.loads(lines[0])
        lines[0] = json.dumps({**row, "case": "no_such_case"})
        gold.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = self.copy.here(NAME)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("gold.jsonl", done.stderr)

    def test_broken_files_answer_in_a_line_and_never_with_a_traceback(self):
        for name in ("gold.jsonl", "kit.json", "prompt.md"):
            path = self.data / name
            whole = path.read_bytes()
            for data in (b"", b"\xef\xbb\xbf" + whole, whole.replace(b"\n", b"\r\n"), whole[:-20]):
                path.write_bytes(data)
                done = self.copy.here(NAME)
                with self.subTest(name=name, data=data[:12]):
                    if done.returncode == 0:        # prose may lose its last words and be a prompt still
                        self.assertEqual(name, "prompt.md")
                    else:
                        self.assertIn(done.returncode, (1, 2))
                        self.assertIn(name, done.stderr)
                    self.assertNotIn("Traceback", done.stderr)
            path.write_bytes(whole)

    def test_an_environment_without_utf8_changes_nothing(self):
        done = self.copy.run(NAME, "--quiet", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_options_about_calls_are_said_to_be_passed_over_where_none_is_made(self):
        for words in ((NAME, "--arm", "null"), (NAME,)):
            done = self.copy.here(*words, "--workers", "3", "--max-tokens", "9", "--yes", "--quiet")
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertRegex(done.stderr, r"^--workers, --max-tokens, --yes: passed over, since (the arm null|a free "
                                          r"arm) makes no call\n$")

    def test_a_model_run_without_a_key_names_the_variable_and_the_example(self):
        done = self.copy.here(NAME, "--arm", "model")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for word in ("BASE_URL", "API_KEY", "MODEL", ".env.example"):
            self.assertIn(word, done.stderr)

    def test_a_dry_run_prints_one_prompt_and_sends_nothing(self):
        done = self.copy.here(NAME, "--arm", "model", "--dry-run")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the same on every call", done.stderr)
        self.assertGreater(len(done.stdout), 1000)
