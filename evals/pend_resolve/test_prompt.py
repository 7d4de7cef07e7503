"""The call for one pend record, against a golden copy that somebody has read."""
import unittest
from pathlib import Path

from src.shared import kit as kits
from src.shared.files import write_text

GOLDEN = Path(__file__).with_name("golden_prompt.txt")


class TestGoldenPrompt(unittest.TestCase):
    def test_the_golden_prompt_is_the_prompt(self):
        """A change that is meant: delete the file, run this test once, and read the difference before keeping it."""
        kit = kits.load("pend_resolve")
        text = "".join(part.text for part in kit.prompt(next(kit.documents())))
        if not GOLDEN.exists():
            write_text(GOLDEN, text)
            self.fail(f"{GOLDEN.name} was written anew; read it, then run the tests again")
        self.assertEqual(GOLDEN.read_text(encoding="utf-8"), text)
