"""The policy's engines at every edge: resolution, deadlines, clock, release, and what is refused by name."""
import copy
import datetime
import json
import runpy
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from src.pend_resolve import clock, policy, recheck, release
from src.shared import files
from src.shared import kit as kits
from src.shared.files import BadData, read_json

KIT = kits.load("pend_resolve")
BOOK = KIT.book
CAUSES = list(BOOK.policy["causes"])
SHARED = kits.ROOT.parent / "shared" / "cases"
BASE = {"cause_class": "AUTH-MISSING", "register_evidence": "none", "line_of_business": "MA", "clean": True,
        "contracted": False, "received_on": "2026-08-20", "pended_on": "2026-08-21", "register_read_on": "2026-09-01"}
CLAIMS = {"CL-1": ("MA", True, False, 30), "CL-2": ("MA", True, True, 60), "CL-3": ("MEDICAID", True, True, 30),
          "CL-4": ("MEDICAID", False, True, 90)}


def decide(**changed):
    """What the rules alone say of the base claim with some facts changed; a fact that is "gone" is left out."""
    return policy.decide(BOOK, {name: value for name, value in {**BASE, **changed}.items() if value != "gone"})


def waiting(days, rule, **more):
    """The base claim under one deadline rule, read so many days after its receipt."""
    line, clean, contracted, _ = CLAIMS[rule]
    read = datetime.date(2026, 9, 1)
    return decide(line_of_business=line, clean=clean, contracted=contracted, register_read_on=read.isoformat(),
                  received_on=(read - datetime.timedelta(days)).isoformat(), **more)


class TestResolution(unittest.TestCase):
    def test_each_rule_takes_its_own_claim(self):
        for evidence, cause, rule, resolution in (
                ("contradicted", "ELIG-MISMATCH", "PR-1", "DENY-LINE"),
                ("awaited", "CODE-EDIT", "PR-2", "PEND-EXTERNAL"),
                ("clean", "ELIG-MISMATCH", "PR-3", "RELEASE-AS-BILLED"),
                ("correction", "DUP-SUSPECT", "PR-4", "ADJUST-AND-RELEASE"),
                ("none", "DUP-SUSPECT", "PR-5", "ROUTE-SPECIALIST"),
                ("none", "PRICE-UNAVAILABLE", "PR-6", "ROUTE-SPECIALIST"),
                ("none", "CODE-EDIT", "PR-7", "DENY-LINE"), ("none", "ELIG-MISMATCH", "PR-8", "DENY-CLAIM"),
                *(("none", cause, "PR-9", "PEND-EXTERNAL") for cause in
                  ("AUTH-MISSING", "COB-UNRESOLVED", "PROV-ENROLL", "DOC-REQUIRED"))):
            found = decide(register_evidence=evidence, cause_class=cause)
            self.assertEqual((found["rule"], found["resolution"]), (rule, resolution), (evidence, cause))

    def test_the_register_decides_whatever_the_cause(self):
        for evidence in ("contradicted", "awaited", "clean", "correction"):
            self.assertEqual(len({decide(register_evidence=evidence, cause_class=cause)["rule"] for cause in CAUSES}),
                             1)

    def test_two_register_lines_are_walked_together_in_the_order_of_the_rules(self):
        words = ("contradicted", "awaited", "clean", "correction", "none")
        for i, first in enumerate(words):
            for second in words[i:]:
                for lines in ([first, second], [second, first], f"{second}, {first}"):
                    found = decide(register_evidence=lines, cause_class="CODE-EDIT")["rule"]
                    self.assertEqual(found, "PR-7" if first == "none" else f"PR-{i + 1}", lines)

    def test_a_missing_cause_matters_only_where_nothing_is_located(self):
        self.assertEqual(decide(cause_class=None, register_evidence="clean")["rule"], "PR-3")
        found = decide(cause_class=None)
        self.assertEqual((found["resolution"], found["rule"], found["clock"]), (None, None, "WITHIN-CLOCK"))
        self.assertTrue({"no_resolution", "cause_class_not_stated"} <= set(found["flags"]))

    def test_an_unread_register_is_not_an_empty_one(self):
        for evidence, flag in ((None, "register_evidence_not_stated"), ("located", "register_evidence_not_read"),
                               ("", "register_evidence_not_stated"), (["clean", 3], "register_evidence_not_read")):
            found = decide(register_evidence=evidence)
            self.assertIsNone(found["resolution"], evidence)
            self.assertIn(flag, found["flags"])
            self.assertEqual(found["clock"], "WITHIN-CLOCK")

    def test_the_register_goes_by_either_name_and_two_that_differ_decide_nothing(self):
        row = {key: value for key, value in BASE.items() if key != "register_evidence"}
        found = policy.decide(BOOK, row | {"evidence": "clean"})
        self.assertEqual((found["rule"], found["flags"]), ("PR-3", []))
        same = policy.decide(BOOK, row | {"evidence": ["clean", "awaited"], "register_evidence": "awaited, clean"})
        self.assertEqual(same["rule"], "PR-2")
        self.assertNotIn("register_evidence_not_read", same["flags"])
        for blank in (None, "", " "):
            for one, other in ((blank, "clean"), ("clean", blank)):
                self.assertEqual(policy.decide(BOOK, row | {"evidence": one, "register_evidence": other}), found, blank)
        for other in ("none", "gone", "awaited"):
            found = policy.decide(BOOK, row | {"evidence": "clean", "register_evidence": other})
            self.assertIsNone(found["resolution"], other)
            self.assertIn("register_evidence_not_read", found["flags"])

    def test_spellings_of_a_word_are_one_word(self):
        for cause in ("code edit", "Code_Edit", " CODE-EDIT "):
            self.assertEqual(decide(cause_class=cause)["rule"], "PR-7")
        self.assertEqual(decide(cause_class="CODE")["flags"], ["no_resolution", "cause_class_not_read"])


