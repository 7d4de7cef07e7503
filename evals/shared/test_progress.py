"""How far a run is, as a person at a terminal and a log see it."""
import io
import os
import unittest
import unittest.mock

from evals.shared.progress import TENTHS, Progress

ANSWERED = {"completion": {"error": None, "usage": {"input": 1_000, "output": None}},
            "cost": {"usd": 0.5, "reported": None}}
FAILED = {"completion": {"error": {"kind": "transport"}, "usage": None}, "cost": None}


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress(unittest.TestCase):
    def shown(self, stream, total, quiet=False):
        progress = Progress(total, stream, quiet)
        for number in range(total):
            progress.tick(FAILED if number % 4 == 3 else ANSWERED, number % 4 == 0)
        progress.close()
        return progress, stream.getvalue()

    def test_each_document_is_counted_once_and_by_what_became_of_it(self):
        progress, text = self.shown(io.StringIO(), 40)
        self.assertEqual((progress.done, progress.answered, progress.unparsed, progress.failed), (40, 10, 20, 10))
        last = text.splitlines()[-1]
        for words in ("40/40 asked, 10 answered, 20 unparsed, 10 failed", "30,000 tokens", "about 0 s left"):
            self.assertIn(words, last)

    def test_a_log_gets_a_line_for_each_tenth_and_no_control_characters(self):
        for total in (5, 10, 57, 1000):
            _, text = self.shown(io.StringIO(), total)
            self.assertEqual(text.count("\n"), min(total, TENTHS))
            self.assertNotRegex(text, r"[\r\x1b]")

    def test_a_terminal_gets_one_line_that_moves_and_ends(self):
        _, text = self.shown(Terminal(), 20)
        self.assertEqual((text.count("\r"), text.count("\n"), text[-1]), (20, 1, "\n"))

    def test_the_moving_line_is_no_longer_than_the_terminal_is_wide(self):
        wide = unittest.mock.patch("os.get_terminal_size", return_value=os.terminal_size((30, 20)))
        with wide, unittest.mock.patch.object(Terminal, "fileno", lambda self: 2):
            _, text = self.shown(Terminal(), 8)
        for line in text.rstrip("\n").split("\r")[1:]:
            self.assertEqual((len(line.removesuffix("\x1b[K")), line[:4]), (29, line[:1] + "/8 "))

    def test_quiet_is_quiet(self):
        for stream in (io.StringIO(), Terminal()):
            self.assertEqual(self.shown(stream, 20, quiet=True)[1], "")

    def test_tokens_and_dollars_that_were_not_reported_are_not_called_nothing(self):
        _, text = self.shown(io.StringIO(), 1)
        self.assertIn("$0.50", text)
        progress = Progress(1, io.StringIO())
        progress.tick({"completion": {"error": None, "usage": None}, "cost": {"usd": None, "reported": None}}, True)
        self.assertIn("tokens not reported, cost unknown", progress.text())


if __name__ == "__main__":
    unittest.main()
