"""The collected wire cases of replies (family D) and citations (family E), each with its right answer.

The file stands beside the project and is skipped, visibly, where it is not there; the essential cases are carried by
test_reply.py, test_citation.py and test_values.py as their own.
"""
import time
import unittest
from pathlib import Path

from src.shared import files, reply, values
from src.shared.citation import locate

FILE = Path(__file__).resolve().parents[3] / "shared" / "cases" / "wire.jsonl"

# Where the project chooses otherwise than a case. A refusal in place of a value needs no entry: it is a miss, never
# a wrong value. Numbers are read with the point as their decimal mark, as documents and prompt have them.
POINT_IS_DECIMAL = {"1.000": 1, "12.500": 12.5}
# Which phrases mean "not stated" is said per field in fields.json; `none` and the like are values anywhere else.
NOT_STATED = ("null", "None", "N/A", "n.a.", "not specified", "-", "—")
READERS = {
    "number": lambda raw, unit: values.read_number(raw, unit, frozenset(map(values.fold_name, [unit] if unit else []))),
    "date": lambda raw, unit: values.read_date(raw) and values.read_date(raw).isoformat(),
    "text": lambda raw, unit: None if raw in NOT_STATED else values.read_name(raw),
}


def cases(family, kind):
    """The cases of a family whose input has the key `kind`; none is a failure, no file a skip."""
    if not FILE.exists():
        raise unittest.SkipTest(f"{FILE.name} is not beside this checkout")
    found = [case for _, case in files.read_jsonl(FILE) if case["family"] == family and kind in case["input"]]
    if not found:
        raise AssertionError(f"no case of family {family} has {kind}")
    return found


class TestWireCases(unittest.TestCase):
    def test_every_reply_gives_its_object_or_its_reason(self):
        for case in cases("D", "required"):
            given, right = case["input"], case["right"]
            text = given["reply"] if "reply" in given else "".join(part * n for part, n in given["reply_parts"])
            start = time.process_time()
            got = reply.parse(text, given["required"], given["vocab"])
            seconds = time.process_time() - start
            with self.subTest(case["id"], why=case["why"]):
                self.assertEqual(got.value, right.get("value"))
                self.assertEqual(got.error and got.error["kind"], right.get("reason"))
                self.assertEqual(got.notes, sorted(right.get("notes", [])))
                self.assertLess(seconds, right.get("elapsed_below_s", 1) / 2)

    def test_no_reader_gives_a_value_that_a_case_does_not(self):
        for case in cases("D", "normalise"):
            given, right = case["input"], case["right"]
            self.assertEqual(len(given["raw"]), len(right["values"]))
            for raw, value in zip(given["raw"], right["values"]):
                with self.subTest(case["id"], raw=raw):
                    try:
                        got = READERS[given["normalise"]](raw, given["options"].get("unit"))
                    except values.Finding:
                        continue
                    wanted = POINT_IS_DECIMAL.get(raw, value) if isinstance(raw, str) else value
                    self.assertIn(got, (None, wanted))

    def test_every_quote_is_found_where_it_stands_or_not_at_all(self):
        for case in cases("E", "quote"):
            document, right = case["input"]["doc"], case["right"]
            got = locate(document, case["input"]["quote"])
            with self.subTest(case["id"], why=case["why"]):
                self.assertEqual([list(span) for span in got.spans], right.get("spans", []))
                self.assertEqual([document[start:end] for start, end in got.spans], right.get("slices", []))
                self.assertEqual((bool(got.spans), got.count), (right["found"], right.get("count", 0)))
                self.assertEqual((got.how, got.reason, got.flags),
                                 (right.get("how"), right.get("reason"), right.get("flags", [])))


if __name__ == "__main__":
    unittest.main()