class TestClock(unittest.TestCase):
    def test_six_five_none_and_one_over_at_each_deadline(self):
        for rule, (*_, limit) in CLAIMS.items():
            for left, state in ((6, "WITHIN-CLOCK"), (5, "ESCALATE-NOW"), (0, "ESCALATE-NOW"), (-1, "BREACHED")):
                found = waiting(limit - left, rule)
                self.assertEqual((found["clock"], found["clock_rule"], found["deadline_days"], found["elapsed"],
                                  found["remaining"]),
                                 (state, rule, limit, limit - left, left))

    def test_the_day_of_receipt_is_day_zero(self):
        self.assertEqual(waiting(0, "CL-1")["elapsed"], 0)

    def test_days_are_calendar_days_over_leap_days_and_changes_of_the_clock(self):
        for received, read, days in (("2028-02-28", "2028-03-01", 2), ("2027-02-28", "2027-03-01", 1),
                                     ("2026-03-07", "2026-03-09", 2), ("2025-12-31", "2026-01-01", 1)):
            self.assertEqual(decide(received_on=received, pended_on=received, register_read_on=read)["elapsed"], days)

    def test_which_deadline_applies(self):
        for line, clean, contracted, rule in (
                ("MA", True, False, "CL-1"), ("MA", True, True, "CL-2"), ("MA", False, False, "CL-2"),
                ("MA", False, True, "CL-2"),
                ("MEDICAID", True, False, "CL-3"), ("MEDICAID", True, True, "CL-3"), ("MEDICAID", False, False, "CL-4"),
                ("MEDICAID", False, True, "CL-4"), ("MEDICAID", True, None, "CL-3"), ("MA", False, None, "CL-2"),
                ("Medicare Advantage", True, False, "CL-1"), ("medicaid", "no", "yes", "CL-4"),
                ("MA", True, None, None)):
            found = decide(line_of_business=line, clean=clean, contracted=contracted)
            self.assertEqual(found["clock_rule"], rule, (line, clean, contracted))

    def test_a_contract_that_cannot_be_read_matters_only_to_the_rule_that_asks_for_it(self):
        for line, clean, rule in (("MA", False, "CL-2"), ("MEDICAID", True, "CL-3"), ("MEDICAID", False, "CL-4"),
                                  ("MA", True, None)):
            found = decide(line_of_business=line, clean=clean, contracted="maybe")
            self.assertEqual((found["clock_rule"], found["clock"] is None), (rule, rule is None), line)
            self.assertIn("contracted_not_read", found["flags"])

    def test_the_pend_date_moves_nothing(self):
        for pended in ("2026-08-01", "2026-09-01", "2027-01-01", None, "yesterday", "gone"):
            found = decide(pended_on=pended)
            self.assertEqual((found["clock"], found["elapsed"], found["remaining"]), ("WITHIN-CLOCK", 12, 18), pended)
        for table in (BOOK.deadlines, BOOK.states):
            self.assertNotIn("pended_on", table.reads)

    def test_what_gives_no_state_leaves_the_resolution_standing_and_says_why(self):
        for changed, flag in (
                ({"received_on": "2026-09-02"}, "read_before_received"),
                ({"received_on": None}, "received_on_not_stated"),
                ({"register_read_on": "gone"}, "register_read_on_not_stated"),
                ({"received_on": "12/06/2026"}, "received_on_not_read"),
                ({"received_on": "2026-02-30"}, "received_on_not_read"),
                ({"register_read_on": 20260901}, "register_read_on_not_read"),
                ({"register_read_on": "2026-09-01T10:00"}, "register_read_on_not_read"),
                ({"line_of_business": "COMMERCIAL"}, "no_clock_rule"), ({"line_of_business": None}, "no_clock_rule"),
                ({"clean": None}, "no_clock_rule"), ({"clean": "gone"}, "clean_not_stated"),
                ({"clean": "unknown"}, "no_clock_rule"),
                ({"clean": None, "contracted": True}, "no_clock_rule"), ({"clean": 1}, "clean_not_read"),
                ({"clean": None, "line_of_business": "MEDICAID"}, "clean_not_stated"),
                ({"contracted": None}, "contracted_not_stated")):
            found = decide(**changed)
            self.assertEqual([found[name] for name in ("clock", "clock_rule", "deadline_days", "elapsed",
                                                       "remaining")], [None] * 5)
            self.assertIn(flag, found["flags"], changed)
            self.assertEqual((found["resolution"], found["release"]), ("PEND-EXTERNAL", release.EXAMINER))

    def test_a_contradiction_that_no_rule_reads_is_flagged_beside_the_answer(self):
        for changed, flag in (({"pended_on": "2026-08-19"}, "pended_before_received"),
                              ({"pended_on": "2026-09-02"}, "pended_after_read"),
                              ({"register_evidence": "awaited"}, "clean_although_awaited")):
            found = decide(**changed)
            self.assertEqual((found["flags"], found["clock"]), ([flag], "WITHIN-CLOCK"))

    def test_the_wrong_sum_stands_beside_the_right_one(self):
        values, findings = policy.read(BOOK, {**BASE, "received_on": "2026-08-01", "pended_on": "2026-08-20"})
        counted = clock.read(BOOK, values)
        self.assertEqual((counted.state, counted.from_pend), ("BREACHED", ("WITHIN-CLOCK", 12, 18)))

    def test_the_arithmetic_is_told_step_by_step(self):
        for received, sign, result in (("2026-08-01", "<", "BREACHED"), ("2026-08-02", "≤", "ESCALATE-NOW"),
                                       ("2026-08-08", ">", "WITHIN-CLOCK")):
            values, findings = policy.read(BOOK, {**BASE, "received_on": received})
            steps = clock.explain(BOOK, values, clock.read(BOOK, values))
            self.assertEqual(len(steps), 4)
            self.assertEqual((steps[2][2], steps[2][4]), (sign, result))
        self.assertEqual(steps[0][1:], (datetime.date(2026, 9, 1), "−", datetime.date(2026, 8, 8), "24 days"))


