"""What the harness itself costs: the benchmark runs, and what it wrote last keeps to the limits that were set."""
import json
import tempfile
import unittest
from pathlib import Path

from src.shared import kit as kits
from tools import bench

WRITTEN = kits.ROOT / "results" / "bench.json"
SERVERS = ("server_keeps_connections", "server_closes_connections")
# As multiples of a bare script and in seconds on top of Python's own start, whatever the machine.
MOST_OVER_BARE, MOST_ADDED_SECONDS = 1.5, 0.1


class TestBench(unittest.TestCase):
    def test_run_and_bare_script_ask_the_same_server_about_the_same_documents(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            kit = bench.sample(folder)
            if kit is None:
                self.skipTest("no kit here whose documents can stand under other ids")
            found = bench.overhead(kit, folder, 1, documents=20)
            bare = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
            run = [json.loads(line) for line in (folder / "cache.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(({line["id"] for line in bare}, len(bare)), ({line["id"] for line in run}, 20))
        self.assertEqual({line["completion"]["error"] for line in run}, {None})
        self.assertEqual(found["documents"], 20)
        for server in SERVERS:
            self.assertGreater(found[server]["run_over_bare"], 0)

    @unittest.skipUnless(WRITTEN.exists(), "python -m tools.bench has not been run here")
    def test_what_was_measured_last_keeps_to_the_limits(self):
        found = json.loads(WRITTEN.read_text(encoding="utf-8"))
        for server in SERVERS:
            self.assertLessEqual(found["overhead"][server]["run_over_bare"], MOST_OVER_BARE)
        self.assertLessEqual(found["start"]["help_adds_seconds"], MOST_ADDED_SECONDS)
        for part in ("decide", "score"):
            small, large = found[part]["peak_mib"]
            self.assertLess(large, 3 * small, f"{part}: memory grows with the number of documents")


if __name__ == "__main__":
    unittest.main()
