"""MAX_CALLS_PER_DAY: every call is counted once, whoever makes it, and none beyond the limit."""
import concurrent.futures
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from src.shared import kit as kits
from src.shared import ledger
from src.shared.files import BadData


class TestCallsADay(unittest.TestCase):
    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory())) / "ledger"

    def taken(self, day, times):
        """How many of so many calls were allowed."""
        count = 0
        for _ in range(times):
            try:
                day.take()
                count += 1
            except ledger.Limit:
                pass
        return count

    def test_threads_and_processes_share_one_limit(self):
        code = (f"from pathlib import Path; from src.shared.ledger import Ledger, Limit\n"
                f"day = Ledger(60, Path({str(self.place)!r}))\n"
                "for _ in range(40):\n try: day.take(); print('.', end='')\n except Limit: pass")
        other = subprocess.Popen([sys.executable, "-c", code], cwd=kits.ROOT, stdout=subprocess.PIPE, text=True)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            mine = sum(pool.map(lambda _: self.taken(ledger.Ledger(60, self.place), 15), range(4)))
        theirs = len(other.communicate()[0])
        self.assertEqual(mine + theirs, 60)
        self.assertEqual(ledger.Ledger(None, self.place).used(), 60)

    def test_further_attempts_are_asked_for_like_calls(self):
        day = ledger.Ledger(2, self.place)
        self.assertEqual([day.may_take() for _ in range(3)], [True, True, False])
        self.assertEqual(day.used(), 2)

    def test_without_a_limit_calls_are_counted_all_the_same(self):
        day = ledger.Ledger(None, self.place)
        self.assertEqual(self.taken(day, 5), 5)
        day.add(2)
        self.assertEqual(day.used(), 7)

    def test_a_new_day_begins_at_nothing_while_a_run_goes_on(self):
        day = ledger.Ledger(2, self.place)
        with unittest.mock.patch.object(ledger, "today", return_value="2026-01-31"):
            self.assertEqual(self.taken(day, 3), 2)
        with unittest.mock.patch.object(ledger, "today", return_value="2026-02-01"):
            self.assertEqual((day.used(), self.taken(day, 3)), (0, 2))
        self.assertEqual(sorted(path.name for path in self.place.iterdir()), ["2026-01-31", "2026-02-01"])

    def test_where_calls_cannot_be_counted_none_is_made(self):
        self.place.write_text("no folder")
        for limit in (None, 5):
            with self.assertRaises(BadData):
                ledger.Ledger(limit, self.place).take()


if __name__ == "__main__":
    unittest.main()
