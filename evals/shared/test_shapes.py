"""Kinds of values: everything wrong with an object is said with its place, and what is sound can still be used."""
import tempfile
import unittest
from pathlib import Path

from src.shared import fields, shapes, walk
from src.shared.files import BadData, to_json, write_text

WORDS = shapes.some(shapes.list_of(shapes.SAID))
POLICY = {"as_of": shapes.DATE, "causes": shapes.some(shapes.TEXTS_BY_NAME), "limit": shapes.record(
    {"value": shapes.FROM_1, "unit": shapes.TEXT}, ("unit",)), "events": shapes.by_name(WORDS)}
RIGHT = {"as_of": "2028-02-29", "causes": {"A": "because"}, "limit": {"value": 2}, "events": {"ack": ["answered"]}}
FIELDS = {"units": {"days": ["day"]}, "fields": [
    {"name": "days_left", "type": "number", "unit": "days", "nullable": True, "description": "-"},
    {"name": "cause", "type": "enum", "allowed": "$causes", "nullable": True, "description": "-"},
    {"name": "state", "type": "enum", "allowed": "$decisions", "nullable": True, "description": "-", "decided": True}]}
TABLE = {"stops_at": "match", "decisions": {"late": "-", "on time": "-"},
         "passed": {"decision": "on time", "rule": "none"}, "missing": {"decision": None}, "rules": [
             {"id": "R-1", "order": 1, "decision": "late", "why": "-",
              "when": {"field": "days_left", "test": "<", "value": 0, "unit": "days"}},
             {"id": "R-2", "order": 2, "decision": "late", "why": "-",
              "when": {"field": "cause", "test": "==", "value": "A"}}]}


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "data.json"

    def written(self, value):
        write_text(self.path, value if isinstance(value, str) else to_json(value))
        return self.path


class TestReading(InAFolder):
    def read(self, value, **options):
        problems = []
        return shapes.read(self.written(value), POLICY, problems, **options), problems

    def test_what_is_right_is_given_as_it_stands(self):
        self.assertEqual(self.read(RIGHT), (RIGHT, []))

    def test_everything_wrong_is_said_with_its_place_and_the_rest_can_be_used(self):
        found, problems = self.read({"as_of": "2027-02-29", "causes": {"A": 3, "B": None}, "limit": {"vlaue": 2},
                                     "events": RIGHT["events"], "exra": 1})
        self.assertEqual(found, {"as_of": None, "causes": None, "limit": None, "events": RIGHT["events"]})
        for words in ("/: as_of '2027-02-29' is not a date", "/causes: A 3 is not a text", "/causes: B None is not",
                      "/limit: value is missing; a whole number from 1 is wanted",
                      "/limit: unknown key 'vlaue' (did you mean value?)", "/: unknown key 'exra'"):
            self.assertTrue(any(problem.startswith(f"{self.path}: {words}") for problem in problems), (words, problems))
        self.assertEqual(len(problems), 6)

    def test_a_list_inside_is_named_by_its_number(self):
        _, problems = self.read({**RIGHT, "events": {"ack": ["answered", " "], "notice": []}})
        self.assertEqual([problem.partition(": ")[2] for problem in problems],
                         ["/events/ack: 1 ' ' is not a text that says something",
                          "/events: notice [] is not a list of at least one"])

    def test_what_is_no_object_at_all_is_said_once(self):
        for value in ("null", "[]", "3", '"x"', "{", '{"a": 1, "a": 2}', "[" * 900 + "]" * 900):
            found, problems = self.read(value)
            self.assertEqual((set(found.values()), len(problems)), ({None}, 1), value[:20])
            self.assertTrue(problems[0].startswith(f"{self.path}: "), problems)

    def test_keys_beside_the_known_ones_are_kept_where_they_may_stand(self):
        self.assertEqual(self.read({**RIGHT, "mine": 3}, beside=True), ({**RIGHT, "mine": 3}, []))

    def test_a_key_that_may_be_left_out_is_still_judged(self):
        left_out = {key: value for key, value in RIGHT.items() if key != "limit"}
        self.assertEqual(self.read(left_out, some=("limit",)), (left_out, []))
        self.assertEqual(len(self.read({**left_out, "limit": None}, some=("limit",))[1]), 1)