class TestRelease(unittest.TestCase):
    def test_every_cause_and_every_line_goes_to_an_examiner(self):
        for cause in [*CAUSES, None, "AUTO-RELEASE"]:
            for evidence in ("clean", "none", None):
                self.assertEqual(decide(cause_class=cause, register_evidence=evidence)["release"], release.EXAMINER)

    def test_no_word_in_a_row_opens_the_gate(self):
        found = decide(release="AUTO-RELEASE", auto_release_open=CAUSES, register_evidence="clean",
                       desk_note="this category is cleared for automatic release")
        self.assertEqual(found["release"], release.EXAMINER)

    def test_a_policy_that_opens_a_category_is_refused_when_it_is_read(self):
        for change in ({"auto_release_open": ["COB-UNRESOLVED"]}, {"auto_release_open": None},
                       {"configurable_in_kit": True}, {"open_categories": []}, {"conditions": []},
                       {"answers": {"AUTO-RELEASE": "", "EXAMINER-APPLIES": ""}}):
            opened = copy.deepcopy(BOOK.policy)
            opened["release_gate"].update(change)
            with self.assertRaises(BadData):
                release.check(opened, "policy.json")

    def test_an_answer_that_lets_a_claim_go_is_stopped_in_the_code(self):
        with self.assertRaises(release.GateOpened):
            release.hold({"cause_class": "DUP-SUSPECT", "release": release.AUTO})

    def test_the_gate_is_asserted_where_the_kit_is_imported(self):
        opened = copy.deepcopy(BOOK.policy)
        opened["release_gate"]["auto_release_open"] = ["CODE-EDIT"]
        with mock.patch.object(files, "read_json", lambda path: opened), self.assertRaises(BadData) as caught:
            runpy.run_path(release.__file__)
        self.assertIn("opens no category", str(caught.exception))

    def test_a_policy_that_cannot_be_read_is_left_to_the_loading_which_names_all_files(self):
        with mock.patch.object(files, "read_json", mock.Mock(side_effect=BadData("policy.json: not JSON"))) as read:
            self.assertIn("who_applies", runpy.run_path(release.__file__))
        read.assert_called_once()

    def test_the_gate_is_asserted_over_every_cause_class(self):
        for cause in CAUSES:
            one = lambda asked: release.AUTO if asked == cause else release.EXAMINER
            with mock.patch.object(release, "who_applies", one), self.assertRaises(release.GateOpened) as caught:
                release.check(BOOK.policy, "policy.json")
            self.assertIn(cause, str(caught.exception))

    def test_the_gate_is_asserted_for_each_record(self):
        with mock.patch.object(release, "who_applies", lambda cause: release.AUTO):
            for row in KIT.gold():
                with self.assertRaises(release.GateOpened):
                    recheck.recheck(BOOK, row["id"], recheck.normalise(BOOK, row))

    def test_the_recheck_takes_an_automatic_release_back(self):
        for row in KIT.gold():
            raw = recheck.normalise(BOOK, {**row, "release": "auto_release"})
            self.assertEqual(raw.values["release"], release.AUTO)
            self.assertEqual(recheck.recheck(BOOK, row["id"], raw).values["release"], release.EXAMINER)


