"""The settings of a re-score: which values they take, and that another one is another record beside the kept run."""
import contextlib
import functools
import importlib
import io
import json
import tempfile
import unittest
from collections import namedtuple
from decimal import Decimal
from pathlib import Path
from unittest import mock

from evals import check_labels, run
from src.shared import kit as kits
from src.shared.files import BadData

Book = namedtuple("Book", "settings")


class TestSet(unittest.TestCase):
    def setUp(self):
        self.kit = object.__new__(kits.Kit)
        settings = {"coverage_min": Decimal("0.6"), "precision_min": Decimal("0.3")}
        self.kit.name, self.kit.book, self.kit.about = "some_kit", Book(settings), {"settings": dict(settings)}

    def refused(self, name, value):
        before = self.kit.book
        with self.assertRaises(BadData) as caught:
            self.kit.set(name, value)
        self.assertIs(self.kit.book, before, "a refused value changes nothing")
        return str(caught.exception)

    def test_a_share_takes_the_place_of_the_published_one_and_of_no_other(self):
        for value in (0, 1, Decimal("0"), Decimal("1"), Decimal("0.25"), 0.5):
            self.kit.set("coverage_min", value)
            self.assertEqual(self.kit.book.settings, {"coverage_min": value, "precision_min": Decimal("0.3")})
        self.assertEqual(self.kit.about["settings"]["coverage_min"], Decimal("0.6"), "what is published stays")

    def test_what_is_no_share_is_refused_with_the_value_and_what_would_be_right(self):
        for value in (Decimal("-0.01"), Decimal("1.01"), 2, -1, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"),
                      float("nan"), float("inf"), True, None, "0.5", [0.5]):
            told = self.refused("coverage_min", value)
            self.assertIn(f"--set coverage_min: {value} is no share; a number from 0 to 1", told)

    def test_an_unknown_name_lists_the_near_one_and_all(self):
        self.assertIn("(did you mean coverage_min?); settings: coverage_min, precision_min",
                      self.refused("coverage", Decimal("0.5")))
        self.assertNotIn("did you mean", self.refused("zzz", Decimal("0.5")))
        self.kit.about = {}
        self.assertEqual(self.refused("coverage_min", 0), "--set coverage_min: some_kit has no such setting")


def quoted(reply, text, cut):
    """A reply's object with each of its quotations cut by `cut(text, where it begins, where it ends)`."""
    if isinstance(reply, list):
        return [quoted(part, text, cut) for part in reply]
    if not isinstance(reply, dict):
        return reply
    return {key: cut(text, start, start + len(value))
            if key == "citation" and isinstance(value, str) and (start := text.find(value)) >= 0
            else quoted(value, text, cut) for key, value in reply.items()}


def short(text, start, end):
    return text[start:start + (end - start) // 2]


def long(text, start, end):
    return text[start:end + 3 * (end - start)]


class TestRescore(unittest.TestCase):
    """Through the command, on every kit that credits quotations, into results of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        opened = kits.Kit.__init__

        def elsewhere(kit, name, data, results, alone):
            opened(kit, name, data, Path(folder.name) / name, alone)
        # The data stay as they are, so each gate is asked once.
        judged = functools.lru_cache(lambda name, gate=check_labels.gate: gate(kits.load(name)))
        for patch in (mock.patch.object(kits.Kit, "__init__", elsewhere),
                      mock.patch.object(check_labels, "gate", lambda kit: judged(kit.name))):
            patch.start()
            cls.addClassCleanup(patch.stop)
        cls.kept = {kit: f"b009-{kit.hyphened}" for kit in map(kits.load, kits.names())
                    if {"coverage_min", "precision_min"} <= kit.about.get("settings", {}).keys()}
        for kit, run_id in cls.kept.items():
            floor = next(iter(importlib.import_module(f"evals.{kit.name}.bench").BENCH.floors))
            cls.run_it(kit.name, "--arm", floor, "--run-id", run_id)

    @staticmethod
    def run_it(*words):
        """(exit code, standard error) of the command."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
            return run.main(list(words)), told.getvalue()

    def test_another_setting_is_another_record_and_the_kept_one_stays(self):
        for kit, run_id in self.kept.items():
            kept, beside = (folder / f"eval-{run_id}.json" for folder in (kit.results, kit.results / "local"))
            before = kept.read_bytes()
            code, said = self.run_it(kit.name, "--run-id", run_id, "--rescore", "--set", "coverage_min=0", "--set",
                                     "precision_min=0")
            self.assertEqual((code, said), (0, f"record: {beside}\nlook at it: python -m src.app\n"))
            self.assertEqual(kept.read_bytes(), before)
            old, anew = (json.loads(text) for text in (before, beside.read_bytes()))
            self.assertEqual((old["run"]["set"], anew["run"]["set"]), ({}, {"coverage_min": "0", "precision_min": "0"}))
            self.assertNotEqual(old["metrics"], anew["metrics"], "without a threshold every quotation is credited")

    def test_each_threshold_by_itself_moves_the_figures_of_answers_that_quote_partly(self):
        for kit in self.kept:
            bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
            floor, reader = next(iter(bench.floors.items()))
            for name, cut, number in (("coverage_min", short, "b010"), ("precision_min", long, "b011")):
                run_id = f"{number}-{kit.hyphened}"
                with mock.patch.dict(bench.floors, {floor: lambda *about: quoted(reader(*about), about[2], cut)}):
                    for words in (("--arm", floor), ("--rescore", "--set", f"{name}=0.05")):
                        code, told = self.run_it(kit.name, "--run-id", run_id, *words)
                        self.assertEqual(code, 0, told)
                published, low = ({metric["id"]: metric["raw"]["num"] for metric in json.loads(
                    (folder / f"eval-{run_id}.json").read_bytes())["metrics"] if metric["raw"]}
                    for folder in (kit.results, kit.results / "local"))
                self.assertGreater(sum(low.values()), sum(published.values()), (kit.name, name))
                self.assertTrue(all(low[metric] >= published[metric] for metric in low))

    def test_a_setting_that_cannot_be_is_refused_before_anything_runs(self):
        for kit, run_id in self.kept.items():
            for word, told in (("coverage_mim=0.5", "did you mean coverage_min?"), ("coverage_min", "write it like"),
                               ("coverage_min=half", "write it like coverage_min=0.5"),
                               ("coverage_min=1.5", "is no share"), ("precision_min=nan", "is no share")):
                code, said = self.run_it(kit.name, "--run-id", run_id, "--rescore", "--set", word, "-o", "never.json")
                self.assertEqual(code, 2)
                self.assertIn(told, said)
                self.assertFalse(Path("never.json").exists())


if __name__ == "__main__":
    unittest.main()
