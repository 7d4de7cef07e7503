"""Marks add up, runs are compared only where they may be, thresholds give verdicts, shards join to the same bytes."""
import csv
import io
import json
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from evals.shared import comparing, export, shards, table, tally, thresholds
from evals.shared.test_run import NAME, Checkout
from src.shared import cost
from src.shared.files import BadData, to_json
from src.shared.follow import OUTCOMES

HYPHENED = NAME.replace("_", "-")


def entry(name, outcome="answered", cluster=None, cells=None, **marks):
    """A document's entry of a record with the same marks raw and rechecked."""
    return {"id": name, "case": None, "cluster": cluster, "outcome": outcome, "why": None, "overrides": [], "repairs": [],
            "cost": None, "usage": None, "marks": {"raw": marks, "rechecked": marks}, "cells": {"raw": cells or {}, "rechecked": cells or {}}}


def record_of(entries, run_id="r001-x", **guards):
    """A small record over entries whose headline is `right` and whose expensive error is `unsafe`."""
    counted = tally.Tally(["unsafe"])
    for each in entries:
        counted.add(each)
    both = lambda get, mark: {column: get(column, mark) for column in tally.COLUMNS}
    return {"documents": entries, "run": {"id": run_id, "kit": "x", "arm": "model", "code": "c"}, "settings": None,
            "guards": {"corpus": "1", "gold": "1", "rules": "1", "prefix": "1", "documents": len(entries), **guards},
            "metrics": [{"id": "right", "title": "right", "null": None, **both(counted.rate, "right")}],
            "errors": [{"id": "unsafe", "title": "unsafe", **both(counted.error, "unsafe")}], "matrices": [], "scores": [],
            "totals": {"documents": len(entries), **tally.Used(entries).totals, "cost": json.loads(to_json(cost.total([]))), "outcomes": {name: counted.outcomes.get(name, 0) for name in OUTCOMES}}}


class TestTally(unittest.TestCase):
    def test_a_mark_that_is_absent_is_no_opportunity(self):
        found = record_of([entry("a", right=True), entry("b", right=False), entry("c")])
        self.assertEqual((found["metrics"][0]["raw"]["num"], found["metrics"][0]["raw"]["den"]), (1, 2))

    def test_what_was_never_measured_is_none_and_not_zero(self):
        counted = tally.Tally()
        counted.add(entry("a"))
        self.assertIsNone(counted.rate("raw", "right"))
        self.assertIsNone(counted.error("raw", "unsafe"))
        self.assertEqual((table.rate(None), table.count(None)), ("–", "–"))

    def test_units_of_one_document_widen_the_interval(self):
        apart, together = tally.Tally(), tally.Tally()
        for number in range(10):
            together.add(entry(f"d{number}", fields=[10 * (number % 2), 10]))
            for unit in range(10):
                apart.add(entry(f"d{number}-{unit}", fields=bool(number % 2)))
        one, other = together.rate("raw", "fields"), apart.rate("raw", "fields")
        self.assertEqual((one["num"], one["den"]), (other["num"], other["den"]))
        self.assertGreater(one["high"] - one["low"], 1.5 * (other["high"] - other["low"]))

    def test_a_doctored_figure_is_found_wherever_it_stands(self):
        entries = [entry("a", right=True, unsafe=False), entry("b", right=False, unsafe=True)]
        self.assertEqual(tally.misreported(record_of(entries)), [])
        for change in (lambda r: r["metrics"][0]["raw"].update(num=2), lambda r: r["errors"][0]["raw"].update(rows=[]),
                       lambda r: r["totals"].update(documents=3), lambda r: r["metrics"][0].update(rechecked=None),
                       lambda r: r["errors"].clear(), lambda r: r["totals"].update(calls=1), lambda r: r["totals"].update(repaired=1),
                       lambda r: r["guards"].update(documents=9)):
            found = json.loads(json.dumps(record_of(entries)))
            change(found)
            self.assertEqual(len(tally.misreported(found)), 1)

    def test_only_all_is_printed_as_100_and_only_none_as_0(self):
        self.assertEqual([table.percent(share) for share in (1, 2999 / 3000, 1 / 3000, 0)], ["100 %", ">99 %", "<1 %", "0 %"])

    def test_no_event_still_says_how_many_it_allows(self):
        self.assertEqual(table.count({"count": 0, "opportunities": 20, "clusters": None}), "0/20 (≤ 15 %)")
        self.assertEqual(table.count({"count": 0, "opportunities": 716, "clusters": 24}), "0/716 (≤ 13 %)")
        self.assertEqual(table.count({"count": 0, "opportunities": 716, "clusters": None}), "0/716 (≤ 1 %)")


