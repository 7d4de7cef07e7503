"""The rules of legal_hold at every boundary, the state over many runs, and the properties that hold for any matter."""
import datetime
import io
import itertools
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from src import decide as command
from src.legal_hold import legalhold, matter, review, state
from src.shared import kit as kits
from src.shared.files import BadData

KIT = kits.load("legal_hold")
BOOK = KIT.book
SHARED_CASES = kits.ROOT.parent / "shared" / "cases" / "boundary.jsonl"
SNAPSHOT = "2025-11-05"
SCOPE = {"departments": ["Compliance", "Risk Management"], "systems": ["Case Management System", "Core Banking System"],
         "period": ["2024-08-06", "2025-08-03"]}


def person(name="EMP-1", department="Compliance", system="Core Banking System", since="2023-01-01", until=None, **more):
    return {"id": name, "department": department, "systems": [{"name": system, "since": since, "until": until}], **more}


def inputs(*people, **changed):
    return {"candidates": list(people), "scope": SCOPE, "snapshot": SNAPSHOT, "carried": {}, "events": [], **changed}


def held(name="EMP-1", **record):
    return {"custodians": {name: {"notice_sent": "2025-10-22", "acknowledged": False, "escalated": False, **record}}}


def event(type_, on, name="EMP-1"):
    return {"id": name, "on": on, "type": type_}


def said(row):
    """(stage, {id: is custodian}, escalate, flags) of a review."""
    found = review.decide(BOOK, row)
    statuses = found["hold_status"] and {name: word == "CUSTODIAN" for name, word in found["hold_status"].items()}
    return found["matter_stage"], statuses, found["escalate"], found["flags"]


class TestMatch(unittest.TestCase):
    def test_the_period_counts_at_both_ends(self):
        for since, until, is_one in (("2025-08-03", None, True), ("2025-08-04", None, False),
                                     ("2022-01-01", "2024-08-06", True),
                                     ("2022-01-01", "2024-08-05", False), ("2024-09-01", "2024-12-31", True)):
            with self.subTest(since=since, until=until):
                self.assertEqual(said(inputs(person(since=since, until=until)))[1], {"EMP-1": is_one})

    def test_department_and_system_are_both_needed_and_compared_whole(self):
        for department, system, is_one in (
                ("Risk Management", "Shared Drive", False), ("Marketing", "Core Banking System", False),
                ("Risk", "Core Banking System", False), ("Compliance Technology", "Core Banking System", False),
                (" compliance ", "core  banking system", True), ("Compliance", "Core Banking", False)):
            with self.subTest(department=department, system=system):
                self.assertEqual(said(inputs(person(department=department, system=system)))[1], {"EMP-1": is_one})

    def test_a_later_access_may_match_where_the_first_does_not(self):
        one = person()
        one["systems"] = [{"name": "Email", "since": "2020-01-01"},
                          {"name": "Core Banking System", "since": "2025-09-01"},
                          {"name": "Case Management System", "since": "2025-01-01"}]
        found = review.decide(BOOK, inputs(one))
        self.assertEqual(found["carried"]["custodians"]["EMP-1"]["why"]["system"], "Case Management System")
        self.assertEqual(found["trace"]["match"], {"EMP-1": "L-1a"})

    def test_somebody_named_by_role_needs_system_and_period_but_no_department(self):
        named = {**SCOPE, "named": ["emp-1"]}
        self.assertEqual(said(inputs(person(department="Facilities"), scope=named))[1], {"EMP-1": True})
        self.assertEqual(said(inputs(person(department="Facilities", until="2025-01-01"), scope=named))[1],
                         {"EMP-1": True})
        self.assertEqual(said(inputs(person(department="Facilities", system="Email"), scope=named))[1],
                         {"EMP-1": False})
        self.assertEqual(said(inputs(person(department=None, since="2025-09-01"), scope=named))[1], {"EMP-1": False})

    def test_a_department_that_counsel_has_confirmed_outweighs_the_roster(self):
        one = person(department="Marketing", confirmed_department="Compliance")
        self.assertEqual(said(inputs(one))[1], {"EMP-1": True})

    def test_blank_departments_unlisted_systems_and_open_starts_are_flagged_and_match_nothing(self):
        blank = [({"department": word}, "blank_department") for word in ("", "TBD", "n/a", "-", "not on file")]
        for changed, flag in (*blank, ({"since": None}, "access_start_not_stated")):
            stage, statuses, _, flags = said(inputs(person(**changed)))
            self.assertEqual((stage, statuses, flags), ("MONITORING", {"EMP-1": False}, [flag]))
        self.assertEqual(said(inputs({"id": "EMP-1", "department": "Compliance"}))[3], ["systems_not_stated"])

    def test_a_contradiction_that_is_read_decides_nothing(self):
        backwards = person(since="2025-03-01", until="2025-02-01")
        self.assertEqual(said(inputs(backwards)), (None, None, None, ["access_ends_before_it_begins"]))
        scope = {**SCOPE, "period": SCOPE["period"][::-1]}
        self.assertEqual(said(inputs(person(), scope=scope)), (None, None, None, ["period_ends_before_it_begins"]))

    def test_a_contradiction_that_is_not_read_is_flagged_beside_the_result(self):
        backwards = person(system="Email", since="2025-03-01", until="2025-02-01")
        stage, statuses, _, flags = said(inputs(backwards))
        self.assertEqual((stage, statuses, flags), ("MONITORING", {"EMP-1": False}, ["access_ends_before_it_begins"]))
        period = {**SCOPE, "period": SCOPE["period"][::-1]}
        for row in (inputs(person(department="Facilities"), scope=period),
                    inputs(person(), scope=period, carried=held(acknowledged=True))):
            self.assertEqual(said(row)[::3], ("MONITORING", ["period_ends_before_it_begins"]))
        known = inputs(person(since="2025-03-01", until="2025-02-01"), carried=held(acknowledged=True))
        self.assertEqual(said(known)[:2], ("MONITORING", {"EMP-1": True}))


