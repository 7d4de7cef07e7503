"""Ordered rules: five results of a clause, applicability before values, a full trace, everything wrong said at once."""
import copy
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from src.shared import fields as field_list
from src.shared import walk
from src.shared.files import BadData, to_json, write_text
from src.shared.values import OtherUnit, Unreadable

FIELDS = {"units": {"days": ["day"], "hours": ["hour"], "m": []}, "fields": [
    {"name": "crop", "type": "string", "nullable": False, "description": "-"},
    {"name": "crops", "type": "list", "nullable": False, "description": "-"},
    {"name": "made", "type": "number", "nullable": True, "description": "-"},
    {"name": "since", "type": "number", "unit": "days", "nullable": True, "description": "-"},
    {"name": "interval", "type": "number", "unit": "days", "nullable": True, "description": "-"},
    {"name": "stay_out", "type": "number", "unit": "hours", "nullable": True, "description": "-"},
    {"name": "seen_on", "type": "date", "nullable": True, "description": "-"},
    {"name": "remark", "type": "string", "nullable": False, "never_read": True, "description": "-"},
    {"name": "verdict", "type": "enum", "nullable": False, "decided": True, "allowed": "$decisions",
     "description": "-"}]}
BREACH = {"title": "toy", "stops_at": "breach",
          "decisions": {"inside": "-", "outside": "-", "wait": "-", "unknown": "-"},
          "passed": {"decision": "inside", "rule": "none"}, "missing": {"decision": "unknown"},
          "rules": [
    {"id": "crop", "order": 1, "field": "crop", "test": "in", "value": "$crops", "decision": "outside", "why": "-"},
    {"id": "interval", "order": 2, "field": "since", "test": ">=", "value": "$interval", "unit": "days",
     "not_applicable": {"field": "made", "test": "==", "value": 0}, "decision": "wait", "why": "-"}]}
ROW = {"crop": "wheat", "crops": "wheat, carrots", "made": 1, "since": 14, "interval": 14, "stay_out": 48,
       "seen_on": None, "remark": "fine"}


def table(document=BREACH, fields=FIELDS):
    """A Table and its Fields out of documents in memory."""
    document, fields = copy.deepcopy(document), copy.deepcopy(fields)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fields.json"
        write_text(path, to_json(fields))
        loaded = field_list.load(path, {"decisions": tuple(document.get("decisions", ()))})
        return walk.load("toy.json", document, loaded), loaded


def changed(path, value, document=BREACH):
    """The document with one place changed; a value of ... deletes the place."""
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def decide(document=BREACH, **row):
    rules, fields = table(document)
    return rules.decide(*fields.read({**ROW, **row}))