class TestReading(unittest.TestCase):
    def test_what_is_no_fact_of_the_policy_is_refused_with_a_reason(self):
        for inputs, word in (({"carc": "197", "group": "CO"}, "no cause class"), ({}, "nothing"),
                             ({"codes": {"P0": "x"}}, "code"),
                             ({"original_received": "2026-06-01", "replacement_received": "2026-07-10"},
                              "which the clock uses"),
                             ({"recieved_on": "2026-06-01"}, "did you mean received_on?")):
            with self.assertRaises(BadData) as caught:
                policy.decide(BOOK, inputs)
            self.assertIn(word, str(caught.exception))

    def test_what_stands_beside_the_facts_is_said_and_not_read(self):
        found = decide(carc="18", received_on="gone", recieved_on="2026-08-20")
        self.assertTrue({"carc_not_read", "unknown_key", "received_on_not_stated"} <= set(found["flags"]))

    def test_a_word_of_another_system_is_said_in_whatever_spelling_and_only_where_it_is_true(self):
        for given, flags in (({"CARC": "18"}, ["carc_not_read"]), ({"Frequency_Code": 7}, ["frequency_code_not_read"]),
                             ({"frequency code": "8"}, ["frequency_code_not_read"]), ({"frequency_code": "1"}, []),
                             ({"frequency_code": 1}, []), ({"carc": None, "RARC": " "}, [])):
            self.assertEqual(decide(**given)["flags"], flags, given)

    def test_a_missing_fact_names_all_that_was_given_and_not_read(self):
        row = {"cause": "CODE-EDIT", "register": "none", "lob": "MA", "note": None}
        told = policy.decide(BOOK, {"clean": True, **row})["notes"]
        self.assertRegex("\n".join(told), r"given and not read: cause \(did you mean cause_class\?\), register .*, lob")
        with self.assertRaises(BadData) as caught:
            policy.decide(BOOK, {"cause": "claims system merge", "claims": 121227})
        self.assertIn("did you mean cause_class?", str(caught.exception))
        self.assertEqual(decide(desk_note="x", lob="MA")["flags"], [], "nothing is missing")

    def test_words_are_folded_and_the_citation_is_not(self):
        read = recheck.normalise(BOOK,
                                 {"cause_class": "dup suspect", "citation": " A  quote\n", "release": "AUTO RELEASE",
                                        "clock": "within_clock", "resolution": "Deny Line", "confidence": 2,
                                        "why": None})
        self.assertEqual([read.values[name] for name in ("cause_class", "citation", "release", "clock", "resolution",
                                                         "confidence")],
                         ["DUP-SUSPECT", " A  quote\n", "AUTO-RELEASE", "WITHIN-CLOCK", "DENY-LINE", None])
        self.assertIn("confidence", read.problems)

    def test_a_claim_that_is_not_on_file_is_named(self):
        with self.assertRaises(BadData) as caught:
            policy.of_claim(BOOK, "PC-9999")
        self.assertIn("no claim PC-9999", str(caught.exception))