class TestSilence(unittest.TestCase):
    def test_fourteen_days_are_overdue_and_thirteen_are_not(self):
        for notice, escalate, stage in (("2025-10-21", ["EMP-1"], "ESCALATION_NEEDED"),
                                        ("2025-10-22", ["EMP-1"], "ESCALATION_NEEDED"),
                                        ("2025-10-23", [], "MONITORING"), (None, [], "MONITORING")):
            with self.subTest(notice=notice):
                found = said(inputs(person(), carried=held(notice_sent=notice)))
                self.assertEqual((found[0], found[2]), (stage, escalate))

    def test_the_limit_is_data(self):
        rules = BOOK.rules._replace(days={**BOOK.rules.days, "escalation_days": 15})
        found, _ = review.review(BOOK._replace(rules=rules), inputs(person()), state.read(held()))
        self.assertEqual(found["escalate"], [])

    def test_the_first_notice_counts_and_a_reminder_is_none(self):
        again = [event("notice", "2025-11-01"), event("reminder", "2025-11-02")]
        self.assertEqual(said(inputs(person(), carried=held(), events=again))[2], ["EMP-1"])
        self.assertEqual(said(inputs(person(), carried=held(notice_sent=None), events=again))[2], [])
        earlier = [event("notice", "2025-10-01")]
        self.assertEqual(said(inputs(person(), carried=held(notice_sent="2025-11-01"), events=earlier))[2], ["EMP-1"])

    def test_only_an_acknowledgement_from_notice_to_snapshot_counts(self):
        for on, escalate, flags in (("2025-10-22", [], []), ("2025-11-05", [], []),
                                    ("2025-11-06", ["EMP-1"], ["ack_after_snapshot"]),
                                    ("2025-10-21", ["EMP-1"], ["ack_before_notice"])):
            with self.subTest(on=on):
                found = said(inputs(person(), carried=held(), events=[event("ack", on)]))
                self.assertEqual((found[2], found[3]), (escalate, flags))

    def test_a_carried_acknowledgement_counts_by_the_same_days_as_a_logged_one(self):
        for on, escalate, flags in (("2025-10-22", [], []), (SNAPSHOT, [], []),
                                    ("2025-10-21", ["EMP-1"], ["ack_before_notice"]),
                                    ("2025-11-06", ["EMP-1"], ["carried_date_after_snapshot"])):
            with self.subTest(on=on):
                found = review.decide(BOOK, inputs(person(), carried=held(acknowledged=on)))
                self.assertEqual((found["escalate"], found["flags"]), (escalate, flags))
        later = review.decide(BOOK, inputs(person(), carried=found["carried"], snapshot="2025-12-05"))
        self.assertEqual(later["carried"]["custodians"]["EMP-1"]["acknowledged"], "2025-11-06")
        real = inputs(person(), carried=held(acknowledged="2025-10-21"), events=[event("ack", "2025-11-01")])
        self.assertEqual(review.decide(BOOK, real)["carried"]["custodians"]["EMP-1"]["acknowledged"], "2025-11-01")

    def test_an_acknowledgement_without_any_notice_counts_for_nothing(self):
        found = said(inputs(person(), carried=held(notice_sent=None), events=[event("ack", "2025-11-01")]))
        self.assertEqual(found[3], ["ack_before_notice", "notice_not_recorded"])

    def test_state_log_and_narrative_may_spell_an_id_otherwise_than_the_roster(self):
        for name in ("emp 1", "EMP_1", "Emp1", " emp-1 "):
            row = inputs(person(), carried=held(name), events=[event("ack", "2025-11-01", name)])
            self.assertEqual(said(row), ("MONITORING", {"EMP-1": True}, [], []), name)
            named = inputs(person(department="Facilities"), scope={**SCOPE, "named": [name]})
            self.assertEqual(said(named)[1], {"EMP-1": True}, name)
        self.assertEqual(said(inputs(person("00012"), carried=held("12")))[1], {"00012": True, "12": True})
        with self.assertRaises(BadData):
            said(inputs(person("EMP-1"), person("emp_1")))

    def test_nobody_new_is_overdue_however_old_their_notice(self):
        found = said(inputs(person(), events=[event("notice", "2025-09-01")]))
        self.assertEqual((found[0], found[2]), ("SCOPING", []))

    def test_whoever_was_escalated_is_not_escalated_again(self):
        for once in (True, "2025-10-30"):
            self.assertEqual(said(inputs(person(), carried=held(notice_sent="2025-01-01", escalated=once)))[2], [])

    def test_an_acknowledgement_of_an_earlier_window_is_remembered(self):
        for once in (True, "2025-10-30"):
            self.assertEqual(said(inputs(person(), carried=held(notice_sent="2025-01-01", acknowledged=once)))[2], [])


