"""Marks add up, runs are compared only where they may be, thresholds give verdicts, shards join to the same bytes."""
import csv
import io
import json
import tempfile
import unittest
import weakref
from pathlib import Path
from xml.etree import ElementTree

from evals.shared import export, record, scoring, shards, thresholds
from evals.shared.test_run import NAME, Checkout
from src.shared import blame, comparing, cost, records, tally, wording
from src.shared.files import BadData, to_json
from src.shared.follow import OUTCOMES
from src.shared.parts import Part

HYPHENED = NAME.replace("_", "-")


def entry(name, outcome="answered", cluster=None, cells=None, **marks):
    """A document's entry of a record with the same marks raw and rechecked; where it is wrong, a value was misread."""
    why = {"kind": blame.MISREAD, "rule": "rule", "field": "field"} if marks.get("right") is False else None
    return {"id": name, "case": None, "cluster": cluster, "outcome": outcome, "why": None, "overrides": [],
            "repairs": [], "cost": None, "usage": None, "marks": {"raw": marks, "rechecked": marks},
            "cells": {"raw": cells or {}, "rechecked": cells or {}},
            "blame": {"raw": why, "rechecked": why}}


class Held:
    """A record in memory as a comparison reads one."""

    def __init__(self, whole):
        self.said, self.entries = whole, lambda: iter(whole["documents"])


def misreported(whole):
    """What a record tells wrong of its documents."""
    audit = tally.Audit(whole)
    for each in whole["documents"]:
        audit.add(each)
    return audit.wrong()


def written(path, whole):
    """The record as a file."""
    record.write(path, whole["documents"], lambda: {key: value for key, value in whole.items() if key != "documents"})
    return path


def record_of(entries, run_id="r001-x", **guards):
    """A small record over entries whose headline is `right` and whose expensive error is `unsafe`."""
    counted = tally.Tally(["unsafe"])
    for each in entries:
        counted.add(each)
    both = lambda get, mark: {column: get(column, mark) for column in tally.COLUMNS}
    return {"documents": entries, "run": {"id": run_id, "kit": "x", "arm": "model", "code": "c"}, "settings": {},
            "blame": counted.blame,
            "guards": {"corpus": "1", "gold": "1", "rules": "1", "prefix": "1", "documents": len(entries), **guards},
            "metrics": [{"id": "right", "title": "right", "null": None, **both(counted.rate, "right")}],
            "errors": [{"id": "unsafe", "title": "unsafe", **both(counted.error, "unsafe")}], "matrices": [],
            "scores": [],
            "totals": {"documents": len(entries), **tally.Used(entries).totals,
                       "cost": json.loads(to_json(cost.total([]))),
                       "outcomes": {name: counted.outcomes.get(name, 0) for name in OUTCOMES}}}