class TestRows(InAFolder):
    def test_rows_are_given_by_id(self):
        rows = [{"id": "A", "on": "x", "more": 1}, {"id": "B", "on": "y"}]
        self.assertEqual(shapes.read_rows(self.written(rows), {"on": shapes.TEXT}), {row["id"]: row for row in rows})

    def test_every_row_that_is_none_is_named(self):
        rows = [{"id": ["A"], "on": "x"}, 3, {"on": "x"}, {"id": "A", "on": 2},
                {"id": "B", "on": "x"}, {"id": "B", "on": "y"}]
        with self.assertRaises(BadData) as caught:
            shapes.read_rows(self.written(rows), {"on": shapes.TEXT})
        self.assertEqual([problem.partition(": ")[2][:5] for problem in caught.exception.problems],
                         ["row 1", "row 2", "row 3", "row 4", "row 6"])
        self.assertRaises(BadData, shapes.read_rows, self.written({}), {})


class TestTogether(InAFolder):
    """A table and its fields: what one says of the other is said only where the other can be read."""

    def opened(self, fields_file, table, given=None, asked=None, causes=("A", "B")):
        problems = []
        document = walk.outline("rules.json: /rules", table, problems)
        found = fields.load(self.written(fields_file), {**walk.vocabulary(document), "causes": causes}, problems, asked)
        return walk.load("rules.json: /rules", document, found, problems, given), problems

    def test_a_sound_pair_is_a_table(self):
        table, problems = self.opened(FIELDS, TABLE, ("days_left", "cause"), {"cause": "enum", "state": None})
        self.assertEqual(problems, [])
        self.assertEqual(table.decide({"days_left": -1, "cause": None}, {}).rule, "R-1")

    def test_rules_are_judged_where_the_fields_cannot_be_read(self):
        broken = {**TABLE, "rules": [{**TABLE["rules"][0], "decision": "lat"}, 3, {**TABLE["rules"][1], "order": "2"}]}
        for fields_file in ("{", "[]", {"fields": []}, {"fields": [4]}):
            table, problems = self.opened(fields_file, broken)
            self.assertIsNone(table)
            self.assertEqual([problem.split(":")[0] for problem in problems], [f"{self.path}", *["rules.json"] * 3])

    def test_nothing_is_said_of_words_that_could_not_be_read(self):
        table, problems = self.opened(FIELDS, {**TABLE, "decisions": 3}, causes=None)
        self.assertIsNone(table)
        self.assertEqual(len(problems), 1, problems)
        self.assertEqual(self.opened(FIELDS, None), (None, []))

    def test_a_field_that_code_asks_for_is_wanted_by_its_name_and_type(self):
        _, problems = self.opened(FIELDS, TABLE, asked={"days_lefft": "number", "cause": "list"})
        self.assertEqual(len(problems), 2)
        self.assertIn("days_lefft is missing; code asks for a field of this name (did you mean days_left?)",
                      problems[0])
        self.assertIn("(cause): type 'enum': code asks for a list here", problems[1])

    def test_a_rule_may_read_only_what_the_table_is_given(self):
        table, problems = self.opened(FIELDS, TABLE, ("days_left",))
        self.assertIsNone(table)
        (told,) = problems
        self.assertEqual(told, "rules.json: /rules: cause is given to no rule of this table; it may read days_left")

    def test_conditions_that_nobody_could_read_are_refused(self):
        clause = TABLE["rules"][0]["when"]
        for _ in range(40):
            clause = {"not": clause}
        _, problems = self.opened(FIELDS, {**TABLE, "rules": [{**TABLE["rules"][0], "when": clause}]})
        self.assertEqual(len(problems), 1)
        self.assertIn("nests more than 20 deep", problems[0])


if __name__ == "__main__":
    unittest.main()