class TestStage(unittest.TestCase):
    def test_scoping_may_carry_an_escalation(self):
        found = said(inputs(person(), person("EMP-2"), carried=held()))
        self.assertEqual(found[:3], ("SCOPING", {"EMP-1": True, "EMP-2": True}, ["EMP-1"]))

    def test_release_outweighs_new_and_overdue_and_chases_nobody(self):
        row = inputs(person(), person("EMP-2"), carried=held(), release_memo="2025-11-03")
        self.assertEqual(said(row)[:3], ("RELEASING", {"EMP-1": False, "EMP-2": False}, []))
        following = review.decide(BOOK, row)["carried"]
        self.assertEqual(following["released"], "2025-11-03")
        self.assertEqual(said(inputs(person(), carried=following))[:3], ("CLOSED", {"EMP-1": False}, []))

    def test_a_released_matter_stays_closed_whatever_comes(self):
        released = {**held(), "released": True}
        for more in ({"release_memo": "2025-11-04"}, {"events": [event("ack", "2025-11-01")]}, {}):
            self.assertEqual(said(inputs(person("EMP-9"), carried=released, **more))[0], "CLOSED")

    def test_a_memo_after_the_snapshot_is_ignored_and_flagged(self):
        found = said(inputs(person(), carried=held(acknowledged=True), release_memo="2025-11-06"))
        self.assertEqual((found[0], found[3]), ("MONITORING", ["release_memo_after_snapshot"]))

    def test_an_unsettled_scope_outweighs_everything_and_loses_nobody(self):
        row = inputs(person(), carried=held(), release_memo="2025-11-03", scope_unsettled="two memos")
        found = review.decide(BOOK, row)
        self.assertEqual((found["matter_stage"], found["hold_status"], found["escalate"], found["on_hold"]),
                         ("INCOMPLETE", {"EMP-1": "NOT_CUSTODIAN"}, [], ["EMP-1"]))
        self.assertEqual(found["flags"], ["held_custodian_reported_not_custodian", "release_memo_waits_for_scope"])
        self.assertEqual(said(inputs(person(), carried=found["carried"], snapshot="2025-12-05"))[0], "RELEASING")

    def test_what_is_logged_while_the_scope_is_open_is_not_lost(self):
        row = inputs(person(), carried=held(), events=[event("ack", "2025-11-01")], scope_unsettled="two memos")
        self.assertEqual(said(inputs(person(), carried=review.decide(BOOK, row)["carried"], snapshot="2025-12-05"))[0],
                         "MONITORING")

    def test_a_blank_scope_has_no_default(self):
        for scope in (None, {}, {**SCOPE, "departments": []}, {**SCOPE, "departments": "none"},
                      {**SCOPE, "departments": ["None"]}, {**SCOPE, "systems": []},
                      {**SCOPE, "period": [None, None]}):
            self.assertEqual(said(inputs(person(), scope=scope))[:3], ("INCOMPLETE", {"EMP-1": False}, []))

    def test_a_custodian_who_is_on_no_roster_stays_on_hold_and_on_the_clock(self):
        found = said(inputs(person("EMP-2", department="Marketing"), carried=held()))
        self.assertEqual(found,
                         ("ESCALATION_NEEDED", {"EMP-2": False, "EMP-1": True}, ["EMP-1"], ["custodian_not_on_roster"]))

    def test_a_later_run_without_a_state_says_so(self):
        self.assertIn("carried_state_not_given", said({**inputs(person()), "carried": None, "run": 2})[3])
        skipped = {**held(), "run": 1}
        self.assertIn("run_before_is_missing", said(inputs(person(), carried=skipped, run=3))[3])

    def test_a_carried_date_after_the_snapshot_is_flagged_and_does_not_count_yet(self):
        for part, escalate in (("notice_sent", []), ("acknowledged", ["EMP-1"]), ("escalated", [])):
            found = said(inputs(person(), carried=held(**{part: "2025-11-06"})))
            self.assertIn("carried_date_after_snapshot", found[3], part)
            self.assertEqual(found[2], escalate, part)
        released = inputs(person(), carried={**held(), "released": "2025-11-06"})
        self.assertIn("carried_date_after_snapshot", said(released)[3])
        self.assertNotIn("carried_date_after_snapshot", said(inputs(person(), carried=held(acknowledged=SNAPSHOT)))[3])

    def test_every_flag_has_its_words_and_some_row_that_raises_it(self):
        known = inputs(person(), carried=held(acknowledged=True))
        rows = [known | {"events": [event("ack", "2025-11-06"), event("notice", "2025-11-06"),
                                    event("ack", "2025-10-01"), event("ack", "2025-11-01", "EMP-9")],
                         "scope_unsettled": "two memos",
                         "release_memo": "2025-11-06"},
                inputs(person(), carried=held(notice_sent=None, acknowledged="2025-12-01")),
                known | {"carried": held(notice_sent=None), "events": [event("ack", "2025-11-01")]},
                known | {"release_memo": SNAPSHOT, "scope_unsettled": True},
                inputs(person("EMP-2", department="", systems=[]), person("EMP-3", system=None),
                       person("EMP-4", since=None),
                       person("EMP-5", since="2025-02-01", until="2025-01-01", system="Email"), run_on="2025-12-01",
                       run=3, scope={**SCOPE, "named": ["EMP-8"]}, carried={**held(), "run": 1}),
                inputs(run_on="2025-11-01"),
                inputs(person(), scope={**SCOPE, "period": SCOPE["period"][::-1]}),
                {**inputs(person(), run=2), "carried": None, "run_onn": SNAPSHOT}]
        raised = {flag for row in rows for flag in said(row)[3]}
        self.assertEqual(raised, set(BOOK.rules.policy["flags"]))

    def test_a_stale_roster_is_flagged_past_the_threshold(self):
        for run_on, flags in (("2025-11-12", []), ("2025-11-13", ["snapshot_is_stale"])):
            self.assertEqual(said(inputs(person(), run_on=run_on))[3], flags)