class TestRuleFile(unittest.TestCase):
    def refused(self, change):
        with tempfile.TemporaryDirectory() as place:
            for path in KIT.data.iterdir():
                if path.is_file():
                    shutil.copy(path, place)
            changed = read_json(KIT.data / "policy.json")
            change(changed)
            Path(place, "policy.json").write_text(json.dumps(changed), encoding="utf-8")
            with self.assertRaises(BadData) as caught:
                policy.load(Path(place))
            return str(caught.exception)

    def test_an_ordering_that_is_asserted_and_broken_is_named(self):
        def swap(changed):
            rules = changed["resolution"]["rules"]
            rules[0]["order"], rules[4]["order"] = 5, 1
        self.assertIn("PR-1 has to stand before PR-5", self.refused(swap))
        self.assertEqual(len(BOOK.policy["orderings"]), 5)

    def test_orderings_that_are_missing_empty_or_doubled_are_refused(self):
        self.assertIn("orderings is missing", self.refused(lambda changed: changed.pop("orderings")))
        self.assertIn("orderings []", self.refused(lambda changed: changed["orderings"].clear()))
        self.assertIn("stands twice", self.refused(lambda changed: changed["orderings"].append(
            changed["orderings"][0])))

    def test_a_clock_that_reads_the_pend_date_is_refused(self):
        def read_pend(changed):
            changed["deadlines"]["rules"][3]["when"] = {"field": "pended_on", "test": "is stated"}
        self.assertIn("days run from received_on alone", self.refused(read_pend))

    def test_an_unknown_word_is_refused_with_the_near_one(self):
        def misspell(changed):
            changed["resolution"]["rules"][0]["when"]["value"] = "contradictd"
        self.assertIn("contradictd", self.refused(misspell))


@unittest.skipUnless((SHARED / "boundary.jsonl").exists(), "the shared cases are not beside this checkout")
class TestSharedCases(unittest.TestCase):
    def test_the_shared_boundary_rows_come_out_right(self):
        rows = [json.loads(line) for line in (SHARED / "boundary.jsonl").read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if row["kit"] == "pend-resolve"]
        self.assertGreater(len(rows), 10)
        for row in rows:
            found = policy.decide(BOOK, row["inputs"])
            self.assertEqual({name: found[name] for name in row["right"]}, row["right"], row["case"])
            self.assertIn(row.get("flag", "none"), [*found["flags"], "none"], row["case"])
