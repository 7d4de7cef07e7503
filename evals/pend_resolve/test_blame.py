"""Why a record of five answers is not all right, on rows of the key with one thing changed."""
import unittest

from evals.shared.test_blame import Blames
from src.pend_resolve import release
from src.shared import blame


class TestBlame(Blames, unittest.TestCase):
    name = "pend_resolve"

    def test_a_clock_state_is_counted_and_a_release_is_given(self):
        row = self.row(clock="WITHIN-CLOCK")
        self.assertEqual(self.blame(row, clock="BREACHED"), ((blame.ARITHMETIC, None, "clock"), None))
        self.assertEqual(self.blame(row, release=release.AUTO), ((blame.MISAPPLIED, None, "release"), None))

    def test_a_resolution_that_the_register_does_not_give(self):
        row = self.row(resolution="RELEASE-AS-BILLED")
        self.assertEqual(self.blame(row, resolution="ADJUST-AND-RELEASE"), ((blame.MISAPPLIED, "PR-3", None), None))

    def test_a_misread_cause_names_the_rule_at_which_it_turns_the_resolution(self):
        row = self.row(resolution="DENY-CLAIM", cause_class="ELIG-MISMATCH")
        found = self.blame(row, cause_class="DUP-SUSPECT", resolution="ROUTE-SPECIALIST")
        self.assertEqual(found, ((blame.MISREAD, "PR-5", "cause_class"),) * 2)

    def test_a_citation_is_read_too(self):
        found = self.blame(self.gold[0], citation="no such line")
        self.assertEqual(found, ((blame.MISREAD, None, "citation"),) * 2)
        self.assertEqual(self.blame(self.gold[0], citation=None)[0], (blame.NO_ANSWER, None, "citation"))
