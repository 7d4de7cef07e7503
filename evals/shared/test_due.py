"""tools.due on a schedule of its own: what is past due, missing, out of order or stale, and what is left alone."""
import contextlib
import datetime
import io
import unittest
from unittest import mock

from src.shared import kit as kits
from tools import due

DAY = datetime.date(2026, 1, 12)


def position(run, snapshot, following, previous=None, run_on=None, chain="M-1", runs=3):
    return {"chain": chain, "run": run, "runs": runs, "document": f"{chain}-R{run}", "snapshot": snapshot,
            "run_on": run_on or snapshot, "previous": previous, "next": following, "follows": 0}


FIRST = position(1, "2025-10-06", "2025-11-05")
SECOND = position(2, "2025-11-05", "2026-01-04", "2025-10-06")
LAST = position(3, "2026-01-04", None, "2025-11-05")


def schedule(*positions, problems=(), is_kept=False):
    return {"positions": list(positions), "problems": list(problems), "stale_after_days": 7, "is_kept": is_kept}


class TestFindings(unittest.TestCase):
    def test_a_chain_that_is_kept_has_no_finding(self):
        self.assertEqual(due.findings(schedule(FIRST, SECOND, LAST), DAY), [])

    def test_a_run_is_past_due_the_day_after_its_date(self):
        for day, number in ((4, 0), (5, 1)):
            found = due.findings(schedule(FIRST, SECOND), datetime.date(2026, 1, day))
            self.assertEqual(len(found), number)
        self.assertEqual(found, ["M-1: run 3 was due on 2026-01-04, 1 day ago, and has not been taken"])

    def test_a_missing_run_is_named(self):
        self.assertEqual(due.findings(schedule(FIRST, LAST), DAY), ["M-1: run 2 is missing, though run 3 was taken"])

    def test_a_kept_run_of_a_later_day_is_a_slip_and_named(self):
        other = position(1, "2026-01-05", None, chain="M-2", runs=1, run_on="2062-01-05")
        told = due.findings(schedule(FIRST, SECOND, LAST, other, is_kept=True), DAY)
        self.assertEqual(len(told), 1)
        self.assertIn("M-2: run 1 is said to have been taken on 2062-01-05", told[0])

    def test_a_roster_of_a_day_after_the_run_is_not_fresh(self):
        early = position(1, "2025-11-05", "2026-02-05", run_on="2025-10-01")
        self.assertEqual(due.freshness(schedule(early), DAY), [("M-1", 1, -35, True)])

    def test_runs_out_of_order_or_twice_are_named(self):
        early = position(2, "2025-10-01", "2026-01-04", "2025-10-06")
        self.assertIn("out of order", due.findings(schedule(FIRST, early, LAST), DAY)[0])
        self.assertEqual(due.findings(schedule(FIRST, FIRST, SECOND, LAST), DAY),
                         ["M-1: run 1 was taken 2 times: M-1-R1, M-1-R1"])

    def test_a_run_that_follows_another_snapshot_is_named(self):
        other = position(2, "2025-11-05", "2026-01-04", "2025-10-07")
        self.assertIn("follows a snapshot of 2025-10-07", due.findings(schedule(FIRST, other, LAST), DAY)[0])

    def test_runs_after_the_day_are_not_looked_at(self):
        self.assertEqual(due.findings(schedule(FIRST, SECOND, LAST), datetime.date(2025, 11, 5)), [])
        self.assertEqual(len(due.findings(schedule(FIRST, SECOND, LAST), datetime.date(2025, 11, 4))), 0)

    def test_an_extract_that_cannot_be_read_is_a_finding(self):
        self.assertEqual(due.findings(schedule(FIRST, SECOND, LAST, problems=["x.txt: no position"]), DAY),
                         ["x.txt: no position"])

    def test_nothing_at_all_is_no_all_clear(self):
        for found, day in ((schedule(), DAY), (schedule(FIRST), datetime.date(2025, 10, 5))):
            self.assertIn("no run of any chain was found", due.findings(found, day)[0])

    def test_a_roster_is_stale_past_the_threshold(self):
        for run_on, is_stale in (("2026-01-11", False), ("2026-01-12", True)):
            found = due.freshness(schedule(FIRST, SECOND, position(3, "2026-01-04", None, "2025-11-05", run_on)), DAY)
            self.assertEqual([entry[3] for entry in found], [is_stale])


class TestCommand(unittest.TestCase):
    def run_on(self, found, *words):
        """(exit code, output) of the command over one kit whose schedule is `found`, or None for a kit without one."""
        definition = mock.Mock(schedule=found and (lambda book: found))
        kit = mock.Mock(definition=definition)
        kit.name = "some_kit"
        out = io.StringIO()
        with mock.patch.object(kits, "load", return_value=kit), mock.patch.object(kits, "names",
                                                                                  return_value=["some_kit"]), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return due.main(["--today", "2026-01-12", *words]), out.getvalue()

    def test_the_exit_code_says_whether_anything_is_due(self):
        self.assertEqual(self.run_on(schedule(FIRST, SECOND, LAST))[0], 0)
        self.assertEqual(self.run_on(schedule(FIRST, SECOND))[0], 1)

    def test_a_stale_roster_is_flagged_and_makes_nothing_due(self):
        code, out = self.run_on(schedule(FIRST, SECOND, position(3, "2026-01-01", None, "2025-11-05", "2026-01-12")))
        self.assertEqual(code, 0)
        self.assertIn("stale: M-1 run 3: the roster was 11 days old", out)

    def test_a_kit_without_a_schedule_is_passed_over(self):
        self.assertEqual(self.run_on(None), (0, "no kit here keeps a schedule\n"))

    def test_a_day_that_is_none_is_refused(self):
        self.assertEqual(self.run_on(schedule(FIRST), "--today", "12/01/2026")[0], 2)

    def test_the_help_holds_the_two_lines_of_a_crontab_as_the_readme_does(self):
        lines = [line.strip() for line in due.__doc__.splitlines() if "* * 1-5" in line]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(SystemExit):
            due.main(["--help"])
        readme = (kits.ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertIn(line, out.getvalue())
            self.assertTrue(line in readme or "crontab" not in readme, line)


class TestKits(unittest.TestCase):
    def test_every_kit_that_keeps_a_schedule_has_kept_it(self):
        for name in kits.names():
            kit = kits.load(name)
            if kit.definition.schedule:
                self.assertEqual(due.findings(kit.definition.schedule(kit.book), datetime.date(2030, 1, 1)), [], name)


if __name__ == "__main__":
    unittest.main()