class TestComparing(unittest.TestCase):
    def pair(self, before, after, **guards):
        rows = [[entry(f"d{i}", right=bool(hit), unsafe=not hit) for i, hit in enumerate(hits)] for hits in (before, after)]
        return comparing.compare(record_of(rows[0], "r001-x"), record_of(rows[1], "r002-x", **guards))

    def test_the_rows_that_changed_are_named(self):
        found = self.pair([1, 1, 0, 0], [1, 0, 1, 0])
        self.assertEqual(found["changed"]["raw"], {"fixed": ["d2"], "broken": ["d1"], "still_wrong": ["d3"], "still_right": ["d0"]})
        self.assertEqual((found["errors"][0]["new"], found["errors"][0]["gone"]), (["d1"], ["d2"]))

    def test_five_better_and_none_worse_is_not_significant(self):
        metric = self.pair([0] * 5 + [1] * 55, [1] * 60)["metrics"][0]
        self.assertEqual((metric["won"], metric["lost"], metric["p"]), (5, 0, 0.0625))
        self.assertLess(metric["low"], metric["difference"])
        self.assertLess(metric["difference"], metric["high"])

    def test_what_the_set_could_have_shown_stands_beside_it(self):
        could = self.pair([1] * 60, [1] * 60)["could"]
        self.assertAlmostEqual(could["gain"], 0.13, places=2)
        self.assertAlmostEqual(could["gain_with_losses"], 0.20, places=2)

    def test_runs_over_different_labels_are_not_differenced(self):
        for guard in ("corpus", "gold", "rules", "prefix"):
            found = self.pair([1], [0], **{guard: "2"})
            self.assertEqual((found["metrics"], found["changed"]), ([], None))
            self.assertIn(guard, found["refused"][0])

    def test_a_guard_may_differ_where_the_comparison_is_about_it(self):
        first, second = record_of([entry("a", right=True)]), record_of([entry("a", right=False)], prefix="2")
        self.assertEqual(comparing.compare(first, second, ("prefix",))["refused"], [])

    def test_clustered_rows_are_compared_by_cluster(self):
        rows = [[entry(f"d{i}", cluster=f"m{i // 3}", right=hit) for i in range(12)] for hit in (False, True)]
        metric = comparing.compare(record_of(rows[0]), record_of(rows[1]))["metrics"][0]
        self.assertEqual((metric["test"], metric["p"]), ("exact sign flips by cluster", 0.125))


class TestThresholds(unittest.TestCase):
    def test_a_rate_is_compared_as_a_fraction(self):
        found = record_of([entry(f"d{i}", right=i > 0) for i in range(3000)])
        self.assertEqual(thresholds.reached(found, thresholds.floors(["right=0.9996"]))[0], 0)
        code, lines = thresholds.reached(found, thresholds.floors(["rechecked.right=0.9997"]))
        self.assertEqual((code, len(lines)), (1, 1))

    def test_what_was_not_measured_is_no_verdict(self):
        self.assertEqual(thresholds.reached(record_of([entry("a")]), [("raw", "right", 0.5)])[0], 3)

    def test_what_is_no_threshold_is_refused(self):
        for text in ("right", "right=", "right=2", "right=x"):
            with self.subTest(text=text), self.assertRaises(BadData):
                thresholds.floors([text])
        with self.assertRaises(BadData):
            thresholds.reached(record_of([entry("a", right=True)]), [("raw", "rihgt", 0.5)])

    def baseline(self, before, after, allowed=0, **guards):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "a.json", Path(folder) / "b.json"]
            for path, found in zip(paths, (record_of(after, "r002-x", **guards), record_of(before))):
                path.write_text(json.dumps(found), encoding="utf-8")
            return thresholds.regressions(*paths, allowed)

    def test_a_document_that_got_worse_is_named_and_one_that_got_better_pays_for_nothing(self):
        before, after = [entry("a", right=True), entry("b", right=False)], [entry("a", right=False), entry("b", right=True)]
        code, lines = self.baseline(before, after)
        self.assertEqual((code, lines[0].endswith("allowed: a")), (1, True))
        self.assertEqual(self.baseline(before, after, allowed=1)[0], 0)

    def test_another_prompt_or_an_incomplete_run_is_no_verdict_and_never_a_pass(self):
        same = [entry("a", right=True)]
        self.assertEqual(self.baseline(same, same)[0], 0)
        self.assertEqual(self.baseline(same, same, prefix="2")[0], 3)
        self.assertEqual(self.baseline(same, [entry("a", "transport_error", right=False)])[0], 3)
        self.assertEqual(self.baseline(same, [entry("b", right=True)], gold="2")[0], 3)


