"""Why a support verdict is wrong, on rows of the key with one thing changed."""
import unittest

from evals.shared.test_blame import Blames
from src.admission_status import elements
from src.shared import blame


class TestBlame(Blames, unittest.TestCase):
    name = "admission_status"

    def reply(self, row, changed):
        return elements.nest({**elements.flatten({key: row[key] for key in elements.KEYS}), **changed})

    def test_midnights_that_were_counted_wrong(self):
        for is_one, stated in ((elements.SUPPORTED, elements.NOT_MET), (elements.NOT_MET, elements.SUPPORTED)):
            found = self.blame(self.row(support=is_one), support=stated)
            self.assertEqual(found, ((blame.ARITHMETIC, "TM-4", "midnights"), None))

    def test_a_gap_that_is_called_unmet_is_no_arithmetic(self):
        found = self.blame(self.row(support=elements.EXPECTATION_GAP), support=elements.NOT_MET)
        self.assertEqual(found, ((blame.MISAPPLIED, "TM-3", None), None))

    def test_an_order_that_was_seen_where_none_stands(self):
        row = self.row(support=elements.ORDER_GAP)
        words = self.kit.book.elements[elements.ORDER].words
        found = self.blame(row, **{elements.ORDER: words[elements.PRESENT]}, support=elements.SUPPORTED)
        self.assertEqual({each[0] for each in found if each}, {blame.MISREAD})
        self.assertEqual(found[0][2], elements.ORDER)

    def test_a_date_that_was_misread_behind_the_count(self):
        row = next(row for row in self.gold if row["support"] == elements.SUPPORTED
                   and elements.flatten(row)[elements.DISCHARGE])
        admitted = self.kit.book.records[row["id"]]["admitted_at"][:10]
        found = self.blame(row, expected_discharge=admitted, support=elements.NOT_MET)
        self.assertEqual(found, ((blame.MISREAD, "TM-4", elements.DISCHARGE),) * 2)