class TestRefusals(unittest.TestCase):
    def assert_refused(self, row, *words):
        with self.assertRaises(BadData) as caught:
            review.decide(BOOK, row)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_rows_of_another_shape_hear_what_is_wanted(self):
        self.assert_refused({"acknowledgedDateTime": "x", "status": []}, "acknowledgedDateTime",
                            "candidates, scope, snapshot")
        self.assert_refused({"canddates": []}, "did you mean candidates?")

    def test_a_remark_or_an_unseen_sign_in_the_place_of_a_name_of_the_scope_is_refused(self):
        for part in ("departments", "systems"):
            for word in ("TBD", "unknown", "not classified, see the narrative", "?", "all departments",
                         "Compliance\u200b"):
                for given in (word, [*SCOPE[part], word]):
                    self.assert_refused(inputs(person(), scope={**SCOPE, part: given}), f"/scope/{part}")
        self.assert_refused(inputs(person(department="Compliance\u200b")), "/candidates/0/department", "cannot be seen")
        self.assert_refused(inputs(person(system="Core Banking\xad System")), "/candidates/0/systems/0/name")

    def test_a_state_under_keys_of_somebody_else_is_flagged(self):
        self.assertEqual(said(inputs(person("EMP-9", department="Marketing"), carried={"holds": {"EMP-1": {}}}))[3],
                         ["key_not_read"])

    def test_two_rows_a_person_are_refused(self):
        self.assert_refused(inputs(person("00012"), person("00012", department="Marketing")), "00012 stands twice")

    def test_time_stamps_and_other_dates_are_refused_with_their_place(self):
        self.assert_refused(inputs(person(), events=[event("ack", "2025-11-05T23:30:00Z")]), "/events/0/on",
                            "2026-09-01")
        self.assert_refused(inputs(person(since="06/12/2024")), "/candidates/0/systems/0/since")
        self.assert_refused(inputs(person(), snapshot=None), "/snapshot")
        self.assert_refused(inputs(person(), carried=held(acknowledged="Y")), "/carried/custodians/EMP-1/acknowledged")

    def test_one_word_is_no_reason_for_an_open_scope(self):
        for word in ("no", "settled", "", 0, []):
            if word == "":
                self.assertEqual(said(inputs(person(), scope_unsettled=word))[0], "SCOPING")
            else:
                self.assert_refused(inputs(person(), scope_unsettled=word), "/scope_unsettled", "a sentence")
        self.assertEqual(said(inputs(person(), scope_unsettled=True))[0], "INCOMPLETE")

    def test_an_acknowledgement_without_a_date_is_refused(self):
        self.assert_refused(inputs(person(), events=[event("ack", "")]), "/events/0/on", "no date")

    def test_an_event_of_an_unknown_kind_lists_the_known_ones(self):
        self.assert_refused(inputs(person(), events=[event("holdStatus", "2025-11-01")]),
                            "notice, ack, reminder, release")

    def test_a_state_of_another_matter_or_an_older_run_is_refused(self):
        carried = {**held(), "matter": "M-1", "run": 2, "snapshot": "2025-10-06"}
        self.assert_refused(inputs(person(), carried=carried, matter="M-2", run=3), "of M-1", "of M-2")
        self.assert_refused(inputs(person(), carried=carried, matter="M-1", run=2), "the next is run 3")
        self.assert_refused(inputs(person(), carried=carried, matter="M-1", snapshot="2025-10-05"), "older")


