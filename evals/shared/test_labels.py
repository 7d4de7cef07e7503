"""What the label gates are built on: reading that goes on, pages, rules in two renderings, joins, the privacy guard."""
import ast
import doctest
import tempfile
import unittest
from collections import Counter
from decimal import Decimal
from pathlib import Path

from evals.shared import dates, labels, ledger, page, strict

HERE = Path(__file__).parent
UNITS = {"L/ha": {"l/ha"}, "days": {"day", "days", "d"}, "hours": {"hour", "hours", "h"}, "count": {"applications"}}
HEADS = {"checks": ("order", "check", "has to hold"), "marks": ("mark", "set when")}
POLICY = """# Rules

| order | check | has to hold |
|---|---|---|
| 1 | `crop` | `crop in crops` |
| 2 | `rate` | `rate <= limit` |

| mark | set when |
|---|---|
| `late` | `days < 0 days` |
"""
KNOWN = {"crop": {"type": "string"}, "crops": {"type": "list"},
         "status": {"type": "enum", "allowed": ["planned", "done"]}, "days": {"type": "number", "unit": "days"},
         "gap": {"type": "number", "unit": "days"},
         "stay": {"type": "number", "unit": "hours"}, "note": {"type": "string", "never_read": True}}
FIELDS = page.Fields(
    {}, {"name": {"name": "name", "type": "string", "section": "Plot", "line": ""},
         "rate": {"name": "rate", "type": "number", "unit": "L/ha", "section": "Plan", "line": "rate:"},
         "days": {"name": "days", "type": "number", "unit": "days", "section": "Plan", "line": "days to go:",
                  "not_stated": ["not stated"]}},
    set(), UNITS, ["Plot", "Plan"], ["Owner"])
PAGE = "Plot\n----\nNorth\n\nOwner\n-----\nAda Miller -- NO-12345\n\nPlan\n----\nrate: 1.20 L/ha\ndays to go: 12\n"


