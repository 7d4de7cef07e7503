"""How every command begins: in any mode of Python, with what it is for and an example."""
import subprocess
import sys
import unittest

from src.shared import kit as kits
from src.shared.kit import ROOT


class TestCommands(unittest.TestCase):
    def test_every_command_works_where_python_keeps_no_texts_of_modules(self):
        commands = [f"{path.parent.name}.{path.stem}" for top in ("src", "evals", "tools")
                    for path in sorted((ROOT / top).glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")]
        self.assertIn("src.app", commands)
        code = ("import contextlib, importlib, sys\n"
                "for name in sys.argv[1:]:\n"
                "    with contextlib.suppress(SystemExit):\n"
                "        importlib.import_module(name).main(['--help'])\n")
        done = subprocess.run([sys.executable, "-OO", "-c", code, *commands], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in commands:
            self.assertIn(f"usage: python -m {name} ", done.stdout)
        self.assertIn(f"example: python -m evals.run {kits.names()[0].replace('_', '-')} ", done.stdout)


if __name__ == "__main__":
    unittest.main()
