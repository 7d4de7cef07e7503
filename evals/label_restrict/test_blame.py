"""Why a verdict is wrong, on rows of the key with one thing changed."""
import unittest

from evals.shared.test_blame import Blames
from src.shared import blame


class TestBlame(Blames, unittest.TestCase):
    name = "label_restrict"

    def rule(self, field):
        """The check over a field: its answers, should it decide, and its id."""
        rule = next(rule for rule in self.kit.book.table.rules if rule["field"] == field)
        return {"verdict": rule["decision"], "deciding_restriction": rule["id"]}, rule["id"]

    def inside(self):
        """The answers of a plan that every check lets through."""
        return dict(zip(("verdict", "deciding_restriction"), self.kit.book.table.document["passed"].values()))

    def test_a_misread_distance_that_stops_a_plan(self):
        stopped, name = self.rule("distance_to_water_m")
        found = self.blame(self.row(**self.inside()), distance_to_water_m=0, **stopped)
        self.assertEqual(found, ((blame.MISREAD, name, "distance_to_water_m"),) * 2)

    def test_a_value_that_the_page_does_not_state_and_the_reply_does(self):
        _, name = self.rule("crop_proposed")
        row = self.row(permitted_crops=None, deciding_restriction=name)
        found = self.blame(row, permitted_crops=row["crop_proposed"], **self.inside())
        self.assertEqual(found[0], (blame.MISREAD, name, "permitted_crops"))

    def test_right_values_and_another_verdict_than_follows(self):
        stopped, name = self.rule("tank_mix_partner")
        self.assertEqual(self.blame(self.row(**self.inside()), **stopped), ((blame.MISAPPLIED, name, None), None))

    def test_a_breach_that_was_overlooked(self):
        stopped, name = self.rule("days_to_harvest")
        self.assertEqual(self.blame(self.row(**stopped), **self.inside()), ((blame.MISAPPLIED, name, None), None))

    def test_a_verdict_that_is_left_out(self):
        found = self.blame(self.row(**self.inside()), verdict=None)
        self.assertEqual(found, ((blame.NO_ANSWER, None, "verdict"), None))
