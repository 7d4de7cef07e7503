"""A model run against a provider on this machine: asked once, resumed, re-scored, interrupted, and never told the key."""
import base64
import json
import os
import random
import resource
import shlex
import signal
import socket
import subprocess
import sys
import time
import unittest
import unittest.mock
import urllib.parse

from evals.shared import record
from evals.shared.local_provider import DONE, RESET, delta, event, http, stream
from evals.shared.local_provider import LocalProvider as ScriptedProvider
from evals.shared.provider import LocalProvider
from evals.shared.test_run import NAME, Checkout
from src.shared import kit as kits
from src.shared.files import to_json

HYPHENED = NAME.replace("_", "-")
RUN = f"r801-{HYPHENED}"


# A few kills in every run of the tests; .ci/run asks for a few dozen.
KILLS = int(os.environ.get("KILLS", 4))


def heeds_ctrl_c():
    """For a child process: whoever runs the tests in the background has Ctrl-C ignored, and children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def bare(found):
    """A record without what no two runs share: how long things took."""
    return {**found, "documents": [{**entry, "seconds": None, "attempts": None} for entry in found["documents"]],
            "run": {**found["run"], "command": None}}


def by_page(kit):
    """answer(body) → the gold reply of the document whose page stands in the request."""
    pages = {}
    for row in kit.gold():
        page = kit.prompt(row["id"])[-1].text
        pages[page] = to_json({key: row.get(key) for key in kit.definition.keys(kit.book)})
    return lambda body: next(reply for page, reply in pages.items() if page in body["messages"][-1]["content"])


class TestPaidRun(unittest.TestCase):
    def setUp(self):
        self.copy = Checkout(self)
        self.results = self.copy.kit[1]
        self.kit = kits.load(NAME, self.copy.kit[0])
        self.documents = list(self.kit.documents())
        self.provider = self.enterContext(LocalProvider(by_page(self.kit)))

    def run_model(self, *words, run_id=RUN, **environment):
        return self.copy.here(NAME, "--arm", "model", "--run-id", run_id, "--yes", *words,
                             **self.provider.environment(**environment))

    def record(self, run_id=RUN):
        return (self.results / f"eval-{run_id}.json").read_text(encoding="utf-8")

    def test_each_document_is_asked_once_and_the_record_adds_up(self):
        done = self.run_model()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.provider.calls, len(self.documents))
        found = json.loads(self.record())
        self.assertEqual([entry["id"] for entry in found["documents"]], self.documents)
        self.assertEqual(found["totals"]["outcomes"]["answered"], len(self.documents))
        self.assertEqual(found["totals"]["tokens"]["input"], {"sum": 100 * len(self.documents), "calls": len(self.documents)})
        self.assertEqual(found["settings"]["model"], "local")
        parts = self.kit.prompt(self.documents[0])
        self.assertEqual([(part["name"], part["fixed"], part["documents"]) for part in found["prompt"]],
                         [(part.name, part.fixed, len(self.documents)) for part in parts])
        for part, sent in zip(found["prompt"], parts):
            low, high = part["characters"]["min"], part["characters"]["max"]
            self.assertTrue(low <= len(sent.text) <= high and (low == high or not sent.fixed), part)
        for word in ("answered", "tokens", "record: ", "python -m src.app"):
            self.assertIn(word, done.stderr)

    def test_the_times_of_all_eight_stations_stand_with_each_document(self):
        answer = self.provider.answer
        self.provider.answer = lambda body: (time.sleep(0.02), answer(body))[1]
        self.run_model()
        for entry in json.loads(self.record())["documents"]:
            seconds = entry["seconds"]
            self.assertEqual(sorted(seconds), sorted(("select", "prompt", "wait", "first_output", "receive", "total",
                                                      "parse", "recheck", "score")))
            for station in ("select", "prompt", "parse", "recheck", "score"):
                self.assertTrue(0 < seconds[station] < 1, (station, seconds))
            self.assertGreaterEqual(seconds["first_output"], 0.02)
            parts = seconds["wait"] + seconds["first_output"] + seconds["receive"]
            self.assertTrue(parts - 0.003 <= seconds["total"] < parts + 1, seconds)

    def test_times_behind_the_reply_stay_with_it_and_a_new_reply_is_timed_anew(self):
        self.run_model()
        whole, cache = json.loads(self.record()), self.results / f"cache-{RUN}.jsonl"
        cache.write_bytes(b"".join(cache.read_bytes().splitlines(keepends=True)[:-1]))
        asked_again = list({*self.documents} - {json.loads(line)["id"] for line in cache.read_bytes().splitlines()})
        self.run_model("--resume")
        self.assertEqual(len(asked_again), 1)
        for before, after in zip(whole["documents"], json.loads(self.record())["documents"]):
            same = [before["seconds"][name] == after["seconds"][name] for name in record.BEHIND]
            self.assertEqual(all(same), before["id"] not in asked_again, before["id"])

    def test_the_key_is_sent_and_stands_nowhere(self):
        """Everything that a run writes and says, whatever happens to it, holds the key in no spelling."""
        key = "sk-to-be-found+NOWHERE/0123456789=="
        answer, said = self.provider.answer, []

        def model(number, *words, **environment):
            done = self.copy.here(NAME, "--arm", "model", "--run-id", f"r8{number:02}-{HYPHENED}", "--yes", *words,
                                  **self.provider.environment(**{"API_KEY": key, "RETRIES": "0", **environment}))
            said.append(done.stdout + done.stderr)
            return done.returncode

        exports = [word for suffix in (".json", ".csv", ".junit.xml", ".md")
                   for word in ("-o", str(self.copy.root / f"export{suffix}"))]
        self.assertEqual(model(10, "--json", *exports), 0)
        self.assertEqual(set(self.provider.keys), {f"Bearer {key}"})
        self.provider.answer = lambda body: f"I was sent {key} to {self.provider.url}. " + answer(body)
        self.assertEqual(model(11), 0)
        self.assertEqual(model(11, "--rescore"), 0)
        words = f"Incorrect key {key} or {key.replace('/', '%2F')} at /v1?key={key}"
        echo = {"message": words, "type": "x", "code": key}
        scripts = [http(json.dumps({"error": echo}).encode(), status) for status in (400, 401, 403, 404, 429, 500)]
        scripts += [http(b"", 302, [f"Location: http://127.0.0.1/?key={key}"]), http(key.encode()), [RESET],
                    stream(event({"error": echo})), stream(delta(key, key), DONE), f"SSH {key}\r\n".encode()]
        for number, script in enumerate(scripts, 20):
            with self.subTest(script), ScriptedProvider(script) as scripted:
                self.assertEqual(model(number, BASE_URL=scripted.url), 3)
                self.assertIn(key, scripted.requests[0][0])
        with unittest.mock.patch("socket.create_connection", side_effect=socket.gaierror(socket.EAI_NONAME, key)):
            self.assertEqual(model(50, BASE_URL=f"http://{key[3:14]}.invalid/v1", no_proxy="*"), 3)
        wrong = [{"BASE_URL": f"http://me:{key}@host/v1"}, {"BASE_URL": f"http://host/v1?key={key}"}, {"BASE_URL": key},
                 {"API_KEY": f"{key} {key}"}, {"MAX_TOKENS": "x"}]
        for number, each in enumerate(wrong, 60):
            self.assertEqual(model(number, **each), 2)
        self.assertEqual(model(70, "--dry-run"), 0)
        files = [path for path in self.copy.root.rglob("*") if path.is_file() and path.suffix != ".py"]
        self.assertGreater(sum("cache-" in path.name for path in files), len(scripts))
        texts = {str(path): path.read_text(encoding="utf-8", errors="replace") for path in files}
        for place, text in [*texts.items(), *enumerate(said)]:
            for secret in (key, key[:20], key.replace("/", "\\/"), urllib.parse.quote(key, safe=""),
                           base64.b64encode(key.encode()).decode()[:24]):
                self.assertNotIn(secret, text, place)

    def test_a_resumed_run_asks_only_what_is_missing(self):
        self.run_model()
        whole, cache = self.record(), self.results / f"cache-{RUN}.jsonl"
        lines = cache.read_bytes().splitlines(keepends=True)
        cache.write_bytes(b"".join(lines[:-5]) + lines[-5][:40])
        calls = self.provider.calls
        done = self.run_model("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cut last line", done.stderr)
        self.assertEqual(self.provider.calls - calls, 5)
        again = json.loads(self.record())
        self.assertEqual(bare(again), bare(json.loads(whole)))
        self.assertEqual(again["run"], json.loads(whole)["run"])

    def test_a_rescored_run_makes_no_call_and_is_the_same_bytes(self):
        self.run_model()
        whole, calls = self.record(), self.provider.calls
        done = self.copy.here(NAME, "--arm", "model", "--run-id", RUN, "--rescore")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.record(), self.provider.calls), (whole, calls))

    def test_a_joined_run_is_rescored_like_any_other(self):
        for index in (1, 2):
            self.assertEqual(self.run_model("--shard", f"{index}/2").returncode, 0)
        files = sorted(map(str, self.results.glob(f"eval-{RUN}.shard-*")))
        self.assertEqual(self.copy.here(RUN, *files, module="evals.merge").returncode, 0)
        joined, calls = self.record(), self.provider.calls
        self.assertEqual(calls, len(self.documents))
        done = self.copy.here(NAME, "--arm", "model", "--run-id", RUN, "--rescore")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.record(), self.provider.calls), (joined, calls))

    def test_a_changed_prompt_or_setting_is_asked_again_and_said(self):
        self.run_model()
        calls = self.provider.calls
        prompt = self.copy.kit[0] / "prompt.md"
        prompt.write_text(prompt.read_text(encoding="utf-8").replace("Answer with one", "Reply with one"), encoding="utf-8")
        done = self.run_model("--resume")
        self.assertEqual(self.provider.calls, 2 * calls, done.stderr)
        self.assertIn(f"{calls} replies belong to another prompt", done.stderr)

    def test_errors_do_not_count_as_done_and_the_run_says_how_to_go_on(self):
        answer, self.provider.answer = self.provider.answer, lambda body: ""
        data = str(self.copy.kit[0])
        done = self.run_model("--data", data, "--workers", "2", RETRIES="0")
        self.assertEqual(done.returncode, 3, done.stderr)
        typed = shlex.join([NAME, "--arm", "model", "--run-id", RUN, "--yes", "--data", data, "--workers", "2"])
        self.assertIn(f"\n  python -m evals.run {typed} --resume\n", done.stderr)
        found = json.loads(self.record())
        self.assertEqual(found["totals"]["outcomes"]["no_output"], len(self.documents))
        self.assertEqual(found["metrics"][0]["raw"]["num"], 0)
        self.provider.answer = answer
        done = self.run_model("--resume", "--data", data)
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"look at it: python -m src.app --data {shlex.quote(data)}\n", done.stderr)
        self.assertEqual(json.loads(self.record())["totals"]["outcomes"]["answered"], len(self.documents))

    def test_a_reply_that_cannot_be_read_is_counted_apart_while_the_run_goes_on(self):
        self.provider.answer = lambda body: "I cannot say."
        done = self.run_model()
        self.assertEqual(done.returncode, 3, done.stderr)
        number = len(self.documents)
        self.assertIn(f"{number}/{number} asked, 0 answered, {number} unparsed, 0 failed", done.stderr)

    def test_without_yes_and_without_a_terminal_nothing_is_spent(self):
        done = self.copy.here(NAME, "--arm", "model", "--run-id", RUN, **self.provider.environment())
        self.assertEqual((done.returncode, self.provider.calls), (2, 0))
        self.assertIn("--yes", done.stderr)

    def test_the_days_calls_end_a_run_that_can_be_resumed(self):
        done = self.run_model(MAX_CALLS_PER_DAY="7", EVAL_WORKERS="3")
        self.assertEqual((done.returncode, self.provider.calls), (3, 7))
        self.assertIn("MAX_CALLS_PER_DAY=7", done.stderr)
        self.assertIn("--resume", done.stderr)
        self.assertEqual(self.run_model("--resume").returncode, 0)
        self.assertEqual(self.provider.calls, len(self.documents))

    def test_a_setting_that_is_not_the_published_one_makes_a_calibration(self):
        for words, environment in ((("--limit", "2"), {}), ((), {"TEMPERATURE": "0.5"}), (("--max-tokens", "99"), {})):
            done = self.run_model(*words, **environment)
            self.assertEqual(done.returncode, 2)
            self.assertIn("calibration", done.stderr)
        self.assertEqual(self.provider.calls, 0)
        self.assertEqual(self.run_model("--limit", "2", run_id=f"c801-{HYPHENED}").returncode, 0)
        self.assertEqual(self.provider.calls, 2)

    def test_ctrl_c_keeps_what_was_answered_and_says_how_to_go_on(self):
        answer = self.provider.answer
        self.provider.answer = lambda body: (time.sleep(0.05), answer(body))[1]
        words = [sys.executable, "-m", "evals.run", NAME, "--arm", "model", "--run-id", RUN, "--yes", "--workers", "2"]
        process = subprocess.Popen(words, cwd=self.copy.root, env={**os.environ, **self.provider.environment()},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                   preexec_fn=heeds_ctrl_c)
        while self.provider.calls < 6 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume", err)
        self.assertNotIn("Traceback", err)
        asked = self.provider.calls
        self.provider.answer = answer
        self.assertEqual(self.run_model("--resume").returncode, 0)
        self.assertEqual(self.provider.calls, len(self.documents), f"{asked} were asked before, none may be asked twice")

    def test_a_run_killed_again_and_again_ends_in_the_record_of_an_undisturbed_one(self):
        workers = 2
        self.assertEqual(self.run_model("--workers", str(workers)).returncode, 0)
        whole = json.loads(self.record())
        for path in self.results.glob(f"*-{RUN}.json*"):
            path.unlink()
        answer, self.provider.calls = self.provider.answer, 0
        self.provider.answer = lambda body: (time.sleep(0.02), answer(body))[1]
        words = [sys.executable, "-m", "evals.run", NAME, "--arm", "model", "--run-id", RUN, "--yes", "--resume"]
        kills, chance = 0, random.Random(20260822)
        while kills < KILLS:
            process = subprocess.Popen([*words, "--workers", str(workers)], cwd=self.copy.root, stdin=subprocess.DEVNULL,
                                       env={**os.environ, **self.provider.environment()},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before, aim = self.provider.calls, chance.randrange(4)
            while process.poll() is None and self.provider.calls - before < aim:
                time.sleep(0.002)
            time.sleep(chance.random() * 0.03)
            process.kill()
            process.wait()
            kills += 1
        done = self.run_model("--resume", "--workers", str(workers))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(bare(json.loads(self.record())), bare(whole))
        self.assertLessEqual(self.provider.calls, len(self.documents) + kills * workers)

    def test_a_full_disk_ends_the_run_and_loses_nothing(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))
        words = [sys.executable, "-m", "evals.run", NAME, "--arm", "model", "--run-id", RUN, "--yes", "--workers", "3"]
        done = subprocess.run(words, cwd=self.copy.root, env={**os.environ, **self.provider.environment()},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=small_files)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"cache-{RUN}.jsonl", done.stderr)
        self.assertIn("could not be written", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        calls = self.provider.calls
        self.assertLess(calls, len(self.documents))
        self.assertEqual(self.run_model("--resume").returncode, 0)
        self.assertLessEqual(self.provider.calls, len(self.documents) + 3 * 3)

    def test_two_processes_do_not_write_one_run(self):
        answer = self.provider.answer
        self.provider.answer = lambda body: (time.sleep(0.1), answer(body))[1]
        words = [sys.executable, "-m", "evals.run", NAME, "--arm", "model", "--run-id", RUN, "--yes", "--workers", "1"]
        first = subprocess.Popen(words, cwd=self.copy.root, env={**os.environ, **self.provider.environment()},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            while self.provider.calls < 2 and first.poll() is None:
                time.sleep(0.01)
            second = self.run_model("--resume")
            self.assertEqual(second.returncode, 2, second.stderr)
            self.assertIn(f"process {first.pid} is writing this run", second.stderr)
        finally:
            first.kill()
            first.wait()
            self.provider.answer = answer
        self.assertEqual(self.run_model("--resume").returncode, 0)
        self.assertLessEqual(self.provider.calls, len(self.documents) + 1)
