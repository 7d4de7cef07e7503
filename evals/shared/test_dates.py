"""Days counted by hand are the days of the calendar."""
import datetime
import doctest
import random
import unittest

from evals.shared import dates


class TestDayNumber(unittest.TestCase):
    def test_days_counted_by_hand_are_the_days_of_the_calendar(self):
        first, chance = dates.day_number("2000-01-01"), random.Random(1)
        for day in [datetime.date(2000, 2, 28), datetime.date(2100, 3, 1), *(
                datetime.date(2000, 1, 1) + datetime.timedelta(chance.randrange(60000)) for _ in range(300))]:
            self.assertEqual(dates.day_number(day.isoformat()) - first, (day - datetime.date(2000, 1, 1)).days)
        for text in ("2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "12/06/2026", "", None, "2026-06-31"):
            self.assertIsNone(dates.day_number(text))

    def test_the_examples_in_the_docstrings_hold(self):
        self.assertEqual(doctest.testmod(dates).failed, 0)


class TestMoment(unittest.TestCase):
    def test_a_moment_is_a_date_and_a_time_of_that_day(self):
        for text, is_one in (("2026-07-14 23:59", True), ("2026-07-14 00:00", True), ("2028-02-29 12:00", True),
                             ("2026-07-14 24:00", False), ("2026-02-29 12:00", False), ("2026-07-14", False),
                             ("2026-07-14T23:59", False), ("2026-07-14 7:05", False), ("2026-07-14 23:59:00", False)):
            self.assertIs(dates.is_moment(text), is_one, text)


if __name__ == "__main__":
    unittest.main()