class TestWalk(unittest.TestCase):
    def test_a_row_that_keeps_every_rule_passes(self):
        found = decide()
        self.assertEqual((found.decision, found.rule), ("inside", "none"))
        self.assertEqual([step["result"] for step in found.trace], ["pass", "pass"])

    def test_the_first_breach_ends_the_walk(self):
        found = decide(crop="barley", since=1)
        self.assertEqual((found.decision, found.rule, len(found.trace)), ("outside", "crop", 1))

    def test_order_is_data(self):
        swapped = changed(("rules", 0, "order"), 3)
        self.assertEqual(decide(swapped, crop="barley", since=1).rule, "interval")
        self.assertEqual(decide(BREACH, crop="barley", since=1).rule, "crop")

    def test_a_missing_value_ends_the_walk_at_its_rule(self):
        for row in ({"since": None}, {"interval": None}, {"made": None, "since": None}):
            with self.subTest(row=row):
                found = decide(**row)
                self.assertEqual((found.decision, found.rule, found.trace[-1]["result"]),
                                 ("unknown", "interval", "not readable"))

    def test_a_missing_guard_is_missing_and_not_false(self):
        self.assertEqual(decide(made=None).decision, "unknown")

    def test_a_rule_that_does_not_apply_asks_for_no_value(self):
        found = decide(made=0, since=None, interval=None)
        self.assertEqual((found.decision, found.trace[1]["result"]), ("inside", "skipped"))

    def test_a_value_that_cannot_be_read_is_an_error_and_decides_nothing(self):
        found = decide(since="1,200")
        self.assertEqual((found.decision, found.rule, found.trace[-1]["result"]), (None, "interval", "error"))
        self.assertIn("since", found.error)
        self.assertIn("1,200", found.error)

    def test_an_error_in_a_value_that_is_not_reached_changes_nothing(self):
        self.assertEqual(decide(crop="barley", since="1,200").decision, "outside")

    def test_a_value_in_another_unit_is_missing_and_its_text_is_shown(self):
        found = decide(since="2 weeks")
        self.assertEqual((found.decision, found.trace[-1]["raw"]), ("unknown", {"since": "2 weeks"}))

    def test_a_type_error_never_reads_as_did_not_match(self):
        for value in (True, [14], {"days": 14}):
            with self.subTest(value=value):
                self.assertIsNone(decide(since=value).decision)

    def test_a_breach_says_by_how_much(self):
        self.assertEqual(decide(since="13.5").trace[-1]["off_by"], Decimal("0.5"))

    def test_near_names_are_shown_and_never_decide(self):
        found = decide(crop="winter wheat")
        self.assertEqual((found.decision, found.trace[0]["near"]), ("outside", ["wheat"]))

    def test_decimals_of_the_page_are_compared_as_they_stand(self):
        self.assertEqual(decide(since="0.30", interval="0.3").decision, "inside")
        self.assertEqual(decide(since="0.29999999999999999", interval="0.3").decision, "wait")


class TestClauses(unittest.TestCase):
    def result(self, clause, **row):
        _, fields = table()
        return walk.compile_clause(clause, fields)(*fields.read({**ROW, **row}))

    def test_three_valued_any_and_all(self):
        yes, no = {"field": "made", "test": "==", "value": 1}, {"field": "made", "test": "==", "value": 2}
        gone = {"field": "since", "test": "==", "value": 1, "unit": "days"}
        for word, pair, want in (
                ("any", [yes, gone], "true"), ("any", [no, gone], "missing"), ("any", [no, no], "false"),
                ("all", [no, gone], "false"), ("all", [yes, gone], "missing"), ("all", [yes, yes], "true")):
            with self.subTest(word=word, want=want):
                self.assertEqual(self.result({word: pair}, since=None), want)
        self.assertEqual(self.result({"not": gone}, since=None), "missing")
        self.assertEqual(self.result({"not": no}), "true")

    def test_an_error_is_an_error_in_any_company(self):
        yes, bad = {"field": "made", "test": "==", "value": 1}, {"field": "since", "test": "==", "value": 1}
        self.assertEqual(self.result({"any": [yes, bad]}, since=True), "error")
        self.assertEqual(self.result({"field": "since", "test": "is stated"}, since=True), "error")

    def test_stated_and_not_stated(self):
        self.assertEqual(self.result({"field": "since", "test": "is stated"}, since=0), "true")
        self.assertEqual(self.result({"field": "since", "test": "is not stated"}, since=None), "true")

    def test_a_date_literal_is_a_date(self):
        early = {"field": "seen_on", "test": "<", "value": "2026-09-01"}
        self.assertEqual(self.result(early, seen_on="2026-08-31"), "true")
        self.assertEqual(self.result(early, seen_on="2026-09-01"), "false")

    def test_names_in_a_literal_list_fold(self):
        self.assertEqual(self.result({"field": "crop", "test": "in", "value": ["Wheat", "oats"]}), "true")


class TestMatchTables(unittest.TestCase):
    TABLE = {"title": "toy", "stops_at": "match", "decisions": {"gap": "-", "met": "-", "not met": "-", "open": "-"},
             "passed": {"decision": "met", "rule": "none"}, "missing": {"decision": "open"}, "rules": [
                 {"id": "T-1", "order": 1, "when": {"field": "crop", "test": "==", "value": "none"}, "decision": "gap",
                  "why": "-"},
                 {"id": "T-2", "order": 2, "when": {"field": "since", "test": "<", "value": 2, "unit": "days"},
                  "decision": "not met", "why": "-"}]}

    def test_the_first_match_decides(self):
        self.assertEqual(decide(self.TABLE, crop="none", since=1).rule, "T-1")
        self.assertEqual(decide(self.TABLE, since=1).rule, "T-2")
        self.assertEqual(decide(self.TABLE, since=2).decision, "met")

    def test_a_missing_value_never_falls_through_to_the_last_row(self):
        found = decide(self.TABLE, since=None)
        self.assertEqual((found.decision, found.rule), ("open", "T-2"))


