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
    {"id": "line separators inside", "append": [],
     "bytes": '{"id":"a","t":"x\u00c2\u0085y"}\n{"id":"b","t":"\u00e2\u0080\u00a8"}\n',
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
            self.refused(case["bytes"].encode("latin-1"))
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

        if "second_file" in case:
            self.assertIn("refused, names file and encoding", right["second_file"])
            self.assertIn("UTF-16", self.refused(case["second_file"].encode("latin-1")))

    def refused(self, data):
        """What is said of a file that is no cache, which has to stay as it is."""
        self.path.write_bytes(data)
        with self.assertRaises(BadData) as caught:
            Cache(self.path)
        self.assertEqual(self.path.read_bytes(), data)
        self.assertIn(self.path.name, str(caught.exception))
        return str(caught.exception)

    def test_another_encoding_is_named_and_nothing_of_the_file_is_changed(self):
        for rows in ('{"id":"a"}\n{"id":"b"}\n', '{"id":"a"}\n{"id":"b"}', '{"id":"a"}\r\n', '{"id":"a"}'):
            for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
                self.assertIn("UTF-16 or UTF-32", self.refused(rows.encode(encoding)), (rows, encoding))
        self.path.write_bytes('{"id":"a"}\n'.encode("utf-8-sig"))
        with Cache(self.path) as cache:
            self.assertEqual(cache.get("a"), {"id": "a"})

    def test_a_line_with_anything_in_a_wrong_place_is_passed_over_and_its_document_asked_again(self):
        good = {"text": "{}", "finish": "stop", "usage": {"input": 1, "output": None}, "attempts": [{"status": 200}],
                "seconds": {}, "error": None, "notes": [], "reported_cost": None, "model": "m"}
        line = {"id": "a", "prompt": "p", "settings": "s", "stations": None, "cost": None, "completion": good}
        wrong = [{**line, "completion": {**good, **change}} for change in (
            {"text": 5}, {"error": {}}, {"error": "no"}, {"usage": [1]}, {"usage": {"input": "1"}}, {"attempts": [1]},
            {"notes": None}, {"seconds": 1}, {"finish": {}})]
        wrong += [{**line, "completion": each} for each in ({}, None, [], "x")]
        wrong += [{**line, "cost": 5}, {**line, "cost": {"usd": "1"}}, {**line, "prompt": 7}]
        opening = {"id": "", "run": {}, "settings": {}, "question": "q", "price": None}
        wrong += [{**opening, "run": 1}, *({**opening, "id": ""} | {name: 7} for name in ("question", "price")),
                  *({key: value for key, value in opening.items() if key != name} for name in ("run", "question"))]
        newer = {**line, "id": "b", "completion": {**good, "later": 1}, "more": []}
        with self.path.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(each) + "\n" for each in [*wrong, newer])
        with Cache(self.path) as cache:
            self.assertEqual(cache.damaged, list(range(1, len(wrong) + 1)))
            self.assertEqual((cache.get(""), cache.get("a", "p", "s"), cache.get("b", "p", "s")), (None, None, newer))

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
        error = lambda kind: {"kind": kind, "outcome": "transport_error", "message": "-"}
        line = lambda settings, error: {"id": "a", "prompt": "p", "settings": settings, "completion": {"error": error}}
        with Cache(self.path) as cache:
            cache.put(line("s", None))
            cache.put(line("other", error("auth")))
            cache.put(line("s", error("transport")))
        with Cache(self.path) as cache:
            self.assertIsNone(cache.get("a", "p", "s")["completion"]["error"])
            self.assertEqual(cache.get("a", "p", "other")["completion"]["error"], error("auth"))
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