class TestKeptState(unittest.TestCase):
    """`python -m src.decide legal_hold --state FILE` over weeks."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.path = Path(place.name) / "m-1.json"

    def run_line(self, row, kit=KIT):
        out = io.StringIO()
        with command._following(kit, self.path) as (decide, keep):
            failed = command.decide_lines(kit, [json.dumps(row).encode()], out, decide, keep)
        return failed, json.loads(out.getvalue())

    def test_three_runs_one_after_the_other_are_the_chain_of_the_corpus(self):
        rows = [BOOK.chains.row(document) for name, _, document in BOOK.chains.positions() if name == "MTR-0009"]
        gold = {row["id"]: row for row in KIT.gold()}
        for row in rows:
            failed, answer = self.run_line(row)
            self.assertEqual((failed, answer["matter_stage"], answer["escalate"]),
                             (0, gold[row["id"]]["matter_stage"], gold[row["id"]]["escalate"]))
            kept = json.loads(self.path.read_text())
            self.assertEqual({key: kept[key] for key in answer["carried"]}, answer["carried"])
            self.assertEqual((kept["run_on"], kept["next"]), (row["run_on"], row["next"]))

    def test_a_refused_line_leaves_the_file_as_it_was(self):
        self.run_line(inputs(person(), matter="M-1", run=1) | {"carried": None})
        before = self.path.read_bytes()
        for row in (inputs(person(), matter="M-2", run=2), inputs(person("EMP-3"), matter="M-1", run=1),
                    inputs(person(), matter="M-1", run=3, snapshot="2025-12-05"),
                    inputs(person(), matter="M-1", run=2, snapshot="2025-12-05", events=None, event=[]),
                    inputs(person(), run=2),
                    inputs(person(), matter="M-1", snapshot="2025-12-05"),
                    inputs(person(), matter="M-1", run=2, snapshot="2025-13-01")):
            failed, answer = self.run_line({**row, "carried": None})
            self.assertEqual((failed, sorted(answer)), (1, ["error", "line"]))
            self.assertEqual(self.path.read_bytes(), before)

    def test_every_date_of_a_row_is_kept_plain_or_refused(self):
        row = {**inputs(person(), matter="M-1", run=1, snapshot=" 2025-11-05 ", run_on=" 2025-11-06 ",
                        next=" 2025-12-05 "), "carried": None}
        for part, bad in (("next", "2025-13-45"), ("next", 5), ("next", "  "), ("run_on", "  "), ("matter", "  ")):
            failed, answer = self.run_line({**row, part: bad})
            self.assertIn(f"/{part}: ", answer["error"])
            self.assertFalse(self.path.exists())
        self.assertEqual(self.run_line(row)[0], 0)
        kept = json.loads(self.path.read_text())
        self.assertEqual([kept[part] for part in ("snapshot", "run_on", "next")],
                         ["2025-11-05", "2025-11-06", "2025-12-05"])

    def test_a_run_that_decides_nothing_leaves_the_file_as_it_was(self):
        self.run_line({**inputs(person("EMP-2"), matter="M-1", run=1), "carried": None})
        before = self.path.read_bytes()
        backwards = inputs(person(since="2025-03-01", until="2025-02-01"), matter="M-1", run=2, snapshot="2025-12-05")
        self.assertIsNone(self.run_line({**backwards, "carried": None})[1]["matter_stage"])
        self.assertEqual(self.path.read_bytes(), before)

    def test_the_last_row_again_gives_the_same_answer_and_moves_nothing(self):
        row = {**inputs(person(), matter="M-1", run=1), "carried": None}
        first, before = self.run_line(row), self.path.read_bytes()
        self.assertEqual((self.run_line(row), self.path.read_bytes()), (first, before))

    def test_a_state_that_is_not_as_it_was_written_is_refused(self):
        self.run_line({**inputs(person(), matter="M-1", run=1), "carried": None})
        kept = json.loads(self.path.read_text())
        row = {**inputs(person(), matter="M-1", run=2, snapshot="2025-12-05"), "carried": None}
        for wrong in ({"run": 1}, {}, {**kept, "custodians": None}, {**kept, "custodian": {}},
                      {key: kept[key] for key in kept if key != "custodians"},
                      {**kept, "custodians": {**kept["custodians"], "emp-1": kept["custodians"]["EMP-1"]}}):
            self.path.write_text(json.dumps(wrong))
            self.assertEqual(self.run_line(row)[0], 1, wrong)
        self.path.write_text("null")
        self.assertRaises(BadData, self.run_line, row)

    def test_one_process_has_the_file_and_a_decision_is_out_before_the_state_moves(self):
        with command._following(KIT, self.path) as (decide, keep):
            with self.assertRaises(BadData), command._following(KIT, self.path):
                pass
            decide(BOOK, inputs(person(), matter="M-1", run=1) | {"carried": None})
            self.assertFalse(self.path.exists())
            keep()
        self.assertTrue(self.path.exists())

    def test_a_first_run_that_decides_nothing_and_a_folder_that_is_none_write_nothing(self):
        backwards = inputs(person(since="2025-03-01", until="2025-02-01"), matter="M-1", run=1)
        self.run_line({**backwards, "carried": None})
        self.assertFalse(self.path.exists())
        with self.assertRaises(BadData), command._following(KIT, self.path.parent / "no" / "m.json"):
            pass
        self.assertFalse((self.path.parent / "no").exists())

    def test_a_row_that_brings_its_own_state_begins_a_file_and_is_refused_beside_one(self):
        failed, answer = self.run_line(inputs(person(), matter="M-1", run=2, carried=held()))
        self.assertEqual((failed, self.path.exists()), (1, False))
        self.assertIn("/carried/matter: is not stated", answer["error"])
        slip = {"matter": "M-1", "run": 1, "custodian": held()["custodians"]}
        self.assertIn("custodian", self.run_line(inputs(person(), matter="M-1", run=2, carried=slip))[1]["error"])
        brought = inputs(person(), matter="M-1", run=2, carried={**held(acknowledged=True), "matter": "M-1", "run": 1})
        failed, answer = self.run_line(brought)
        self.assertEqual((failed, answer["matter_stage"], answer["on_hold"]), (0, "MONITORING", ["EMP-1"]))
        self.assertEqual(self.run_line(brought), (0, answer))
        failed, answer = self.run_line({**brought, "run": 3, "snapshot": "2025-12-05"})
        self.assertIn("/carried: the state is kept in its file", answer["error"])

    def test_a_file_of_an_older_version_says_how_to_go_on_and_that_way_works(self):
        self.run_line({**inputs(person(), matter="M-1", run=1), "carried": None})
        kept = json.loads(self.path.read_text())
        older = {part: value for part, value in kept.items() if part not in ("row", "before")}
        self.path.write_text(json.dumps(older))
        row = {**inputs(person(), matter="M-1", run=2, snapshot="2025-12-05"), "carried": None}
        self.assertIn("give what it holds as `carried`", self.run_line(row)[1]["error"])
        self.path.unlink()
        failed, answer = self.run_line({**row, "carried": {part: older[part] for part in state.PLAIN}})
        self.assertEqual((failed, answer["matter_stage"], answer["on_hold"]), (0, "MONITORING", ["EMP-1"]))

    def test_a_file_of_another_matter_or_of_a_later_run_is_refused_in_words(self):
        for run in (1, 2):
            row = inputs(person(), matter="M-1", run=run, snapshot=f"2025-11-{4 + run:02}")
            self.run_line({**row, "carried": None})
        for changed, words in (({"matter": "M-2", "run": 3}, "is of M-1, the run is of M-2"),
                               ({"matter": "M-1", "run": 1}, "the next is run 3"),
                               ({"matter": "M-1", "run": 5}, "runs 3 to 4 are missing")):
            failed, answer = self.run_line({**inputs(person(), snapshot="2025-12-05", **changed), "carried": None})
            self.assertEqual(failed, 1)
            self.assertIn(words, answer["error"])

    def test_a_folder_that_may_not_be_written_to_is_refused_before_anything_is_decided(self):
        out = io.StringIO()
        with mock.patch.object(command.os, "access", return_value=False), self.assertRaises(BadData) as caught, \
                command._following(KIT, self.path) as (decide, keep):
            command.decide_lines(KIT, [json.dumps(inputs(person(), matter="M-1", run=1)).encode()], out, decide, keep)
        self.assertIn("may not be written to", str(caught.exception))
        self.assertEqual((out.getvalue(), list(self.path.parent.iterdir())), ("", []))

    def test_a_kill_between_write_and_rename_leaves_the_state_before_and_the_row_may_come_again(self):
        class Killed(BaseException):
            pass
        self.run_line({**inputs(person(), matter="M-1", run=1), "carried": None})
        before = self.path.read_bytes()
        row = {**inputs(person(), matter="M-1", run=2, snapshot="2025-12-05"), "carried": None}
        with mock.patch("os.replace", side_effect=Killed), self.assertRaises(Killed):
            self.run_line(row)
        self.assertEqual(self.path.read_bytes(), before)
        failed, answer = self.run_line(row)
        self.assertEqual((failed, json.loads(self.path.read_text())["run"]), (0, 2))

    def test_a_released_matter_stays_closed_over_the_weeks(self):
        stages = [self.run_line({**inputs(person(), matter="M-1", run=run, snapshot=f"2025-11-{5 + run:02}", **more),
                                 "carried": None})[1]["matter_stage"]
                  for run, more in ((1, {}), (2, {"release_memo": "2025-11-06"}), (3, {}),
                                    (4, {"release_memo": "2025-11-08"}))]
        self.assertEqual(stages, ["SCOPING", "RELEASING", "CLOSED", "CLOSED"])

    def test_the_command_takes_a_file_and_refuses_a_broken_one(self):
        words = [sys.executable, "-m", "src.decide", "legal_hold", "--state", str(self.path)]
        row = json.dumps({**inputs(person(), matter="M-1", run=1), "carried": None})
        done = subprocess.run(words, input=row, capture_output=True, text=True, cwd=kits.ROOT)
        self.assertEqual((done.returncode, json.loads(self.path.read_text())["run"]), (0, 1))
        self.path.write_text("{")
        done = subprocess.run(words, input=row, capture_output=True, text=True, cwd=kits.ROOT)
        self.assertEqual((done.returncode, self.path.read_text()), (2, "{"))
        self.assertIn("m-1.json", done.stderr)


class TestSentences(unittest.TestCase):
    CARRIED = {"matter": "M-1", "run": 2, "snapshot": "2025-11-05", "custodians": {
        "EMP-1": {"since_run": 1, "notice_sent": "2025-10-07", "acknowledged": "2025-10-09", "escalated": None,
                  "why": {"department": "Compliance", "system": "CRM", "since": "2022-01-01", "until": "2025-01-01",
                          "rule": "L-1b"}},
        "EMP-2": {"since_run": 1, "notice_sent": "2025-10-08", "acknowledged": None, "escalated": "2025-11-05",
                  "why": None},
        "EMP-3": {"since_run": 2, "notice_sent": None, "acknowledged": None, "escalated": None,
                  "why": {"department": "X", "system": "CRM", "since": "2022-01-01", "until": None, "by_role": True}}}}

    def test_every_part_of_the_state_is_said(self):
        lines = state.describe(state.read(self.CARRIED)).split("\n")
        self.assertIn("On hold since run 1: EMP-1, matched by department Compliance and CRM (from 2022-01-01 to "
                      "2025-01-01).", lines)
        self.assertIn("On hold since run 2: EMP-3, matched by their role in the narrative and CRM (from 2022-01-01, "
                      "still open "
                      "then).", lines)
        self.assertIn("Have acknowledged their notice: EMP-1 (on 2025-10-09).", lines)
        self.assertIn("Have been sent a notice and not acknowledged it: EMP-2 (notice of 2025-10-08).", lines)
        self.assertIn("On hold with no notice on record: EMP-3.", lines)
        self.assertIn("Have been put up for escalation before: EMP-2 (on 2025-11-05).", lines)
        self.assertIn("The matter has not been released.", lines)

    def test_without_acknowledged_leaves_out_that_one_line(self):
        carried = state.read(self.CARRIED)
        full, old = (state.describe(carried, acknowledged=flag).split("\n") for flag in (True, False))
        self.assertEqual([line for line in full if line not in old],
                         ["Have acknowledged their notice: EMP-1 (on 2025-10-09)."])
        self.assertEqual([line for line in old if line not in full], [])

    def test_release_and_a_waiting_memo_are_said(self):
        self.assertIn("released on 2025-11-03", state.describe(state.read({**self.CARRIED, "released": "2025-11-03"})))
        self.assertIn("memo of 2025-11-03 waits",
                      state.describe(state.read({**self.CARRIED, "release_memo": "2025-11-03"})))

    def test_the_first_run_says_that_it_is_the_first(self):
        self.assertEqual(state.describe(state.NOTHING), state.FIRST)

    def test_a_state_reads_back_to_itself(self):
        carried = state.read(self.CARRIED)
        self.assertEqual(state.read(json.loads(json.dumps(state.plain(carried)))), carried)


def random_matter(rng, runs=5):
    """The inputs of a random matter over several runs: scope, roster and log change as they like."""
    day = datetime.date(2025, 1, 1)
    departments, systems, names = ["A", "B", "C"], ["S", "T", "U"], [f"EMP-{n}" for n in range(6)]
    rows = []
    for run in range(1, runs + 1):
        before, day = day, day + datetime.timedelta(rng.randint(1, 40))
        people = []
        for name in names:
            since = datetime.date(2024, 1, 1) + datetime.timedelta(rng.randint(0, 500))
            until = None if rng.random() < .6 else since + datetime.timedelta(rng.randint(0, 200))
            people.append({"id": name, "department": rng.choice([*departments, ""]), "systems": [
                {"name": rng.choice(systems), "since": str(since), "until": until and str(until)}]})
        # Some are logged a window late, and some stand at the very limit.
        events = [{"id": rng.choice(names), "type": rng.choice(["notice", "notice", "ack", "reminder"]),
                   "on": str(rng.choice([before + datetime.timedelta(rng.randint(-20, (day - before).days + 1)),
                                         day - datetime.timedelta(rng.choice((13, 14)))]))}
                  for _ in range(rng.randint(0, 9))]
        scope = {"departments": rng.sample(departments, rng.randint(0, 2)), "systems": rng.sample(systems, 2),
                 "period": ["2024-06-01", "2024-12-31"]}
        rows.append({"matter": "M", "run": run, "snapshot": str(day),
                     "candidates": rng.sample(people, rng.randint(3, 6)),
                     "events": events, "scope": scope, "scope_unsettled": "two memos" if rng.random() < .1 else None,
                     "release_memo": str(day) if rng.random() < .05 else None})
    return rows


def chain(rows, order=lambda events: events):
    """[(Outcome, Carried before, Carried after)] of a matter's runs."""
    carried, found = state.NOTHING, []
    for row in rows:
        run = matter.read(BOOK.rules.policy["events"], {**row, "events": order(row["events"])})
        outcome, following = legalhold.step(run, carried, BOOK.rules)
        found.append((outcome, carried, following))
        carried = following
    return found