class TestTally(unittest.TestCase):
    def test_a_mark_that_is_absent_is_no_opportunity(self):
        found = record_of([entry("a", right=True), entry("b", right=False), entry("c")])
        self.assertEqual((found["metrics"][0]["raw"]["num"], found["metrics"][0]["raw"]["den"]), (1, 2))

    def test_what_was_never_measured_is_none_and_not_zero(self):
        counted = tally.Tally()
        counted.add(entry("a"))
        self.assertIsNone(counted.rate("raw", "right"))
        self.assertIsNone(counted.error("raw", "unsafe"))
        self.assertEqual((wording.rate(None), wording.count(None)), ("–", "–"))

    def test_of_answered_stands_beside_of_all_where_they_differ(self):
        whole = [entry("a", right=True), entry("b", right=True)]
        self.assertNotIn("answered", wording.rate(record_of(whole)["metrics"][0]["raw"]))
        cut = record_of(whole + [entry("c", "truncated", right=False), entry("d", "truncated", right=False)])
        self.assertEqual(wording.rate(cut["metrics"][0]["raw"]), "2/4 50 % (15–85), 2/2 of answered")
        none = record_of([entry(name, "failed", right=False) for name in "abc"])
        self.assertEqual(wording.rate(none["metrics"][0]["raw"]), "0/3 0 % (0–56), n/a of 0 answered")

    def test_the_pages_that_were_not_answered_may_be_the_long_ones(self):
        counted = tally.Tally()
        self.assertEqual(counted.sizes(), {"answered": None, "not_answered": None})
        for name, outcome, characters in (("s1", "answered", 100), ("s2", "answered", 120), ("s3", "answered", 110),
                                          ("l1", "truncated", 95000), ("l2", "truncated", 90000)):
            counted.add({**entry(name, outcome), "characters": characters})
        self.assertEqual(counted.sizes(), {"answered": 110, "not_answered": 90000})

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
        self.assertEqual(misreported(record_of(entries)), [])
        for change in (lambda r: r["metrics"][0]["raw"].update(num=2), lambda r: r["errors"][0]["raw"].update(rows=[]),
                       lambda r: r["totals"].update(documents=3), lambda r: r["metrics"][0].update(rechecked=None),
                       lambda r: r["errors"].clear(), lambda r: r["totals"].update(calls=1),
                       lambda r: r["totals"].update(repaired=1),
                       lambda r: r["blame"]["raw"].update({blame.MISREAD: 0}), lambda r: r.pop("blame"),
                       lambda r: r["guards"].update(documents=9)):
            found = json.loads(json.dumps(record_of(entries)))
            change(found)
            self.assertIn(len(misreported(found)), (1, 2))      # blame is told of both columns

    def test_only_all_is_printed_as_100_and_only_none_as_0(self):
        self.assertEqual([wording.percent(share) for share in (1, 2999 / 3000, 1 / 3000, 0)],
                         ["100 %", ">99 %", "<1 %", "0 %"])

    def test_no_event_still_says_how_many_it_allows(self):
        self.assertEqual(wording.count({"count": 0, "opportunities": 20, "clusters": None}), "0/20 (≤ 15 %)")
        self.assertEqual(wording.count({"count": 0, "opportunities": 716, "clusters": 24}), "0/716 (≤ 13 %)")
        self.assertEqual(wording.count({"count": 0, "opportunities": 716, "clusters": None}), "0/716 (≤ 1 %)")