class TestExports(unittest.TestCase):
    def exported(self, name):
        entries = [entry("a", right=True, cells={"right": ["yes", "yes"]}),
                   {**entry("b", right=False, cells={"right": ["yes", "no"]}), "case": "=cmd()"},
                   {**entry("c", "refused", right=False), "why": "said \x00 no & <never>"}]
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "eval.json", Path(folder) / name
            path.write_text(json.dumps(record_of(entries)), encoding="utf-8")
            export.write(out, {"model": path}, "the table")
            return out.read_text(encoding="utf-8")

    def test_each_form_holds_every_document(self):
        self.assertEqual(len(json.loads(self.exported("x.json"))[0]["documents"]), 3)
        rows = list(csv.DictReader(io.StringIO(self.exported("x.csv"))))
        self.assertEqual([(row["id"], row["raw.right"]) for row in rows], [("a", "1"), ("b", "0"), ("c", "0")])
        suite = ElementTree.fromstring(self.exported("x.junit.xml"))[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "1", "1"))
        self.assertIn("the table", self.exported("x.md"))

    def test_nothing_from_a_document_becomes_a_formula(self):
        self.assertEqual(list(csv.DictReader(io.StringIO(self.exported("x.csv"))))[1]["case"], "'=cmd()")

    def test_an_unknown_suffix_is_refused_before_anything_runs(self):
        with self.assertRaises(BadData):
            export.check("result.xlsx")


class TestShards(unittest.TestCase):
    def test_every_document_belongs_to_exactly_one_share(self):
        for of in (1, 2, 7):
            for number in range(200):
                held = [index for index in range(1, of + 1) if shards.holds(shards.Shard(index, of), f"D-{number}")]
                self.assertEqual(len(held), 1)

    def test_array_jobs_say_which_share_this_is(self):
        for text, environment, want in (
                ("2/8", {}, (2, 8)), ("", {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "4", "SLURM_ARRAY_TASK_COUNT": "4"}, (3, 4)),
                ("8", {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "1"}, (3, 8)),
                ("4", {"JOB_COMPLETION_INDEX": "0"}, (1, 4)), ("4", {"AWS_BATCH_JOB_ARRAY_INDEX": "3"}, (4, 4)),
                ("", {"AWS_BATCH_JOB_ARRAY_INDEX": "1", "AWS_BATCH_JOB_ARRAY_SIZE": "2"}, (2, 2))):
            self.assertEqual(shards.parse(text, environment), want)

    def test_a_share_that_is_none_is_refused(self):
        for text, environment in (("0/4", {}), ("5/4", {}), ("x", {}), ("", {}), ("3", {}), ("", {"JOB_COMPLETION_INDEX": "0"}), ("", {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "3",
                                  "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "1"}),
                                  ("2", {"JOB_COMPLETION_INDEX": "2"})):
            with self.subTest(text=text), self.assertRaises(BadData):
                shards.parse(text, environment)

    def test_joined_shards_are_the_bytes_of_an_unsharded_run(self):
        copy, run_id = Checkout(self), f"b801-{HYPHENED}"
        arm = "null"
        results = copy.kit[1]
        for index in (1, 2, 3):
            self.assertEqual(copy.run(NAME, "--arm", arm, "--run-id", run_id, "--shard", f"{index}/3", "--quiet").returncode, 0)
        files = sorted(map(str, results.glob(f"eval-{run_id}.shard-*")))
        self.assertEqual(len(files), 3)
        incomplete = copy.run(run_id, *files[:2], module="evals.merge")
        self.assertEqual(incomplete.returncode, 2)
        self.assertIn("in no shard", incomplete.stderr)
        done = copy.run(run_id, *files, module="evals.merge")
        self.assertEqual(done.returncode, 0, done.stderr)
        joined = (results / f"eval-{run_id}.json").read_bytes()
        (results / f"eval-{run_id}.json").unlink()
        copy.run(NAME, "--arm", arm, "--run-id", run_id, "--quiet")
        self.assertEqual((results / f"eval-{run_id}.json").read_bytes(), joined)

    def test_shards_of_two_runs_do_not_join(self):
        copy = Checkout(self)
        results = copy.kit[1]
        for index, run_id in ((1, f"b801-{HYPHENED}"), (2, f"b802-{HYPHENED}")):
            copy.run(NAME, "--arm", "null", "--run-id", run_id, "--shard", f"{index}/2", "--quiet")
        done = copy.run(f"b801-{HYPHENED}", *sorted(map(str, results.glob("eval-b80*.shard-*"))), module="evals.merge")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"b802-{HYPHENED}", done.stderr)
