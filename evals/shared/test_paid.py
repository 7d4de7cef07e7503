"""A model run against a provider on this machine: asked once, resumed, re-scored, interrupted, its key told nowhere."""
import base64
import contextlib
import io
import json
import os
import random
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import types
import unittest
import unittest.mock
import urllib.parse

from evals.shared import paid, progress, record, spending
from evals.shared.cache import Cache
from evals.shared.local_provider import DONE, HANG, RESET, chat, delta, error, event, http, stream
from evals.shared.local_provider import LocalProvider as ScriptedProvider
from evals.shared.provider import LocalProvider
from evals.shared.test_run import NAME, Checkout
from src.shared import adapters, cost, follow
from src.shared import kit as kits
from src.shared.config import Secret, Settings
from src.shared.files import to_json

HYPHENED = NAME.replace("_", "-")
RUN = f"r801-{HYPHENED}"


# A few kills in every run of the tests; .ci/run asks for a few dozen.
KILLS = int(os.environ.get("KILLS", 3))


def heeds_ctrl_c():
    """For a child process: tests that run in the background ignore Ctrl-C, and children would inherit that."""
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
    """One copy of the checkout and one provider for all tests: each leaves the provider as new, and no run behind."""

    @classmethod
    def setUpClass(cls):
        cls.copy = Checkout(types.SimpleNamespace(addCleanup=cls.addClassCleanup))
        cls.results = cls.copy.kit[1]
        cls.kit = kits.load(NAME, cls.copy.kit[0])
        cls.documents, cls.answer = list(cls.kit.documents()), staticmethod(by_page(cls.kit))
        cls.provider = cls.enterClassContext(LocalProvider(cls.answer))
        cls.kept = set(cls.results.rglob("*"))

    def setUp(self):
        self.provider.calls, self.provider.keys, self.provider.finish = 0, [], lambda body: "stop"
        self.provider.answer = self.answer

    def tearDown(self):
        for path in {path for path in self.results.rglob("*") if path.is_file()} - self.kept:
            path.unlink()
        shutil.rmtree(self.copy.root / "results" / "ledger", ignore_errors=True)

    def run_model(self, *words, run_id=RUN, shown=False, **environment):
        """A finished model run; its table, with all floors beside it, is only made where it is `shown`."""
        words = words if shown else ("--json", *words)
        return self.copy.here(NAME, "--arm", "model", "--run-id", run_id, "--yes", *words,
                              **self.provider.environment(**environment))

    def record(self, run_id=RUN):
        return (self.results / f"eval-{run_id}.json").read_text(encoding="utf-8")

    def test_each_document_is_asked_once_and_the_record_adds_up(self):
        done = self.run_model(shown=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{RUN}: arm model of {NAME}, {len(self.documents)} ", done.stdout)
        self.assertEqual(self.provider.calls, len(self.documents))
        found = json.loads(self.record())
        self.assertEqual([entry["id"] for entry in found["documents"]], self.documents)
        self.assertEqual(found["totals"]["outcomes"]["answered"], len(self.documents))
        self.assertEqual(found["totals"]["tokens"]["input"],
                         {"sum": 100 * len(self.documents), "calls": len(self.documents)})
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
        self.assertEqual(model(11, "--json"), 0)
        self.assertEqual(model(11, "--rescore", "--json"), 0)
        words = f"Incorrect key {key} or {key.replace('/', '%2F')} at /v1?key={key}"
        echo = {"message": words, "type": "x", "code": key}
        refusal = lambda status: http(json.dumps({"error": echo}).encode(), status)
        ending = [*map(refusal, (401, 403, 404)), http(b"", 302, [f"Location: http://127.0.0.1/?key={key}"]),
                  f"SSH {key}\r\n".encode()]
        passing = [*map(refusal, (400, 429, 500)), http(key.encode()), [RESET], stream(event({"error": echo})),
                   stream(delta(key, key), DONE)]
        for number, scripts in enumerate([*([script] for script in ending), passing], 20):
            with self.subTest(number), ScriptedProvider(*scripts) as scripted:
                some = [] if scripts is passing else ["--json"]
                self.assertEqual(model(number, "--workers", "1", *some, BASE_URL=scripted.url), 3)
                self.assertGreaterEqual(len(scripted.requests), len(scripts))
                self.assertIn(key, scripted.requests[0][0])
        with unittest.mock.patch("socket.create_connection", side_effect=socket.gaierror(socket.EAI_NONAME, key)):
            self.assertEqual(model(50, BASE_URL=f"http://{key[3:14]}.invalid/v1", no_proxy="*"), 3)
        wrong = [{"BASE_URL": f"http://me:{key}@host/v1"}, {"BASE_URL": f"http://host/v1?key={key}"}, {"BASE_URL": key},
                 {"API_KEY": f"{key} {key}"}, {"MAX_TOKENS": "x"}]
        for number, each in enumerate(wrong, 60):
            self.assertEqual(model(number, **each), 2)
        self.assertEqual(model(70, "--dry-run"), 0)
        files = [path for path in self.copy.root.rglob("*") if path.is_file() and path.suffix != ".py"]
        self.assertGreater(sum("cache-" in path.name for path in files), len(ending))
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

    def test_shards_that_owed_replies_are_joined_again_once_they_have_them(self):
        self.assertEqual(self.run_model("--shard", "1/2").returncode, 0)
        whole, self.provider.answer = self.provider.calls, lambda body: ""
        self.assertEqual(self.run_model("--shard", "2/2", RETRIES="0").returncode, 3)
        files = sorted(map(str, self.results.glob(f"eval-{RUN}.shard-*")))
        joined = self.copy.here(RUN, *files, module="evals.merge")
        owed = len(self.documents) - whole
        self.assertEqual(joined.returncode, 3, joined.stderr)
        self.assertIn(f"{owed} documents have no reply", joined.stderr)
        self.provider.answer = self.answer
        self.assertEqual(self.run_model("--shard", "2/2", "--resume", RETRIES="0").returncode, 0)
        for _ in range(2):      # the second time as after a kill between the replies and the record
            joined = self.copy.here(RUN, *files, module="evals.merge")
            self.assertEqual(joined.returncode, 0, joined.stderr)
            made = (self.results / f"eval-{RUN}.json").read_bytes()
            self.assertEqual(json.loads(made)["totals"]["paid"]["calls"], len(self.documents) + owed)
            done = self.copy.here(NAME, "--arm", "model", "--run-id", RUN, "--rescore", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.results / f"eval-{RUN}.json").read_bytes(), made)
            refused = self.copy.here(RUN, *files, module="evals.merge")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("not overwritten", refused.stderr)
            (self.results / f"eval-{RUN}.json").unlink()

    def test_a_reply_that_came_after_joining_is_neither_left_out_nor_lost(self):
        self.assertEqual(self.run_model("--shard", "1/2").returncode, 0)
        self.provider.finish = lambda body: "length"
        self.run_model("--shard", "2/2")
        files = sorted(map(str, self.results.glob(f"eval-{RUN}.shard-*.json")))
        self.assertEqual(self.copy.here(RUN, *files, module="evals.merge").returncode, 0)
        truncated = json.loads(self.record())["totals"]["outcomes"]["truncated"]
        self.assertGreater(truncated, 0)
        self.provider.finish = lambda body: "stop"
        self.assertEqual(self.run_model("--shard", "2/2", "--resume").returncode, 0)
        joined = self.copy.here(RUN, *files, module="evals.merge")
        self.assertEqual(joined.returncode, 0, joined.stderr)
        self.assertEqual(json.loads(self.record())["totals"]["outcomes"]["truncated"], 0)
        self.assertIn("not overwritten", self.copy.here(RUN, *files, module="evals.merge").stderr)

    def test_a_joined_run_that_was_resumed_keeps_what_it_paid_for(self):
        self.provider.answer = lambda body: ""
        for part in ("1/2", "2/2"):
            self.assertEqual(self.run_model("--shard", part, RETRIES="0").returncode, 3)
        files = sorted(map(str, self.results.glob(f"eval-{RUN}.shard-*.json")))
        self.assertEqual(self.copy.here(RUN, *files, module="evals.merge").returncode, 3)
        self.provider.answer = self.answer
        self.assertEqual(self.run_model("--resume").returncode, 0)
        before = self.record()
        refused = self.copy.here(RUN, *files, module="evals.merge")
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"would lose {len(self.documents)} documents' replies", refused.stderr)
        self.assertEqual(self.record(), before)

    def test_a_changed_prompt_or_setting_is_asked_again_and_said(self):
        self.run_model()
        calls = self.provider.calls
        prompt = self.copy.kit[0] / "prompt.md"
        before = prompt.read_text(encoding="utf-8")
        self.addCleanup(prompt.write_text, before, encoding="utf-8")
        prompt.write_text(before.replace("Answer with one", "Reply with one"), encoding="utf-8")
        done = self.run_model("--resume")
        self.assertEqual(self.provider.calls, 2 * calls, done.stderr)
        self.assertIn(f"{calls} replies belong to another prompt", done.stderr)

    def test_errors_do_not_count_as_done_and_the_run_says_how_to_go_on(self):
        answer, self.provider.answer = self.provider.answer, lambda body: ""
        data = str(self.copy.kit[0])
        done = self.run_model("--data", data, "--workers", "2", shown=True, RETRIES="0")
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

    def test_resume_asks_for_every_error_again_and_for_no_whole_reply(self):
        """Each way a call can end, one document each: which are asked again, and how they are counted meanwhile."""
        gold = chat(to_json({key: row.get(key) for row in [next(self.kit.gold())]
                             for key in self.kit.definition.keys(self.kit.book)}))
        whole = {"answered": gold, "unparsed": chat("I cannot say."), "harness_error": gold}
        errors = {"truncated": [chat('{"a": ', "length")],
                  "refused": [chat("No.", "content_filter"), chat("No.", "refusal")],
                  "no_output": [chat(""), chat("{}", "nobody-knows-this")],
                  "transport_error": [error(500), http(b"{", length=9), [RESET], error(400, "no such request")]}
        scripts = [*whole.values(), *(script for group in errors.values() for script in group)]
        selected = ["--docs", ",".join(self.documents[:len(scripts)]), "--workers", "1"]
        broken, read = self.documents[2], follow.read

        def fails_on_one(kit, document, completion):
            return 1 / 0 if document == broken else read(kit, document, completion)

        def run(*words):
            return self.copy.here(NAME, "--arm", "model", "--run-id", f"c802-{HYPHENED}", "--yes", *selected, *words,
                                  BASE_URL=provider.url, API_KEY="sk-1", MODEL="m", STREAM="off", RETRIES="0")

        with ScriptedProvider(*scripts) as provider:
            with unittest.mock.patch.object(follow, "read", fails_on_one):
                self.assertEqual(run().returncode, 3)
            found = json.loads(self.record(f"c802-{HYPHENED}"))["totals"]
            self.assertEqual(found["outcomes"], dict.fromkeys(whole, 1) | {name: len(errors[name]) for name in errors})
            self.assertEqual(len(provider.requests), len(scripts))
            provider.begin_with(gold)
            done = run("--resume")
            asked = [json.loads(body)["messages"][-1]["content"] for _, body in provider.requests]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("9 documents ended in an error before and are asked again: truncated 1, refused 2, no output 2, "
                      "transport error 4\n", done.stderr)
        again = self.documents[len(whole):len(scripts)]
        for document, page in zip(again, asked, strict=True):
            self.assertIn(self.kit.prompt(document)[-1].text, page)
        found = json.loads(self.record(f"c802-{HYPHENED}"))["totals"]
        self.assertEqual((found["outcomes"]["answered"], found["outcomes"]["unparsed"]), (len(scripts) - 1, 1))
        self.assertEqual(found["paid"]["calls"], len(scripts) + len(again))

    def test_a_cut_reply_ends_no_run_and_the_last_lines_say_that_it_would_be_paid_again(self):
        self.provider.finish = lambda body: "length" if self.provider.calls == 1 else "stop"
        done = self.run_model("--workers", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("truncated 1: counted as misses; the same command with --resume asks for them again", done.stderr)

    def test_a_reply_that_cannot_be_read_is_counted_apart_while_the_run_goes_on(self):
        self.provider.answer = lambda body: "I cannot say."
        done = self.run_model()
        self.assertEqual(done.returncode, 3, done.stderr)
        number = len(self.documents)
        self.assertIn(f"{number}/{number} asked, 0 answered, {number} unparsed, 0 failed", done.stderr)
        self.assertIn("not one reply holds what was asked for", done.stderr)
        self.assertNotIn("go on with", done.stderr)

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

    def test_further_attempts_are_calls_of_the_day_too(self):
        at_once = unittest.mock.patch.object(adapters, "FIRST_WAIT_SECONDS", 0.001)
        with ScriptedProvider(error(500)) as scripted, at_once:
            done = self.run_model("--workers", "2", BASE_URL=scripted.url, RETRIES="4", MAX_CALLS_PER_DAY="7")
        self.assertEqual((done.returncode, len(scripted.requests)), (3, 7), done.stderr)
        used, = (self.copy.root / "results" / "ledger").iterdir()
        self.assertEqual(used.stat().st_size, 7)

    def test_a_setting_that_is_not_the_published_one_makes_a_calibration(self):
        for words, environment in ((("--limit", "2"), {}), ((), {"TEMPERATURE": "0.5"}), (("--max-tokens", "99"), {})):
            done = self.run_model(*words, **environment)
            self.assertEqual(done.returncode, 2)
            self.assertIn("calibration", done.stderr)
        self.assertEqual(self.provider.calls, 0)
        self.assertEqual(self.run_model("--limit", "2", run_id=f"c801-{HYPHENED}").returncode, 0)
        self.assertEqual(self.provider.calls, 2)

    def test_what_would_only_come_to_light_behind_the_calls_is_refused_before_them(self):
        folder = self.results / "folder.json"
        folder.mkdir()
        self.addCleanup(folder.rmdir)
        for words, said in ((("--fail-under", "field.nosuch=0.5"), "no such metric"),
                            (("-o", str(folder)), "is a folder"), (("--workers", "100000"), "at most 256"),
                            (("--baseline", RUN, "--max-regressions", "-1"), "from 0")):
            done = self.run_model(*words)
            self.assertEqual((done.returncode, self.provider.calls), (2, 0), done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.run_model().returncode, 0)
        known = [metric["id"] for metric in json.loads(self.record())["metrics"] if metric["raw"]]
        done = self.run_model("--resume", *(word for name in known for word in ("--fail-under", f"{name}=0")))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_that_is_not_there_is_not_gone_on_with(self):
        for words in (("--rescore",), ("--resume",), ("--arm", "model", "--rescore")):
            done = self.copy.here(NAME, "--run-id", RUN, *words, **self.provider.environment())
            self.assertEqual((done.returncode, self.provider.calls), (2, 0), done.stderr)
            self.assertIn(f"{RUN}: no such run", done.stderr)

    def test_calls_that_a_second_ctrl_c_gives_up_are_not_counted_as_asked(self):
        with ScriptedProvider(chat("x"), [HANG]) as provider, contextlib.redirect_stderr(io.StringIO()) as said:
            settings = Settings(base_url=Secret(provider.url), model="m", api_key=Secret("sk-1"), stream=False)
            with Cache(self.results / f"cache-{RUN}.jsonl") as cache:
                asking = paid.Asking(self.kit, settings, cache, None)
                asking.budget = cost.Budget(None, asking.pricer, 1, 1)
                shown, joins = progress.Progress(len(self.documents), said), iter((2, 3))

                def interrupted(flight, join=paid._Flight._join):
                    while len(provider.requests) < 3:
                        time.sleep(0.005)
                    if next(joins, None):
                        raise KeyboardInterrupt
                    join(flight)

                with unittest.mock.patch.object(paid._Flight, "_join", interrupted):
                    _, was_interrupted = paid._ask_all(asking, iter(self.documents), 2, shown)
            with Cache(self.results / f"cache-{RUN}.jsonl") as cache:
                kinds = [line["completion"]["error"] and line["completion"]["error"]["kind"] for line in cache.lines()]
        self.assertEqual((was_interrupted, len(provider.requests), shown.done), (True, 3, 1))
        self.assertEqual(kinds, [None, "cancelled", "cancelled"])

    def test_the_question_before_spending_is_no_result(self):
        for answer, is_yes in (("y\n", True), ("n\n", False), ("", False)):
            out, err, typed = io.StringIO(), io.StringIO(), io.StringIO(answer)
            typed.isatty = lambda: True
            with (unittest.mock.patch("sys.stdin", typed), contextlib.redirect_stdout(out),
                  contextlib.redirect_stderr(err)):
                self.assertIs(spending.confirm("5 calls", False), is_yes)
            self.assertEqual((out.getvalue(), err.getvalue()), ("", "5 calls; go on? [y/N] "))

    def test_ctrl_c_keeps_what_was_answered_and_says_how_to_go_on(self):
        answer = self.provider.answer
        self.provider.answer = lambda body: (time.sleep(0.05), answer(body))[1]
        words = [sys.executable, "-m", "evals.run", NAME, "--arm", "model", "--run-id", RUN, "--yes", "--workers", "2"]
        process = subprocess.Popen(words, cwd=self.copy.root, env=self.copy.environment(**self.provider.environment()),
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
        self.assertEqual(self.provider.calls, len(self.documents), f"{asked} were asked before, none is asked twice")

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
            process = subprocess.Popen([*words, "--workers", str(workers)], cwd=self.copy.root,
                                       stdin=subprocess.DEVNULL, env=self.copy.environment(**self.provider.environment()),
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
        done = subprocess.run(words, cwd=self.copy.root, env=self.copy.environment(**self.provider.environment()),
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
        first = subprocess.Popen(words, cwd=self.copy.root, env=self.copy.environment(**self.provider.environment()),
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
