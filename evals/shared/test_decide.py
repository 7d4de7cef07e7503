"""`python -m src.decide` over lines as they come: each answers for itself, by its number, and the rest go on."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
from pathlib import Path
from unittest import mock

from src import decide
from src.shared import kit as kits
from src.shared.files import BadData, read_jsonl, to_json

NAME = kits.names()[0]


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kit = kits.load(NAME)
        cls.good = next(to_json(row) for _, row in read_jsonl(cls.kit.data / "facts.jsonl")).encode()

    def decided(self, *lines):
        """(answers, how many failed) of lines of bytes."""
        out = io.StringIO()
        failed = decide.decide_lines(self.kit, lines, out, self.kit.definition.decide)
        return [json.loads(line) for line in out.getvalue().splitlines()], failed


class TestLines(Lines):
    def test_what_an_editor_leaves_in_a_file_changes_nothing(self):
        plain, failed = self.decided(self.good)
        self.assertEqual((failed, len(plain)), (0, 1))
        for lines in ((b"\xef\xbb\xbf" + self.good,), (self.good + b"\r\n",), (b"\n", b"  \r\n", self.good, b"\n")):
            self.assertEqual(self.decided(*lines), (plain, 0))

    def test_a_row_may_stand_under_inputs(self):
        self.assertEqual(self.decided(b'{"case": "x", "inputs": %s}' % self.good), self.decided(self.good))

    def test_each_line_that_is_no_row_is_named_by_its_number_and_the_rest_go_on(self):
        bad = {self.good[:-1] + b",}": "not JSON", self.good + b" more": "not JSON", b"null": "object is wanted",
               b"[]": "object is wanted", b'"x"': "object is wanted", b'{"inputs": null}': "object is wanted",
               b'{"a": NaN}': "NaN", b'{"a": -Infinity}': "-Infinity", b'{"a": 1, "a": 2}': "stands twice",
               b'{"a": %s}' % (b"9" * 5000): "digits", b'{"a": 1e9999999999999999999}': "too large",
               b'{"a": ' + b"[" * 50_000: "nested too deeply", b'{"a": "\xff"}': "0xff is not UTF-8",
               b"\x00": "not JSON"}
        answers, failed = self.decided(*bad, self.good)
        self.assertEqual((failed, len(answers)), (len(bad), len(bad) + 1))
        for number, (said, answer) in enumerate(zip(bad.values(), answers), 1):
            self.assertEqual(answer["line"], number)
            self.assertIn(said, answer["error"])
        self.assertIn("trace", answers[-1])

    def test_memory_stays_flat_however_many_lines_there_are(self):
        def peak(number):
            tracemalloc.start()
            with open(os.devnull, "w") as out:
                decide.decide_lines(self.kit, (self.good for _ in range(number)), out, self.kit.definition.decide)
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found
        peak(50)        # what a kit remembers of its rows is remembered once
        self.assertLess(peak(300) - peak(50), 125 * len(self.good), "half of what the rows themselves would be")


class TestCommand(Lines):
    def run_command(self, *words, stdin=b""):
        out, err = io.StringIO(), io.StringIO()
        given = io.TextIOWrapper(io.BytesIO(stdin))
        with mock.patch("sys.stdin", given), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = decide.main([*words])
        return code, out.getvalue(), err.getvalue()

    def test_a_file_a_dash_and_no_file_are_three_ways_to_the_same_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            path.write_bytes(self.good)
            found = {self.run_command(NAME, str(path)), self.run_command(NAME, "-", stdin=self.good),
                     self.run_command(NAME, stdin=self.good)}
        self.assertEqual(len(found), 1)
        self.assertEqual(found.pop()[::2], (0, ""))

    def test_a_line_that_cannot_be_decided_makes_1_and_what_cannot_be_read_2(self):
        self.assertEqual(self.run_command(NAME, stdin=b"{\n" + self.good)[0], 1)
        for words in ((NAME, "no-such-file"), (NAME, tempfile.gettempdir()), (NAME, "--data", "no-such-folder")):
            code, out, err = self.run_command(*words)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1), words)
            self.assertIn(words[-1], err)

    def test_a_reader_that_goes_away_ends_it_without_a_word(self):
        done = subprocess.Popen([sys.executable, "-m", "src.decide", NAME], cwd=kits.ROOT, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done.stdout.close()
        for step in (lambda: done.stdin.write((self.good + b"\n") * 200), done.stdin.close):
            with contextlib.suppress(BrokenPipeError):
                step()
        said = done.stderr.read()
        done.stderr.close()
        self.assertEqual((done.wait(), said), (1, b""))

    def test_broken_rules_are_said_before_any_line_is_read(self):
        with mock.patch.object(kits, "load", side_effect=BadData("a.json: one", "b.json: two")):
            self.assertEqual(self.run_command(NAME), (2, "", "a.json: one\nb.json: two\n"))


if __name__ == "__main__":
    unittest.main()