class TestValidation(unittest.TestCase):
    def refused(self, document, *words, fields=FIELDS):
        with self.assertRaises(BadData) as caught:
            table(document, fields)
        for word in words:
            self.assertIn(word, str(caught.exception))
        return caught.exception.problems

    def test_each_fault_is_named_with_place_and_remedy(self):
        rule = ("rules", 1)
        for path, value, *words in (
                ((*rule, "field"), "sinse", "/rules/1", "'sinse'", "did you mean since?"),
                ((*rule, "test"), "=>", "'=>'", ">="),
                ((*rule, "value"), "$stay_out", "since is in days and stay_out in hours"),
                ((*rule, "unit"), "hours", "since is in days, the rule says hours"),
                ((*rule, "value"), "$remark", "copied only"),
                ((*rule, "field"), "verdict", "an answer"),
                ((*rule, "id"), "crop", "stands twice"),
                ((*rule, "order"), 1, "already the order of crop"),
                ((*rule, "order"), "2", "not a whole number"),
                ((*rule, "decision"), "insde", "did you mean inside?"),
                ((*rule, "decision"), ..., "decision None"),
                ((*rule, "why"), ..., "why is missing"),
                ((*rule, "wehn"), 1, "unknown key 'wehn'", "did you mean when?"),
                ((*rule, "value"), "14", "'14' is no number"),
                ((*rule, "not_applicable"), {"field": "nope", "test": "==", "value": 0}, "/not_applicable", "'nope'"),
                ((*rule, "not_applicable"), {"any": {}}, "a list of conditions"),
                (("rules", 0, "value"), "$crop", "wants a list"),
                (("rules", 0, "test"), "<", "orders numbers and dates only"),
                (("missing", "decision"), "x", "/missing/decision")):
            with self.subTest(path=path, value=value):
                self.refused(changed(path, value), "toy.json", *words)

    def test_all_problems_are_reported_at_once(self):
        document = changed(("rules", 0, "field"), "nope")
        document["rules"][1]["test"] = "~"
        document["missing"]["decision"] = "x"
        self.assertEqual(len(self.refused(document)), 3)

    def test_a_rule_that_can_never_decide_is_refused(self):
        document = copy.deepcopy(BREACH)
        document["rules"].append({**document["rules"][0], "id": "again", "order": 3})
        self.refused(document, "again", "can never decide", "crop")

    def test_an_outline_that_is_no_table_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "checks.json"
            for document in ([], {}, {**BREACH, "rules": []}, {**BREACH, "rules": 3}, {**BREACH, "stops_at": "x"},
                             {**BREACH, "extra": 1}):
                write_text(path, to_json(document))
                with self.subTest(document=str(document)[:40]), self.assertRaises(BadData):
                    walk.read_document(path)

    def test_fields_are_validated_too(self):
        for change, *words in (({"type": "nubmer"}, "'nubmer'"), ({"unit": "weeks"}, "'weeks'"),
                               ({"nulable": 1}, "nullable"),
                               ({"nullable": "no"}, "nullable"), ({"allowed": ["x"]}, "belongs to the type enum")):
            fields = copy.deepcopy(FIELDS)
            fields["fields"][3] |= change
            with self.subTest(change=change):
                self.refused(BREACH, "/fields/3 (since)", *words, fields=fields)


class TestFindings(unittest.TestCase):
    def test_reading_a_row_keeps_what_gave_no_value(self):
        _, fields = table()
        values, findings = fields.read({**ROW, "since": "3 weeks", "made": "1,200"})
        self.assertIsNone(values["since"])
        self.assertIsInstance(findings["since"], OtherUnit)
        self.assertIsInstance(findings["made"], Unreadable)
