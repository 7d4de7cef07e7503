"""A page in prose is sent as far as its readers are meant, and never without saying where that ends."""
import tempfile
import unittest
from pathlib import Path

from src.shared import prompt
from src.shared.files import BadData


class TestReadPage(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "policy.md"
            path.write_text(text, encoding="utf-8")
            return prompt.read_page(path)

    def test_what_stands_behind_the_last_heading_is_not_sent(self):
        self.assertEqual(self.read(f"# Rules\n\nOne.\n\n{prompt.KEEPERS}\n\nTwo.\n"), "# Rules\n\nOne.\n")

    def test_a_page_that_does_not_say_where_its_readers_stop_is_refused(self):
        for text in ("# Rules\n\nOne.\n", f"# Rules\n{prompt.KEEPERS[:-1]}\nTwo.\n",
                     f"# Rules\n\n{prompt.KEEPERS}\n\nTwo.\n\n{prompt.KEEPERS}\n\nThree.\n",
                     f"# Rules\n\n{prompt.KEEPERS}\n\nTwo.\n\n## More rules\n\nThree.\n"):
            with self.assertRaises(BadData) as caught:
                self.read(text)
            self.assertIn("is not sent to a model", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
