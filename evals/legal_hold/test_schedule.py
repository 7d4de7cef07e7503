"""What is due, told from the states that reviews keep and from rows of facts, broken ones among them."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from src.legal_hold import review, schedule
from src.shared import kit as kits
from src.shared.files import read_jsonl
from tools import due

KIT = kits.load("legal_hold")
ROWS = {}
for _, row in read_jsonl(KIT.data / "facts.jsonl"):
    ROWS.setdefault(row["matter"], []).append(row)
FIRST, SECOND = sorted(ROWS)[:2]


def kept(matter, runs):
    """The JSON of the state of a matter of the corpus after so many runs."""
    state = None
    for row in ROWS[matter][:runs]:
        state = review.step(KIT.book, row, state)[1]
    return state


class TestSchedule(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def write(self, name, value):
        (self.folder / name).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")

    def due(self, *words):
        """(exit code, lines) of the command."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return due.main([KIT.name, *words]), out.getvalue().splitlines()

    def test_a_state_is_past_due_the_day_after_its_next_run(self):
        self.write("a.json", kept(FIRST, 2))
        last = ROWS[FIRST][2]["snapshot"]
        for place in (self.folder, self.folder / "a.json"):
            self.assertEqual(self.due("--state", str(place), "--today", last)[0], 0)
        code, lines = self.due("--state", str(self.folder), "--today", due.datetime.date.fromordinal(
            due.datetime.date.fromisoformat(last).toordinal() + 1).isoformat())
        self.assertEqual(code, 1)
        self.assertEqual(lines[1], f"  due: {FIRST}: run 3 was due on {last}, 1 day ago, and has not been taken")

    def test_a_state_after_the_last_run_is_in_order_and_shows_how_old_its_roster_was(self):
        self.write("a.json", kept(FIRST, 3))
        code, lines = self.due("--state", str(self.folder), "--today", "2030-01-01")
        days = due._days(ROWS[FIRST][2]["snapshot"], ROWS[FIRST][2]["run_on"])
        self.assertEqual((code, lines[1].split(": ", 1)[1]), (0, f"{FIRST} run 3: the roster was {days} days old"))

    def test_an_older_copy_beside_a_state_is_passed_over_and_a_second_of_one_run_is_named(self):
        for name, runs in (("a.json", 3), ("old.json", 2)):
            self.write(name, kept(FIRST, runs))
        self.assertEqual(self.due("--state", str(self.folder), "--today", "2030-01-01")[0], 0)
        self.write("b.json", kept(FIRST, 3))
        self.assertIn("run 3 was taken 2 times: a.json, b.json",
                      self.due("--state", str(self.folder), "--today", "2030-01-01")[1][1])

    def test_a_broken_state_is_named_and_the_others_go_on(self):
        self.write("a.json", kept(FIRST, 1))
        broken = kept(SECOND, 1)
        for name, value in (("b.json", "{"), ("c.json", {**broken, "run": "1"}),
                            ("d.json", {**broken, "snapshot": "soon"}),
                            ("e.json", {key: broken[key] for key in broken if key != "next"})):
            self.write(name, value)
        code, lines = self.due("--state", str(self.folder), "--today", ROWS[FIRST][0]["run_on"], "--quiet")
        self.assertEqual((code, lines[0].split(":")[1][:16]), (1, " 1 chains looked"))
        for name in ("b.json", "c.json", "d.json", "e.json"):
            self.assertTrue(any(name in line for line in lines), (name, lines))

    def test_no_state_at_all_is_a_finding_and_no_such_folder_is_refused(self):
        code, lines = self.due("--state", str(self.folder))
        self.assertEqual(code, 1)
        self.assertIn("holds no state file", lines[1])
        self.assertEqual(self.due("--state", str(self.folder / "no"))[0], 2)

    def test_rows_of_facts_are_read_where_no_extract_is_and_broken_ones_are_named(self):
        rows = [ROWS[FIRST][0], ROWS[FIRST][2], {**ROWS[SECOND][0], "run_on": "20th"}, {**ROWS[SECOND][0], "run": None}]
        self.write("facts.jsonl", "".join(json.dumps(row) + "\n" for row in rows) + "{\n[1]\n")
        code, lines = self.due("--data", str(self.folder / "facts.jsonl"), "--today", "2030-01-01", "--quiet")
        self.assertEqual(code, 1)
        self.assertIn(f"  due: {FIRST}: run 2 is missing, though run 3 was taken", lines)
        for number in (3, 4, 5, 6):
            self.assertTrue(any(f"facts.jsonl: line {number}: " in line for line in lines), (number, lines))
        (self.folder / "corpus").mkdir()
        self.write(f"corpus/{rows[0]['id']}.txt", KIT.text(rows[0]["id"]))
        found = schedule.schedule(KIT.book._replace(data=self.folder))
        self.assertEqual([position["document"] for position in found["positions"]], [f"{rows[0]['id']}.txt",
                                                                                    "facts.jsonl: line 2"])

    def test_facts_that_are_not_there_are_refused(self):
        self.assertEqual(self.due("--data", str(self.folder / "facts.jsonl"))[0], 2)


if __name__ == "__main__":
    unittest.main()