class Folder(unittest.TestCase):
    """Tests with a report on a folder of their own."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.report = labels.Report(place.name, ("a.json", "rows.jsonl", "policy.md"))

    def write(self, file, content):
        path = self.report.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if type(content) is bytes else content.encode("utf-8"))

    def said(self):
        return [str(problem) for problem in self.report.problems]

    def assertSays(self, *parts):
        """Exactly one problem, and it says all of this."""
        self.assertEqual(len(self.said()), 1, self.said())
        for part in parts:
            self.assertIn(part, self.said()[0])


class TestReading(Folder):
    def test_a_missing_file_is_a_problem_and_no_exception(self):
        self.assertIsNone(strict.read_json(self.report, "a.json"))
        self.assertSays("a.json: cannot be read")

    def test_a_byte_order_mark_is_reported_and_the_rest_is_read(self):
        self.write("a.json", b'\xef\xbb\xbf{"x": 1}')
        self.assertEqual(strict.read_json(self.report, "a.json"), {"x": 1})
        self.assertSays("byte order mark", "UTF-8 without BOM")

    def test_a_carriage_return_is_reported_with_its_line(self):
        self.write("a.json", '{\n"x":\r\n1}')
        self.assertEqual(strict.read_json(self.report, "a.json"), {"x": 1})
        self.assertSays("line 2", "LF line ends")

    def test_bytes_that_are_not_utf_8_are_reported_with_line_and_value(self):
        self.write("a.txt", b"one\ntwo \xe9\n")
        self.assertEqual(strict.read_text(self.report, "a.txt"), "one\ntwo \N{REPLACEMENT CHARACTER}\n")
        self.assertSays("line 2", "0xe9", "save the file as UTF-8")

    def test_every_duplicate_key_and_nan_of_a_file_is_reported_at_once(self):
        self.write("a.json", '{"x": 1, "x": 2, "deep": {"y": NaN, "y": -Infinity}}')
        strict.read_json(self.report, "a.json")
        self.assertEqual(len(self.said()), 4, self.said())

    def test_a_syntax_error_names_line_and_column(self):
        self.write("a.json", '{\n"x": }')
        self.assertIsNone(strict.read_json(self.report, "a.json"))
        self.assertSays("line 2", "column 6")

    def test_numbers_and_nestings_beyond_reading_are_problems(self):
        for text in ("[" * 100_000, "9" * 5_000, "1e99999999999999999999"):
            self.write("a.json", text)
            strict.read_json(self.report, "a.json")
        self.assertEqual({problem.file for problem in self.report.problems}, {"a.json"})
        self.assertGreaterEqual(len(self.said()), 2)

    def test_fractions_keep_the_digits_of_the_file(self):
        self.write("a.json", "0.10")
        self.assertEqual(str(strict.read_json(self.report, "a.json")), "0.10")


class TestRows(Folder):
    def test_rows_are_found_by_id_wherever_they_stand(self):
        self.write("rows.jsonl", '{"id": "B", "x": "é"}\n\n{"id": "A", "x": 2}\n')
        rows = strict.Rows(self.report, "rows.jsonl")
        self.assertEqual([rows.get(name) for name in "ABC"], [{"id": "A", "x": 2}, {"id": "B", "x": "é"}, None])
        self.assertEqual(self.said(), [])

    def test_a_bad_line_costs_that_line_only(self):
        self.write("rows.jsonl", '{"id": "A"}\n[1]\n{"no": 1}\n{"id": \n{"id": "A", "again": 1}\n{"id": "B"}\n')
        rows = strict.Rows(self.report, "rows.jsonl")
        self.assertEqual([*rows.places], ["A", "B"])
        self.assertEqual([problem.row for problem in self.report.problems], ["line 2", "line 3", "line 4", "line 5"])
        self.assertIn("A has a row on line 1", self.said()[3])

    def test_only_places_stay_in_memory(self):
        self.write("rows.jsonl", "".join(f'{{"id": "{n}", "text": "{"x" * 9_000}"}}\n' for n in range(50)))
        rows = strict.Rows(self.report, "rows.jsonl")
        self.assertEqual([line for line, _ in rows.places.values()], [*range(1, 51)])
        self.assertEqual({type(part) for place in rows.places.values() for part in place}, {int})


class TestShape(Folder):
    def shape(self, value, *wanted):
        return strict.shape(self.report, "a.json", "row", value, *wanted)

    def test_an_unknown_key_is_reported_with_the_nearest_and_leaves_the_object_sound(self):
        self.assertTrue(self.shape({"unit": "m", "tset": 1}, {"unit": str}, {"test": int}))
        self.assertSays('unknown key "tset"', "did you mean test?")

    def test_missing_keys_and_wrong_kinds_are_reported_together(self):
        self.assertFalse(self.shape({"a": True, "b": ["x", 1]}, {"a": int, "b": "texts", "c": str, "d": str}))
        self.assertEqual(len(self.said()), 3, self.said())
        self.assertIn("c, d missing", self.said()[2])

    def test_a_file_that_is_no_json_is_told_once(self):
        self.write("a.json", '{"a": ')
        self.assertFalse(strict.shape(self.report, "a.json", "", strict.read_json(self.report, "a.json"), {"a": int}))
        self.assertSays("not JSON")

    def test_something_else_than_an_object_is_reported(self):
        self.assertFalse(self.shape(["x"], {"a": int}))
        self.assertSays('["x"]', "an object with a is wanted")


class TestPage(Folder):
    def read(self, text):
        self.write("page.txt", text)
        return page.read_page(self.report, "page.txt", FIELDS)

    def test_each_value_is_read_from_its_labelled_line(self):
        found = self.read(PAGE)
        self.assertEqual(found.values, {"name": "North", "rate": Decimal("1.20"), "days": 12})
        self.assertEqual(found.sent, "North\nrate: 1.20 L/ha\ndays to go: 12")
        self.assertEqual(found.withheld, "Ada Miller -- NO-12345")
        self.assertEqual(self.said(), [])

    def test_a_phrase_of_the_field_is_no_value_and_any_other_phrase_is_a_problem(self):
        self.assertIsNone(self.read(PAGE.replace("go: 12", "go: Not stated")).values["days"])
        self.assertEqual(self.said(), [])
        self.assertNotIn("days", self.read(PAGE.replace("go: 12", "go: unknown")).values)
        self.assertSays("line 12", '"unknown"', "a number in days is wanted", "not stated")

    def test_what_is_wrong_with_a_page_is_said_with_its_line(self):
        wrong = {"----\nrate": "---\nrate", "Plan\n----\n": "Plan\n", "rate: 1.20 L/ha\n": "", "Owner\n": "Onwer\n",
                 "1.20 L/ha": "1.20 days", "rate: 1.20": "rate: 1,200", "North\n": "", "Plot\n": "Top\n\nPlot\n",
                 "days to go: 12": "days to go: 12\ndays to go: 9", "days to": "wind: 3\ndays to"}
        for good, bad in wrong.items():
            with self.subTest(bad):
                self.report._found.clear()
                self.assertIn(good, PAGE)
                self.read(PAGE.replace(good, bad))
                self.assertTrue(self.said())

    def test_sections_out_of_order_or_twice_are_reported(self):
        self.read(PAGE[PAGE.index("Owner"):] + "\n" + PAGE[:PAGE.index("Owner")])
        self.assertSays("put them in the order of fields.json")
        self.report._found.clear()
        self.read(PAGE + "\nOwner\n-----\nBen\n")
        self.assertSays("Owner stands a second time")

    def test_a_number_is_read_with_its_own_unit_only(self):
        field = {"type": "number", "unit": "days", "line": "interval:"}
        read = {"7 days": 7, "7 d": 7, "7d": 7, "-2 days": -2, "0 days": 0, "2.50 days": Decimal("2.5"),
                "2,4 days": Decimal("2.4")}
        for raw, value in read.items():
            self.assertEqual(page.value_of(raw, field, UNITS), value, raw)
        for raw in ("7", "7 hours", "7 days or 9", "1,200 days", "1.2.3 days", "about 7 days", "+7 days", "٧ days",
                    "7 – 9 days", ""):
            with self.subTest(raw), self.assertRaises(ValueError):
                page.value_of(raw, field, UNITS)

    def test_a_bare_number_takes_the_unit_of_its_label(self):
        field = {"type": "number", "unit": "days", "line": "days to harvest:"}
        self.assertEqual(page.value_of("59", field, UNITS), 59)


class TestFields(Folder):
    GOOD = {"units": {"days": ["day", "days"]}, "sections": {"sent": ["Plan"], "withheld": ["Owner"]}, "fields": [
        {"name": "days", "type": "number", "unit": "days", "nullable": True, "not_stated": ["none"], "section": "Plan",
         "line": "days:", "description": "-"},
        {"name": "status", "type": "enum", "allowed": ["on", "off"], "nullable": False, "section": "Plan",
         "line": "status:", "description": "-"},
        {"name": "verdict", "type": "enum", "allowed": "$decisions", "nullable": False, "decided": True,
         "description": "-"}]}

    def read(self, never_read=(), **changes):
        """The problems of the good list with changes {"place key": value}; None takes the key out."""
        import copy
        import json
        data = copy.deepcopy(self.GOOD)
        for where, value in changes.items():
            place, key = where[1:].split("_", 1)
            data["fields"][int(place)].pop(key, None)
            data["fields"][int(place)].update({key: value} if value is not None else {})
        self.report._found.clear()
        self.write("fields.json", json.dumps(data))
        self.fields = page.read_fields(self.report, {"$decisions": ["go", "stop"]}, never_read)
        return " / ".join(self.said())

    def test_a_sound_list_is_read_and_names_are_resolved(self):
        self.assertEqual(self.read(), "")
        self.assertEqual([*self.fields.copied], ["days", "status"])
        self.assertEqual(self.fields.all["verdict"]["allowed"], ["go", "stop"])

    def test_each_fault_of_a_field_is_named(self):
        faults = [({"f0_section": None}, "section is missing"), ({"f0_line": None}, "line is missing"),
                  ({"f0_line": ""}, "Plan holds 2 fields"), ({"f0_line": "status:"}, "before no other"),
                  ({"f0_section": "Owner"}, "withheld"), ({"f0_section": "Pln"}, "did you mean Plan?"),
                  ({"f0_unit": "dyas"}, "did you mean days?"), ({"f0_unit": None}, "unit is missing"),
                  ({"f1_unit": "days"}, "only a number has one"), ({"f0_type": "nubmer"}, "did you mean number?"),
                  ({"f0_nullable": False}, "not_stated"), ({"f0_not_stated": None}, "not_stated"),
                  ({"f1_allowed": None}, "allowed is missing"), ({"f2_allowed": "$rules"}, "$decisions"),
                  ({"f2_line": "x:"}, "stands nowhere"), ({"f1_name": "days"}, "stands twice"),
                  ({"f0_lable": "x"}, 'unknown key "lable"'), ({"f0_description": None}, "description missing")]
        for changes, said in faults:
            with self.subTest(said):
                self.assertIn(said, self.read(**changes))

    def test_a_field_that_no_rule_may_read_is_marked_so(self):
        self.assertIn("write true", self.read(never_read={"days"}))
        self.assertEqual(self.read(never_read={"days"}, f0_never_read=True), "")


class TestLedger(Folder):
    def tables(self, text=POLICY):
        self.write("policy.md", text)
        return ledger.tables(self.report, "policy.md", HEADS)

    def test_tables_are_found_by_their_heads_and_prose_is_passed_over(self):
        self.assertEqual(self.tables(), {"checks": [("1", "crop", "crop in crops"), ("2", "rate", "rate <= limit")],
                                         "marks": [("late", "days < 0 days")]})

    def test_a_missing_head_and_a_short_row_are_reported(self):
        self.assertIsNone(self.tables(POLICY.replace("| mark |", "| marks |")))
        self.assertSays("no table headed | mark | set when |")
        self.report._found.clear()
        self.assertEqual(self.tables(POLICY.replace("| 2 | `rate`", "| `rate`"))["checks"][1], None)
        self.assertSays("line 6", "2 cells")
        self.report._found.clear()
        self.tables(POLICY + "\n| mark | set when |\n|---|---|\n")
        self.assertSays("line 12", "a second table")

    def test_prose_is_held_against_the_tables(self):
        rows = {"rules": [("1", "RU-1", "days < 5 days", "STOP"), ("2", "RU-2", "", "GO"), None],
                "marks": [("late", "x")]}
        for text, told in (("`RU-1` and `STOP` by\n`RU-1`, as `policy.md` says.", None),
                           ("RU-1 gives STOP; `late`.", None),
                           ("* `RU-1`: five days.\n* `RU-2`: seven things.", None),
                           ("`RU-1`, `RU-2`: nine days", None),
                           ("| `RU-9` | nine days |", None), ("`GO` by `RU-1`", "that rule gives STOP"),
                           ("`RU-3` decides.", "RU-3 stands in no table"),
                           ("By RU-22 it stops.", "RU-22 stands in no table"),
                           ("`other.md` says so", "other.md stands in no table"),
                           ("* `RU-2`: any.\n* `RU-1`: within six days.", "six days: RU-1 reads days < 5 days")):
            self.report._found.clear()
            self.write("policy.md", text)
            blocks = ledger.prose(self.report, "policy.md", rows, ("rules",))
            self.assertEqual(len(blocks), text.count("*") or not text.startswith("|"), text)
            self.assertSays(told) if told else self.assertEqual(self.said(), [], text)

    def test_two_renderings_are_compared_cell_by_cell(self):
        theirs = self.tables()
        ours = {"checks": [("1", "crop", "crop in crops"), ("2", "rate", "rate < limit")], "marks": []}
        ledger.compare(self.report, HEADS, "a.json", ours, "policy.md", theirs)
        self.assertEqual(len(self.said()), 2, self.said())
        self.assertIn("a.json: checks row 2: has to hold is rate < limit here and rate <= limit", self.said()[0])
        self.assertIn("policy.md: marks row 1: late", self.said()[1])

    def test_json_conditions_are_written_as_the_tables_write_them(self):
        written = {"days < 0 days": {"field": "days", "test": "<", "value": 0, "unit": "days"},
                   "days >= gap": {"field": "days", "test": ">=", "value": "$gap"},
                   "days >= 2.5": {"field": "days", "test": ">=", "value": Decimal("2.50")},
                   'a == "none" or b is stated': {"any": [{"field": "a", "test": "==", "value": "none"},
                                                          {"field": "b", "test": "is stated"}]}}
        for text, data in written.items():
            self.assertEqual(ledger.condition(self.report, "a.json", "row", data), text)
        self.assertEqual(self.said(), [])

    def test_a_word_and_a_field_of_that_name_are_two_things(self):
        values = {"a": "b", "b": "c"}
        self.assertTrue(ledger.truth('a == "b"', values))
        self.assertFalse(ledger.truth("a == b", values))

    def test_truth_has_three_values(self):
        values = {"x": None, "y": "none", "n": Decimal("2.0"), "m": 2, "many": "Red  Beet, spring wheat"}
        truths = {"n <= m": True, "n < m": False, "n == 2": True, "n != m": False, "x == m": None, "x is stated": False,
                  "y is stated": True, 'y == "None"': True, 'x == "none" or y == "none"': True,
                  'x == "none" or y == "some"': None, 'x == "none" and y == "some"': False,
                  'x == "none" and y == "none"': None, "y in many": False, "x not in many": None, "y not in x": None}
        for text, truth in truths.items():
            self.assertIs(ledger.truth(text, values), truth, text)

    def test_names_match_whole_whatever_their_case_and_blanks(self):
        for name, listed in {"red beet": True, " RED beet ": True, "beet": False, "wheat": False, "red": False}.items():
            self.assertIs(ledger.truth("name in many", {"name": name, "many": "Red  Beet, spring wheat"}), listed, name)

    def test_a_condition_that_cannot_be_walked_is_refused_with_the_reason(self):
        reasons = {"crpo in crops": "did you mean crop?", "crop in corps": "did you mean crops?",
                   "days =< gap": "no condition", "days < stay": "in hours", "days < 3 hours": "in hours",
                   "days < 3": "no unit", "days < crop": "no truth",
                   "crop in crop": "no truth", "days in crops": "no truth", 'crop < "wheat"': "no truth",
                   'days == "none"': "no truth", 'status == "doen"': "did you mean done?", "days <": "needs an operand",
                   "days is stated gap": "takes no operand", 'note == "fine"': "reaches no rule", "": "no condition",
                   'days < gap and crop == "a" or crop == "b"': "no condition"}
        for text, said in reasons.items():
            with self.subTest(text):
                self.report._found.clear()
                self.assertFalse(ledger.vet(self.report, "a.json", "row", text, "", KNOWN), text)
                self.assertSays("row", said)

    def test_a_condition_that_can_be_walked_is_silent(self):
        for text in ("crop in crops", "days >= gap days", "days < 0 days", 'status != "planned"', "note2 is stated"):
            known = {**KNOWN, "note2": {"type": "string"}}
            self.assertTrue(ledger.vet(self.report, "a.json", "row", text, "", known), self.said())
        self.assertFalse(ledger.vet(self.report, "a.json", "row", "days >= gap", "hours", KNOWN))


class TestJoins(Folder):
    def test_both_directions_of_a_join_are_reported(self):
        for name in "AB":
            self.write(f"corpus/{name}.txt", "x")
        self.write("rows.jsonl", '{"id": "B"}\n{"id": "C"}\n')
        documents = labels.corpus(self.report, None)
        rows = strict.Rows(self.report, "rows.jsonl")
        self.assertEqual([*labels.join(self.report, documents, rows)], ["A", "B", "C"])
        self.assertEqual(self.said(), ["rows.jsonl: C: no corpus/C.txt; add the document or delete the row",
                                       "corpus/A.txt: A: no row in rows.jsonl; add the row or take the document out"])

    def test_a_file_that_is_no_document_and_an_empty_corpus_are_reported(self):
        self.assertEqual(labels.corpus(self.report, "DOC-00"), {})
        self.assertSays("corpus: cannot be read")
        self.write("corpus/DOC-1.txt", "x")
        self.write("corpus/DOC-01.txt", "x")
        self.assertEqual(labels.corpus(self.report, "DOC-00"), {"DOC-01": "corpus/DOC-01.txt"})
        self.assertIn("corpus/DOC-1.txt: is no document; call it DOC-00.txt", self.said()[1])

    def test_a_floor_is_reached_at_its_number(self):
        labels.at_least(self.report, "a.json", "hard family", Counter({"x": 2, "y": 1}), {"x": 2, "y": 2})
        self.assertSays("a.json: y: 1 documents of this hard family, 2 are wanted at least")
        self.assertEqual(self.report.counts["hard family x, at least 2"], 2)

    def test_problems_come_file_by_file_in_the_given_order(self):
        for file in ("corpus/2", "rows.jsonl", "corpus/1", "a.json", "rows.jsonl"):
            self.report.add(file, "", f"problem {len(self.said())}")
        self.assertEqual([problem.file for problem in self.report.problems],
                         ["a.json", "rows.jsonl", "rows.jsonl", "corpus/1", "corpus/2"])


class TestRepeats(Folder):
    def test_a_sentence_may_come_again_after_four_other_documents_and_not_before(self):
        recent = []
        for name, texts in (("a", ["x", "y"]), ("b", []), ("c", []), ("d", []), ("e", ["x"]), ("f", ["y", "z"])):
            recent = labels.repeats(self.report, name, texts, recent)
        self.assertSays("e: ", '"x" stands in a too, within 5 documents')


class TestUnplaced(unittest.TestCase):
    def test_each_plan_takes_a_document_of_its_own_even_where_the_first_choice_has_to_give_way(self):
        fits = lambda plan, document: document in plan
        self.assertEqual(labels.unplaced(["ab", "a"], ["a", "b"], fits), [])
        self.assertEqual(labels.unplaced(["ab", "a", "b"], ["a", "b"], fits), ["b"])
        self.assertEqual(labels.unplaced(["abc", "a", "ab"], ["a", "b", "c"], fits), [])
        self.assertEqual(labels.unplaced(["c"], ["a", "b"], fits), ["c"])
        self.assertEqual(labels.unplaced([], ["a"], fits), [])


class TestSame(unittest.TestCase):
    def test_values_that_only_look_alike_are_not_the_same(self):
        for one, other in ((1, True), (1, Decimal("1.0")), (0, False), (None, False), ("1", 1), ([], {}), ([1], [True]),
                           ({"a": 1}, {"a": Decimal(1)}), ({"a": 1}, {"b": 1}), ([1, 2], [2, 1]), ([1], [1, 1])):
            self.assertFalse(strict.same(one, other), (one, other))
            self.assertTrue(strict.same(one, one) and strict.same(other, other))
        self.assertTrue(strict.same({"a": [1, None], "b": "x"}, {"b": "x", "a": [1, None]}))


class TestNamed(Folder):
    def test_objects_come_by_name_and_what_is_none_is_reported_and_left_out(self):
        self.write("a.json", '[{"id": "A", "n": 1}, 3, {"id": "B"}, {"id": "C", "n": true}, {"id": "A", "n": 2}]')
        found = strict.read_named(self.report, "a.json", "id", {"id": str, "n": int})
        self.assertEqual(found, {"A": {"id": "A", "n": 2}})
        self.assertEqual([problem.row for problem in self.report.problems], ["2", "B", "C", "A"])

    def test_what_is_no_list_is_reported(self):
        self.write("a.json", "{}")
        self.assertEqual(strict.read_named(self.report, "a.json", "id", {"id": str}), {})
        self.assertSays("a.json: {}: a list of objects is wanted")


class TestKit(Folder):
    def test_another_kits_marker_is_reported_and_one_without_shape_is_empty(self):
        self.write("kit.json", '{"kit": "other", "size": 2, "planned": {"a": 1}}')
        keys = {"kit": str, "size": int, "planned": dict}
        self.assertEqual(labels.read_kit(self.report, "mine", keys)["size"], 2)
        self.assertSays("this is the gate of mine")
        self.report._found.clear()
        self.write("kit.json", '{"kit": "mine", "id": ""}')
        labels.read_kit(self.report, "mine", {"kit": str, "id": str})
        self.assertSays('kit.json: id: "": the form of a document')
        self.write("kit.json", '{"kit": "mine", "size": "2", "planned": {}}')
        self.assertEqual(labels.read_kit(self.report, "mine", keys), {"kit": None, "size": None, "planned": {}})


class TestFieldRows(Folder):
    ENTRY = {"name": "rate", "type": "number", "unit": "days", "nullable": True, "description": "how long"}

    def rows(self, **changed):
        entry = {name: value for name, value in {**self.ENTRY, **changed}.items() if value is not ...}
        self.write("a.json", strict.json.dumps({"units": {"days": ["day", "d"]}, "fields": [entry]}))
        return page.field_rows(self.report, "a.json")

    def test_a_field_is_a_row_of_everything_that_it_says(self):
        self.assertEqual(self.rows(), ([("rate", "number", "days", "yes", "", "", "how long")], [("days", "day, d")]))
        (row,), _ = self.rows(type="enum", unit=..., allowed=["a", "b"], nullable=False, decided=True, section="S",
                              line="L:")
        self.assertEqual(row, ("rate", "enum", "a, b", "no", "decided", "S / L:", "how long"))
        places = [self.rows(**where)[0][0][5] for where in ({"section": "S", "line": ""}, {"section": "S"}, {})]
        self.assertEqual(places, ["S /", "S", ""], "the whole section is another place than no line")
        (row,), _ = self.rows(not_stated=["unknown"], never_read=True, decided=False)
        self.assertEqual(row[2:5], ("days; unknown", "yes", "never_read"))
        self.assertEqual(self.said(), [])

    def test_a_field_without_shape_is_told_and_is_no_row(self):
        for changed, told in (({"type": ...}, "type missing"), ({"allowed": 3}, "allowed 3"),
                              ({"nulable": True}, "nulable"), ({"nullable": "yes"}, "nullable")):
            self.report._found.clear()
            (row,), _ = self.rows(**changed)
            self.assertSays(told)
            self.assertEqual(row is None, "nulable" not in changed)


class TestPrivacy(Folder):
    WITHHELD = "Ada Miller -- member NO-12345\nnone"

    def judge(self, sent, guarded, whole):
        labels.privacy(self.report, "a.txt", "A", self.WITHHELD, sent, lambda name, guard: guarded if guard else whole)

    def test_a_sound_guard_is_counted_in_both_directions(self):
        self.judge("the crop", "read the crop", "read the crop. " + self.WITHHELD)
        self.assertEqual(self.said(), [])
        self.assertEqual((self.report.counts[labels.WITH_GUARD], self.report.counts[labels.WITHOUT_GUARD]), (0, 1))

    def test_a_part_in_other_case_or_a_bare_code_is_a_leak(self):
        for leak in ("ADA  miller", "no-12345"):
            self.report._found.clear()
            self.judge("the crop", f"read {leak}", self.WITHHELD)
            self.assertSays("repair the guard")

    def test_a_guard_that_changes_nothing_proves_nothing(self):
        self.judge("the crop", "read the crop", "read the crop")
        self.assertSays("proves nothing")

    def test_a_withheld_name_in_a_section_that_is_sent_is_found_without_any_prompt(self):
        labels.privacy(self.report, "a.txt", "A", self.WITHHELD, "rang Ada Miller", None)
        self.assertSays('"ada miller"', "take it out")

    def test_a_prompt_that_cannot_be_made_is_a_problem(self):
        def prompts(name, guarded):
            raise ValueError("no such document")
        labels.privacy(self.report, "a.txt", "A", self.WITHHELD, "", prompts)
        self.assertSays("no prompt can be made: no such document")


class TestIndependence(unittest.TestCase):
    def test_the_gates_stations_import_only_the_standard_library_and_each_other(self):
        for station in (dates, labels, ledger, page, strict):
            for node in ast.walk(ast.parse(Path(station.__file__).read_text("utf-8"))):
                names = [node.module] if isinstance(node, ast.ImportFrom) else \
                    [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                for name in names:
                    self.assertIn(name, {"json", "re", "operator", "collections", "decimal", "functools", "itertools",
                                         "pathlib", "difflib", "unicodedata", "weakref", "evals.shared.strict"},
                                  station.__name__)

    def test_the_examples_in_the_docstrings_hold(self):
        for station in (ledger, page):
            self.assertEqual(doctest.testmod(station).failed, 0)


if __name__ == "__main__":
    unittest.main()
