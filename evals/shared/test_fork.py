"""A fork is whole or not there, and never over what somebody has."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from src.shared import kit as kits
from src.shared.files import BadData
from tools import fork, readme


class TestFork(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.kit = kits.load(kits.names()[0])
        # The outputs in its README cost runs; that they are taken is judged where a whole fork is run.
        self.filled = self.enterContext(mock.patch.object(readme, "filled", side_effect=lambda text, root: text))

    def refused(self, folder, said):
        with self.assertRaises(BadData) as caught:
            fork.fork(self.kit, folder)
        self.assertIn(said, str(caught.exception))

    def test_a_folder_that_holds_something_is_left_alone(self):
        (self.folder / "mine.txt").write_text("mine")
        self.refused(self.folder, "is not an empty folder")
        self.refused(self.folder / "mine.txt", "is not an empty folder")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["mine.txt"])

    def test_a_folder_inside_the_checkout_is_refused(self):
        self.refused(kits.ROOT / "forked", "lies inside this checkout")
        self.assertFalse((kits.ROOT / "forked").exists())

    def test_a_fork_that_fails_leaves_nothing_behind(self):
        self.filled.side_effect = BadData("no run")
        self.refused(self.folder / "new", "no run")
        self.refused(self.folder, "no run")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_fork_holds_one_kit_and_its_readme_has_a_word_in_every_place(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(fork.main([self.kit.name, str(self.folder / "new")]), 0)
        self.assertIn("python -m unittest", out.getvalue())
        made = self.folder / "new"
        self.assertNotIn("{{", (made / "README.md").read_text(encoding="utf-8"))
        for top in ("src", "evals"):
            found = {path.parent.name for path in (made / top).glob("*/__init__.py")}
            self.assertEqual(found, {"shared", self.kit.name})
        for name in ("kit.json", "corpus", "rates.json"):
            self.assertTrue((made / "data" / name).exists(), name)
        for path in made.rglob("*.md"):
            for place in ("data", "results"):
                self.assertNotIn(f"{place}/{self.kit.name}/", path.read_text(encoding="utf-8"), path)
        for name in (".gitignore", ".env.example", "LICENSE"):
            self.assertEqual((made / name).read_bytes(), (kits.ROOT / name).read_bytes())
        self.assertFalse((made / ".env").exists())


if __name__ == "__main__":
    unittest.main()