class TestRecords(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = written(Path(folder.name) / "eval-r001-x.json",
                            record_of([entry("a", right=True), entry("b", right=False, unsafe=True)]))

    def test_documents_come_one_by_one_and_are_audited_when_all_are_out(self):
        entries = records.Record(self.path).entries()
        self.assertEqual([each["id"] for each in entries], ["a", "b"])
        text = self.path.read_text(encoding="utf-8")
        self.path.write_text(text.replace('"rate":0.5', '"rate":0.9'), encoding="utf-8")
        entries = records.Record(self.path).entries()
        self.assertEqual([next(entries)["id"], next(entries)["id"]], ["a", "b"])
        with self.assertRaises(BadData) as caught:
            next(entries)
        self.assertIn("re-score", str(caught.exception))

    def test_a_torn_record_is_refused_whatever_is_wanted_of_it(self):
        text = self.path.read_text(encoding="utf-8")
        for broken in ("", "[]", text[:-40], text[:text.index("\n],")], json.dumps(json.loads(text))):
            self.path.write_text(broken, encoding="utf-8")
            with self.subTest(broken[:30]), self.assertRaises(BadData) as caught:
                records.Record(self.path)
            self.assertIn("is no whole run record", str(caught.exception))

    def test_a_record_from_before_blame_was_told_is_still_read(self):
        whole = record_of([entry("a", right=False)])
        del whole["blame"], whole["documents"][0]["blame"]
        self.assertEqual(len(record.read(written(self.path, whole))["documents"]), 1)


class TestSizes(unittest.TestCase):
    def test_the_parts_of_a_prompt_are_measured_over_the_documents(self):
        sizes = scoring.Sizes()
        for page in ("a", "abc", "abcd", "abcdefgh"):
            sizes.add([Part("rules", "system", "12345", True), Part("document", "user", page)])
        fixed, varying = sizes.parts()
        self.assertEqual((fixed["name"], fixed["fixed"], fixed["characters"]),
                         ("rules", True, {"min": 5, "median": 5, "max": 5}))
        self.assertEqual((varying["role"], varying["documents"], varying["characters"]),
                         ("user", 4, {"min": 1, "median": 3, "max": 8}))


class TestComparing(unittest.TestCase):
    def pair(self, before, after, **guards):
        rows = [[entry(f"d{i}", right=bool(hit), unsafe=not hit) for i, hit in enumerate(hits)]
                for hits in (before, after)]
        return comparing.compare(Held(record_of(rows[0], "r001-x")), Held(record_of(rows[1], "r002-x", **guards)))

    def test_the_rows_that_changed_are_named(self):
        found = self.pair([1, 1, 0, 0], [1, 0, 1, 0])
        self.assertEqual(found["changed"]["raw"],
                         {"fixed": ["d2"], "broken": ["d1"], "still_wrong": ["d3"], "still_right": ["d0"]})
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
        self.assertEqual(comparing.compare(Held(first), Held(second), ("prefix",))["refused"], [])

    def test_clustered_rows_are_compared_by_cluster(self):
        rows = [[entry(f"d{i}", cluster=f"m{i // 3}", right=hit) for i in range(12)] for hit in (False, True)]
        found = comparing.compare(*(Held(record_of(each)) for each in rows))
        metric = found["metrics"][0]
        self.assertEqual((metric["test"], metric["p"]), ("exact sign flips by cluster", 0.125))
        self.assertEqual((found["could"]["clusters"], found["could"]["gain"]), (4, None))

    def test_a_difference_by_cluster_has_an_interval_that_knows_of_the_clusters(self):
        rows = [[entry(f"d{i}", cluster=f"m{i // 3}" if together else None, right=is_second and i < 9)
                 for i in range(30)]
                for together in (True, False) for is_second in (False, True)]
        together, apart = (comparing.compare(Held(record_of(one)), Held(record_of(other)))["metrics"][0]
                           for one, other in (rows[:2], rows[2:]))
        self.assertEqual(together["difference"], apart["difference"])
        self.assertGreater(together["high"] - together["low"], 1.3 * (apart["high"] - apart["low"]))

    def test_what_broke_says_why(self):
        found = self.pair([1, 1, 0], [0, 1, 0])
        self.assertEqual(found["why"]["raw"], {"d0": {"kind": blame.MISREAD, "rule": "rule", "field": "field"}})

    def test_other_documents_and_incomplete_runs_are_not_compared(self):
        one, other = record_of([entry("a", right=True)]), record_of([entry("b", right=True)])
        self.assertEqual(comparing.compare(Held(one), Held(other))["refused"], ["they are over different documents"])
        cut = record_of([entry("a", "transport_error", right=False)])
        self.assertIn("incomplete", comparing.compare(Held(one), Held(cut))["refused"][0])

    def test_one_way_alone_and_too_seldom_is_said_to_be_no_sign(self):
        said = list(comparing.not_significant(self.pair([0] * 5 + [1] * 55, [1] * 60)["metrics"]))
        self.assertEqual(len(said), 2)
        self.assertIn("5 better and 0 worse is not significant (p = 0.0625); 6 to 0 would be", said[0])
        self.assertEqual(list(comparing.not_significant(self.pair([0] * 6 + [1] * 54, [1] * 60)["metrics"])), [])

    def test_a_floor_is_no_peer_and_no_look_at_the_labels(self):
        model = record_of([entry("a", right=True)])
        floor = record_of([entry("a", right=True)], "b001-x") | {"settings": None}
        self.assertEqual((len(comparing.floors(floor, model)), comparing.floors(model, model)), (1, []))
        others = record_of([entry("a", right=True)], gold="2")
        self.assertEqual(comparing.looks([model, floor, others, model], "1"), 2)

    def test_10_000_documents_are_compared_in_seconds_and_their_entries_not_kept(self):
        def run(is_second):
            whole = record_of([entry("d0", right=True, fields=[1, 20])])
            whole["guards"]["documents"] = whole["totals"]["documents"] = 10_000
            return Streamed(whole, is_second)

        class Streamed(Held):
            def __init__(self, whole, is_second):
                self.said, self.alive = whole, weakref.WeakSet()
                self.entries = lambda: (self.made(i, is_second) for i in range(10_000))

            def made(self, i, is_second):
                found = Entry(entry(f"d{i}", right=bool(i % 3 or is_second and i % 2),
                                    fields=[i % 20 + is_second * (i % 2), 20]))
                self.alive.add(found)
                self.most = max(getattr(self, "most", 0), len(self.alive))
                return found

        class Entry(dict):
            __hash__ = object.__hash__

        first, second = run(False), run(True)
        found = comparing.compare(first, second)
        self.assertEqual((found["metrics"][0]["won"], found["metrics"][0]["lost"]), (1667, 0))
        self.assertLess(max(first.most, second.most), 5)


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
            paths = [written(Path(folder) / name, found) for name, found in
                     (("a.json", record_of(after, "r002-x", **guards)), ("b.json", record_of(before)))]
            return thresholds.regressions(*paths, allowed)

    def test_a_document_that_got_worse_is_named_and_one_that_got_better_pays_for_nothing(self):
        before = [entry("a", right=True), entry("b", right=False)]
        after = [entry("a", right=False), entry("b", right=True)]
        code, lines = self.baseline(before, after)
        self.assertEqual((code, lines[0].endswith("allowed: a")), (1, True))
        self.assertEqual(self.baseline(before, after, allowed=1)[0], 0)

    def test_an_error_that_a_document_may_make_several_times_is_new_where_there_was_none(self):
        before, after = ([entry("a", right=True, unsafe=[number, 3]), entry("b", right=True, unsafe=[1, 3])]
                         for number in (0, 2))
        code, lines = self.baseline(before, after)
        self.assertEqual((code, lines[0].endswith("allowed: a")), (1, True))
        self.assertEqual(self.baseline(after, before)[0], 0)

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
            written(path, record_of(entries))
            export.write(out, [path], "the table")
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

    def slurm(self, *values):
        """The variables of one task of a Slurm array: its number, the first, the last, how many there are."""
        return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in zip(("ID", "MIN", "MAX", "COUNT"), values)}

    def test_array_jobs_say_which_share_this_is(self):
        for text, environment, want in (
                ("2/8", {}, (2, 8)), ("", self.slurm(3, 1, 4, 4), (3, 4)), ("8", self.slurm(3, 3, 3, 1), (3, 8)),
                ("", {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "4"}, (2, 4)),
                ("4", {"JOB_COMPLETION_INDEX": "0"}, (1, 4)), ("4", {"AWS_BATCH_JOB_ARRAY_INDEX": "3"}, (4, 4)),
                ("", {"AWS_BATCH_JOB_ARRAY_INDEX": "1", "AWS_BATCH_JOB_ARRAY_SIZE": "2"}, (2, 2))):
            self.assertEqual(shards.parse(text, environment), want)

    def test_a_share_that_is_none_is_refused(self):
        for text, environment in (("0/4", {}), ("5/4", {}), ("x", {}), ("", {}), ("3", {}),
                                  ("", {"JOB_COMPLETION_INDEX": "0"}), ("", self.slurm(3, 3, 3, 1)),
                                  ("2", {"JOB_COMPLETION_INDEX": "2"}), ("2", {"JOB_COMPLETION_INDEX": "one"}),
                                  ("4", self.slurm(1, 0, 3, 4))):
            with self.subTest(text=text), self.assertRaises(BadData):
                shards.parse(text, environment)

    def test_joined_shards_are_the_bytes_of_an_unsharded_run(self):
        copy, run_id = Checkout(self), f"b801-{HYPHENED}"
        arm = "null"
        results = copy.kit[1]
        for index in (1, 2, 3):
            done = copy.here(NAME, "--arm", arm, "--run-id", run_id, "--shard", f"{index}/3", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(map(str, results.glob(f"eval-{run_id}.shard-*")))
        self.assertEqual(len(files), 3)
        incomplete = copy.here(run_id, *files[:2], module="evals.merge")
        self.assertEqual(incomplete.returncode, 2)
        self.assertIn("in no shard", incomplete.stderr)
        done = copy.here(run_id, *files, module="evals.merge")
        self.assertEqual(done.returncode, 0, done.stderr)
        joined = (results / f"eval-{run_id}.json").read_bytes()
        (results / f"eval-{run_id}.json").unlink()
        copy.here(NAME, "--arm", arm, "--run-id", run_id, "--quiet")
        self.assertEqual((results / f"eval-{run_id}.json").read_bytes(), joined)

    def test_shards_of_two_runs_do_not_join(self):
        copy = Checkout(self)
        results = copy.kit[1]
        for index, run_id in ((1, f"b801-{HYPHENED}"), (2, f"b802-{HYPHENED}")):
            copy.here(NAME, "--arm", "null", "--run-id", run_id, "--shard", f"{index}/2", "--quiet")
        done = copy.here(f"b801-{HYPHENED}", *sorted(map(str, results.glob("eval-b80*.shard-*"))), module="evals.merge")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"b802-{HYPHENED}", done.stderr)
