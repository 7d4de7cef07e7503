"""The cache keeps every whole reply, whatever a killed process left behind it."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from evals.shared.cache import Cache
from src.shared import kit as kits
from src.shared.files import BadData

CASES = kits.ROOT.parent / "shared" / "cases" / "wire.jsonl"
# The essential ones of the family, in the form of the case file: bytes on disk, rows appended, what is there after.
OWN = [
    {"id": "torn", "bytes": '{"id":"a","v":1}\n{"id":"b","v', "append": [{"id": "b", "v": 2}],
     "right": {"ids_before": ["a"], "ids_after": ["a", "b"], "torn_tail_bytes": 12, "damaged_lines_after": 0}},
    {"id": "torn in a character", "bytes": '{"id":"a","v":1}\n{"id":"b","t":"caf\u00c3', "append": [{"id": "b"}],
     "right": {"ids_before": ["a"], "ids_after": ["a", "b"], "torn_tail_bytes": 19}},
    {"id": "bad line between", "bytes": '{"id":"a"}\n{"id":"b","x\n\n{"id":"c"}\n', "append": [],
     "right": {"ids_before": ["a", "c"], "damaged_lines": [2]}},
    {"id": "no line end", "bytes": '{"id":"a"}\n{"id":"b"}', "append": [{"id": "c"}],
     "right": {"ids_before": ["a", "b"], "ids_after": ["a", "b", "c"]}},
    {"id": "line separators inside", "bytes": '{"id":"a","t":"x\u00c2\u0085y"}\n{"id":"b","t":"\u00e2\u0080\u00a8"}\n', "append": [],
     "right": {"ids_before": ["a", "b"], "damaged_lines": []}},
    {"id": "garbage", "bytes": "garbage\nmore garbage\n", "append": [], "right": {"exit": "not 0", "ids_before": []}},
]


def third_party():
    """The case file's rows of this kind, or [] where it is not at hand."""
    if not CASES.exists():
        return []
    rows = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    return [{"id": row["id"], "right": row["right"], **row["input"]} for row in rows
            if row["family"] == "F" and row["input"].get("kind") == "jsonl"]


class TestCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "cache-r001-x.jsonl"

    def check(self, case):
        self.path.write_bytes(case["bytes"].encode("latin-1"))
        right = case["right"]
        if right.get("exit") == "not 0":
            with self.assertRaises(BadData):
                Cache(self.path)
            return
        with Cache(self.path) as cache:
            self.assertEqual([name for name in "abc" if cache.get(name)], right["ids_before"])
            if "torn_tail_bytes" in right:
                self.assertEqual(cache.torn, right["torn_tail_bytes"])
            if "damaged_lines" in right:
                self.assertEqual(cache.damaged, right["damaged_lines"])
            for line in case["append"]:
                cache.put(line)
        with Cache(self.path) as cache:
            self.assertEqual([name for name in "abc" if cache.get(name)], right.get("ids_after", right["ids_before"]))
            self.assertEqual(cache.torn, 0)

    def test_what_a_killed_process_left_is_mended(self):
        for case in OWN + third_party():
            with self.subTest(case=case["id"]):
                self.check(case)

    @unittest.skipUnless(CASES.exists(), "the third-party cases are not beside this checkout")
    def test_the_third_party_cases_are_there(self):
        self.assertGreaterEqual(len(third_party()), 5)

    def test_the_newest_line_of_a_document_counts(self):
        with Cache(self.path) as cache:
            cache.put({"id": "a", "v": 1})
            cache.put({"id": "a", "v": 2})
            self.assertEqual(cache.get("a")["v"], 2)
        with Cache(self.path) as cache:
            self.assertEqual(cache.get("a")["v"], 2)

    def test_an_error_never_takes_the_place_of_a_whole_reply_to_the_same_question(self):
        line = lambda settings, error: {"id": "a", "prompt": "p", "settings": settings, "completion": {"error": error}}
        with Cache(self.path) as cache:
            cache.put(line("s", None))
            cache.put(line("other", {"kind": "auth"}))
            cache.put(line("s", {"kind": "transport"}))
        with Cache(self.path) as cache:
            self.assertIsNone(cache.get("a", "p", "s")["completion"]["error"])
            self.assertEqual(cache.get("a", "p", "other")["completion"]["error"], {"kind": "auth"})
            self.assertIsNone(cache.get("a", "q", "s"))
            self.assertEqual(len(list(cache.lines())), 3)

    def test_lines_that_are_no_calls_or_nest_without_end_harm_nothing(self):
        self.path.write_bytes(b'{"id":"a"}\n' + b"[" * 200_000 + b"\n" + b'{"id":"b","v":1}\n')
        with Cache(self.path) as cache:
            self.assertEqual((cache.damaged, cache.get("b")["v"], list(cache.lines())), ([2], 1, []))

    def test_any_text_survives(self):
        for text in ("\u2028 \x85 \x00 \ud83d", "\U0001f33e" * 3, "\r\n"):
            with Cache(self.path) as cache:
                cache.put({"id": "a", "t": text})
                self.assertEqual(cache.get("a")["t"], text)

    def test_a_second_process_is_told_who_holds_the_run(self):
        code = f"from evals.shared.cache import Cache; Cache({str(self.path)!r})"
        with Cache(self.path):
            done = subprocess.run([sys.executable, "-c", code], cwd=kits.ROOT, capture_output=True, text=True)
            self.assertIn("is writing this run", done.stderr)
        done = subprocess.run([sys.executable, "-c", code], cwd=kits.ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_lock_whose_process_is_gone_holds_nobody_up(self):
        self.path.with_name(f".{self.path.name}.lock").write_text("999999", encoding="ascii")
        with Cache(self.path) as cache:
            cache.put({"id": "a"})
        self.assertEqual([path.name for path in self.path.parent.iterdir()], [self.path.name])
