"""Files that people edit are read strictly, and replaced whole or not at all."""
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from src.shared import files
from src.shared.files import BadData


class TestReading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "data.json"

    def refused(self, data, *words):
        self.path.write_bytes(data)
        for read in (files.read_json, lambda path: list(files.read_jsonl(path))):
            with self.assertRaises(BadData) as caught:
                read(self.path)
            for word in ("data.json", *words):
                self.assertIn(word, str(caught.exception))

    def test_bytes_that_are_no_clean_text_are_named_with_place_and_remedy(self):
        self.refused(b"\xef\xbb\xbf{}", "byte order mark", "without BOM")
        self.refused(b'{"a": "\xff"}', "line 1", "0xff", "UTF-8")
        self.refused(b'{"a": 1}\r\n', "line 1", "carriage return", "LF")
        self.refused("{}".encode("utf-16"), "UTF-16")

    def test_json_that_means_two_things_is_refused(self):
        self.refused(b'{"a": 1, "a": 2}', '"a"', "twice")
        for word in (b"NaN", b"Infinity", b"-Infinity"):
            self.refused(b'{"a": %s}' % word, word.decode())
        self.refused(b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply")
        self.refused(b'{"a": %s}' % (b"9" * 5000), "digits")

    def test_a_syntax_error_says_where(self):
        self.path.write_text('{\n  "a": 1,\n}\n')
        with self.assertRaises(BadData) as caught:
            files.read_json(self.path)
        self.assertIn("line 3, column 1", str(caught.exception))

    def test_a_missing_file_says_so(self):
        with self.assertRaises(BadData) as caught:
            files.read_json(self.path)
        self.assertIn("no such file", str(caught.exception))

    def test_lines_that_are_no_objects_are_named_by_number(self):
        self.path.write_text('{"id": "a"}\n\n[1]\n')
        with self.assertRaises(BadData) as caught:
            list(files.read_jsonl(self.path))
        self.assertIn("line 3", str(caught.exception))

    def test_fractions_keep_the_digits_of_the_file(self):
        self.assertEqual(files.parse_json('{"a": 2.40}', "-")["a"], Decimal("2.40"))
        self.assertEqual(files.to_json({"a": Decimal("2.40"), "b": Decimal("3.0"), "c": 1}), '{"a": 2.4, "b": 3, "c": 1}')


class TestWriting(unittest.TestCase):
    def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.json"
            files.write_text(path, "old\n")
            with self.assertRaises(RuntimeError), files.replacing(path) as handle:
                handle.write("half of the ne")
                raise RuntimeError("killed")
            self.assertEqual(path.read_text(), "old\n")
            self.assertEqual([entry.name for entry in Path(folder).iterdir()], ["record.json"])

    def test_a_new_file_is_readable_like_any_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path, plain = Path(folder) / "deep" / "record.json", Path(folder) / "plain"
            files.write_text(path, "new\n")
            plain.write_text("x")
            self.assertEqual(path.stat().st_mode, plain.stat().st_mode)
