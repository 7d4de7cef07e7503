"""Why a stage is wrong, on readings of the key with one thing changed."""
import unittest

from evals.shared.test_blame import Blames
from src.legal_hold.legalhold import CUSTODIAN, NOT_CUSTODIAN
from src.shared import blame


class TestBlame(Blames, unittest.TestCase):
    name = "legal_hold"

    def people(self, row, **changed):
        return [{**person, "hold_status": changed.get(person["id"], person["hold_status"])}
                for person in row["candidates"]]

    def test_a_missed_custodian_who_makes_the_stage(self):
        row = self.row(matter_stage="SCOPING")
        nobody = {person["id"]: NOT_CUSTODIAN for person in row["candidates"]}
        first = next(person["id"] for person in row["candidates"] if person["hold_status"] == CUSTODIAN)
        found = self.blame(row, candidates=self.people(row, **nobody), matter_stage="MONITORING")
        self.assertEqual(found[0], (blame.MISREAD, "L-7d", f"hold_status.{first}"))

    def test_new_custodians_that_were_overlooked(self):
        self.assertEqual(self.blame(self.row(matter_stage="SCOPING"), matter_stage="MONITORING"),
                         ((blame.MISAPPLIED, "L-7d", None), None))

    def test_days_of_silence_that_were_not_counted(self):
        self.assertEqual(self.blame(self.row(matter_stage="ESCALATION_NEEDED"), matter_stage="MONITORING"),
                         ((blame.ARITHMETIC, "L-7e", "newly_overdue"), None))