def heard(rows, found):
    """{id: (first notice, first answer that counts)} of whoever is on hold, as the logs up to each run tell it."""
    told = {}
    for row, (_, before, after) in zip(rows, found):
        for name in after.custodians if not before.released else ():
            log = [event for event in row["events"] if event["id"] == name and event["on"] <= row["snapshot"]]
            notice, answer = told.get(name, (None, None))
            notice = min([*(event["on"] for event in log if event["type"] == "notice"), *([notice] if notice else [])],
                         default=None)
            answers = [event["on"] for event in log if event["type"] == "ack" and notice and event["on"] >= notice]
            told[name] = notice, answer or min(answers, default=None)
        yield dict(told)


def days_between(first, last):
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days


class TestAnyMatter(unittest.TestCase):
    """What holds for any matter, over seeded random ones."""

    @classmethod
    def setUpClass(cls):
        rng = random.Random(20260824)
        cls.matters = [random_matter(rng) for _ in range(120)]
        cls.chains = [chain(rows) for rows in cls.matters]

    def test_the_random_matters_show_every_stage_and_some_of_everything(self):
        outcomes = [outcome for found in self.chains for outcome, _, _ in found]
        self.assertEqual({outcome.stage for outcome in outcomes}, set(BOOK.rules.stage.decisions))
        self.assertGreater(sum(len(outcome.escalate) for outcome in outcomes), 30)
        self.assertTrue(any(outcome.notices and outcome.escalate for outcome in outcomes))

    def test_a_custodian_never_vanishes_before_release(self):
        for found in self.chains:
            for outcome, before, after in found:
                if not after.released:
                    self.assertLessEqual(set(before.custodians), set(after.custodians))
                    self.assertEqual(sorted(outcome.on_hold), sorted(after.custodians))
                    if outcome.stage != "INCOMPLETE":
                        self.assertEqual({name for name, word in outcome.hold_status.items() if word == "CUSTODIAN"},
                                         set(after.custodians))

    def test_nobody_is_escalated_twice_or_early_or_after_acknowledging_or_when_new(self):
        for rows, found in zip(self.matters, self.chains):
            seen = set()
            for row, (outcome, before, _), told in zip(rows, found, heard(rows, found)):
                self.assertFalse(seen & set(outcome.escalate))
                seen |= set(outcome.escalate)
                for name in outcome.escalate:
                    self.assertGreaterEqual(days_between(told[name][0], row["snapshot"]), 14)
                    self.assertIsNone(told[name][1])
                    self.assertIn(name, before.custodians)

    def test_everybody_who_is_owed_an_escalation_gets_it_and_nobody_at_a_run_that_chases_nobody(self):
        for rows, found in zip(self.matters, self.chains):
            escalated = set()
            for row, (outcome, before, _), told in zip(rows, found, heard(rows, found)):
                owed = {name for name, (notice, answer) in told.items() if name in before.custodians and notice
                        and name not in escalated and not answer and days_between(notice, row["snapshot"]) >= 14}
                live = outcome.stage in ("SCOPING", "ESCALATION_NEEDED", "MONITORING")
                self.assertEqual(set(outcome.escalate), owed if live else set())
                escalated |= set(outcome.escalate)

    def test_a_notice_is_asked_for_exactly_once(self):
        for found in self.chains:
            asked = [name for outcome, _, _ in found for name in outcome.notices]
            self.assertEqual(len(asked), len(set(asked)))
            self.assertEqual(set(asked), set(found[-1][2].custodians))

    def test_the_order_of_events_inside_a_window_does_not_matter(self):
        rng = random.Random(7)
        for rows, found in zip(self.matters, self.chains):
            self.assertEqual(chain(rows, lambda events: rng.sample(events, len(events))), found)

    def test_readings_do_not_depend_on_the_order_in_which_matters_run(self):
        documents = [document for _, _, document in BOOK.chains.positions()]
        for order in (documents[::-1], random.Random(3).sample(documents, len(documents))):
            fresh = review.Chains(KIT.data, BOOK.rules)
            self.assertEqual({document: fresh.carried(document) for document in order},
                             {document: BOOK.chains.carried(document) for document in documents})

    def test_a_step_changes_neither_the_matter_nor_the_state_it_was_given(self):
        for rows in self.matters[:50]:
            carried = state.NOTHING
            for row in rows:
                run = matter.read(BOOK.rules.policy["events"], row)
                kept = repr((run, carried))
                following = legalhold.step(run, carried, BOOK.rules)[1]
                self.assertEqual(repr((run, carried)), kept)
                carried = following

    def test_after_a_release_every_run_is_closed_or_unsettled(self):
        for found in self.chains:
            for outcome, before, after in found:
                if before.released:
                    self.assertIn(outcome.stage, ("CLOSED", "INCOMPLETE"))
                    self.assertEqual((outcome.escalate, outcome.notices, outcome.on_hold), ([], [], []))


class TestBoundaryCases(unittest.TestCase):
    def test_the_shared_boundary_rows_are_all_right(self):
        if not SHARED_CASES.exists():
            self.skipTest(f"{SHARED_CASES} is not there; the tests above carry the same boundaries")
        rows = [json.loads(line) for line in SHARED_CASES.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if row["kit"] == KIT.hyphened]
        self.assertGreater(len(rows), 10)
        for row in rows:
            found = review.decide(BOOK, row["inputs"])
            with self.subTest(row["case"]):
                self.assertEqual({key: found[key] for key in row["right"]}, row["right"], row["why"])
                self.assertIn(row.get("flag"), (None, *found["flags"]))


class TestOverdueTable(unittest.TestCase):
    def test_every_combination_has_one_reason(self):
        for new, acknowledged, escalated, days in itertools.product((True, False), (True, None), (True, None),
                                                                    (None, 13, 14, 15)):
            notice = None if days is None else datetime.date(2025, 11, 5) - datetime.timedelta(days)
            record = state.Record(1, notice, acknowledged, escalated, None)
            found = legalhold.walk_overdue(BOOK.rules, record, datetime.date(2025, 11, 5), new)
            want = not (new or acknowledged or escalated) and days is not None and days >= 14
            self.assertEqual(found.decision == "overdue", want)


if __name__ == "__main__":
    unittest.main()
