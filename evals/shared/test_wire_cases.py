"""What public bug reports taught about provider replies: the shared list of cases where it is at hand, and own copies.

The list stands beside the repository (../shared/cases/wire.jsonl, families A stream, B body, C retry and errors), and
with it a server of its exact bytes. Every case is asserted against its `right`; where this project decides otherwise on
purpose, the reason stands in DECIDED_HERE.
"""
import concurrent.futures
import gzip
import importlib.util
import json
import os
import socket
import unittest
import unittest.mock
from pathlib import Path

from evals.shared.local_provider import DONE, RESET, LocalProvider, chat, delta, error, event, http, stream
from src.shared import adapters
from src.shared.adapters import transport, waits
from src.shared.config import Secret, Settings
from src.shared.parts import Part

SHARED = Path(__file__).resolve().parents[3] / "shared"
CASES = SHARED / "cases" / "wire.jsonl"
SERVER = SHARED / "tools" / "fake_provider.py"
KEY = "sk-test-KEY-1234567890"
PROMPT = [Part("rules", "system", "Decide.", True), Part("document", "user", "Doc 1")]
PROVIDER = {"openai": "openai-compatible", "anthropic": "anthropic"}

# Our word for an error of the list. "truncated" is a document cut by MAX_TOKENS in this project's run records, so a
# reply cut by the connection has a name of its own; a timeout says which of the three clocks ran out.
KIND = {"truncated": {"reply_cut"},
        "timeout": {"timeout_first_output", "timeout_between_outputs", "timeout_total"}}
# What is decided here and differently in the list: error → the most attempts made, and why.
DECIDED_HERE = {
    "empty_answer": (2, "a reply with no output is asked for once more, not as often as RETRIES says"),
    "transport": (2, "a failed connection is tried once more, not as often as RETRIES says"),
    "timeout": (2, "silence is tried once more, not as often as RETRIES says"),
}


def settings_of(case, url):
    """RETRIES=2, as the list counts attempts; clocks from the case where it names them."""
    wire, right = case["wire"], case["right"]
    deadline = right.get("client_deadline_s", 20.0)
    return Settings(provider=PROVIDER[wire["api"]], base_url=Secret(url), api_key=Secret(KEY), model="m",
                    stream=wire["stream"], retries=2, first_output_seconds=deadline, total_seconds=deadline,
                    between_output_seconds=right.get("client_timeout_s", 20.0))


class Judging(unittest.TestCase):
    """Compares a completion with the `right` of a case."""

    def judge(self, done, right):
        if right["outcome"] == "ok":
            self.assertIsNone(done.error)
            self.assertEqual(done.text, right["text"])
            self.assertEqual(done.finish, right["finish"])
            self.assertEqual(done.notes, right.get("notes", []))
            attempts = right["attempts"]
        else:
            self.assertIsNotNone(done.error, f"taken as an answer: {done.text}")
            self.assertIn(done.error["kind"], KIND.get(right["error"], {right["error"]}))
            self.assertEqual(done.error["scope"], right["scope"])
            attempts = min(right["attempts"], DECIDED_HERE.get(right["error"], (right["attempts"],))[0])
            wanted = right.get("detail") or right.get("param")
            self.assertIn(wanted, (None, done.error["detail"]))
        self.assertEqual(len(done.attempts), attempts)
        for field, count in right.get("usage", {}).items():
            self.assertEqual(done.usage[field], count, field)
        self.assertGreaterEqual(sum(a["wait_seconds"] for a in done.attempts), right.get("wait_at_least_s", 0))
        self.assertLess(done.seconds["total"], right.get("elapsed_below_s", 60))
        for secret in [KEY, *right.get("message_must_not_contain", [])]:
            self.assertNotIn(secret, repr(done))


def shared_cases():
    with CASES.open("rb") as lines:
        return [case for case in map(json.loads, lines) if case["family"] in "ABC"]


@unittest.skipUnless(CASES.is_file() and SERVER.is_file(),
                     "../shared/cases/wire.jsonl and its server are not at hand; the own copies run instead")
class SharedList(Judging):
    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("fake_provider", SERVER)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cls.cases = [case for case in shared_cases() if "wire" in case]

        def call(case):
            return adapters.complete(settings_of(case, provider.url(case["id"])), PROMPT)

        with module.FakeProvider() as provider, unittest.mock.patch.object(adapters, "FIRST_WAIT_SECONDS", 0.05), \
                concurrent.futures.ThreadPoolExecutor(16) as pool:
            cls.done = dict(zip((case["id"] for case in cls.cases), pool.map(call, cls.cases)))
            cls.log = provider.log()

    def test_every_served_case_ends_as_it_should(self):
        self.assertTrue(self.cases)
        for case in self.cases:
            with self.subTest(case["id"], why=case["why"]):
                self.judge(self.done[case["id"]], case["right"])

    def test_no_redirect_was_followed_and_no_key_came_along(self):
        self.assertEqual([entry for entry in self.log if "/__trap/" in entry["path"]], [])

    def test_every_case_that_is_not_served_is_asked_of_the_part_it_concerns(self):
        for case in shared_cases():
            if "wire" not in case:
                with self.subTest(case["id"], why=case["why"]):
                    self.ask(case["input"], case["right"])

    def ask(self, given, right):
        if "seconds" in right:
            seconds = [waits.seconds_until(value, given["now_epoch"]) for value in given["values"]]
            self.assertEqual(seconds, right["seconds"])
        elif "connects_to" in right:
            with unittest.mock.patch.dict(os.environ, given["env"]):
                connection, _, _ = transport._route(given["base_url"], 1)
            self.assertEqual(f"{connection.host}:{connection.port}", right["connects_to"])
        elif "EAI_AGAIN" in right:
            for name, wanted in right.items():
                self.judge(call_unknown_host(given["base_url"], getattr(socket, name)), wanted)
        else:
            self.fail("no test reads a case of this shape")


def call_unknown_host(url, errno):
    settings = Settings(base_url=Secret(url), api_key=Secret(KEY), model="m", retries=2)
    with unittest.mock.patch("socket.create_connection", side_effect=socket.gaierror(errno, "no")), \
            unittest.mock.patch.object(adapters, "FIRST_WAIT_SECONDS", 0.01), \
            unittest.mock.patch.dict(os.environ, {"no_proxy": "*"}):
        return adapters.complete(settings, PROMPT)


TEXT = '{"verdict":"yes"}'
BODY = chat(TEXT).split(b"\r\n\r\n")[1]
HALF, REST = '{"verdict"', ':"yes"}'
WHOLE = [delta(HALF), delta(REST), delta(finish="stop"), DONE]


def sse(name, **fields):
    """One event of the anthropic wire."""
    return f"event: {name}\n".encode() + event({"type": name, **fields})


START = sse("message_start", message={"model": "m", "usage": {"input_tokens": 25, "cache_read_input_tokens": 4}})
SAID = sse("content_block_delta", index=0, delta={"type": "text_delta", "text": TEXT})
STOP = sse("message_delta", delta={"stop_reason": "end_turn"}, usage={"input_tokens": 20, "output_tokens": 15})


def message(*content, stop_reason="end_turn"):
    return http(json.dumps({"content": content, "stop_reason": stop_reason, "usage": {"input_tokens": 11}}).encode())


def fails(kind, attempts=1, scope="attempt", **more):
    return {"outcome": "fail", "error": kind, "attempts": attempts, "scope": scope, **more}


OK = {"outcome": "ok", "text": TEXT, "finish": "stop", "attempts": 1}
CUT = fails("truncated", 3)
CHUNKED = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"

# (claim, wire, scripts of the attempts, right). Written for this project in the manner of the list.
OWN = [
    ("comments between events are nothing", "openai",
     [stream(b": wait\n\n:\n", WHOLE[0], b": wait\n\n", *WHOLE[1:])], OK),
    ("empty data is nothing", "openai", [stream(b"data:\n\ndata\n\n", *WHOLE)], OK),
    ("a lone carriage return ends a line", "openai", [stream(b"".join(WHOLE).replace(b"\n", b"\r"))], OK),
    ("a byte order mark may come in pieces", "openai", [stream(b"\xef", 0.02, b"\xbb", 0.02, b"\xbf", *WHOLE)], OK),
    ("a byte order mark may stand before any line", "openai",
     [stream(WHOLE[0], b"\xef\xbb\xbf" + WHOLE[1], *WHOLE[2:])], OK),
    ("a word on the way is no answer yet", "openai", [b"HTTP/1.1 103 X\r\nLink: x\r\n\r\n" + http(BODY)], OK),
    ("a character may be cut in the middle", "openai",
     [stream(b'data: {"choices":[{"delta":{"content":"5 \xc2', 0.02, b'\xb5g"},"finish_reason":"stop"}]}\n\n', DONE)],
     OK | {"text": "5 µg"}),
    ("the end of the stream ends its last event", "openai", [stream(*WHOLE[:3], DONE.rstrip())], OK),
    ("the last text may come with the finish word", "openai", [stream(WHOLE[0], delta(REST, "stop"), DONE)], OK),
    ("a finish word proves the answer without an end marker", "openai", [stream(*WHOLE[:3])],
     OK | {"notes": ["no_done_marker"]}),
    ("a finish word proves the answer before a reset", "openai", [stream(*WHOLE[:3], 0.1, RESET)],
     OK | {"notes": ["no_done_marker"]}),
    ("the end of a stream is not the end of an answer", "openai", [stream(*WHOLE[:2])], CUT),
    ("a stream cut inside an event is cut", "openai", [stream(WHOLE[0], WHOLE[1][:30])], CUT),
    ("a properly closed chunked body may still be cut", "openai",
     [CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(WHOLE[0]), WHOLE[0])], CUT),
    ("a chunked body without its last chunk is cut", "openai",
     [CHUNKED + b"%x\r\n%s\r\n" % (len(WHOLE[0]), WHOLE[0])], CUT),
    ("a body shorter than announced is cut, whatever it says", "openai", [http(BODY, length=999)],
     CUT),
    ("a message without its stop is cut", "anthropic", [stream(START, SAID)], CUT),
    ("a stop reason proves a message", "anthropic", [stream(START, SAID, STOP)],
     OK | {"notes": ["no_done_marker"], "usage": {"input": 20, "cached": 4, "output": 15}}),
    ("an overloaded error may come inside a message", "anthropic",
     [stream(START, SAID, sse("error", error={"type": "overloaded_error", "message": "x"}))], fails("overloaded", 3)),
    ("blocks are told by type, not by place", "anthropic",
     [message({"type": "redacted_thinking"}, {"type": "text", "text": HALF}, {"type": "text", "text": REST})], OK),
    ("the stop reason decides, not the text", "anthropic",
     [message({"type": "text", "text": TEXT}, stop_reason="refusal")], fails("refusal", scope="document")),
    ("a message without content is empty", "anthropic", [message()], fails("empty_answer", 3)),
    ("the output limit ends the matter before any parsing", "openai", [chat(TEXT, "length")],
     fails("output_limit", scope="document")),
    ("filtered text is no answer", "openai", [chat(TEXT, "content_filter")], fails("content_filter", scope="document")),
    ("a refusal may come in its own field", "openai", [stream(delta(refusal="No."), delta(finish="stop"), DONE)],
     fails("refusal", scope="document")),
    ("a tool call is no answer", "openai", [chat(None, "tool_calls")], fails("empty_answer", 3, detail="tool_calls")),
    ("another word for stop means stop", "openai", [chat(TEXT, "end_turn")], OK),
    ("content may be a list of parts", "openai",
     [chat([{"type": "thinking", "thinking": [{"type": "text", "text": "no"}]}, {"type": "text", "text": TEXT}])], OK),
    ("an answer filed whole under reasoning is taken and noted", "openai",
     [stream(delta(reasoning_content=TEXT), delta(finish="stop"), DONE)], OK | {"notes": ["text_from_reasoning"]}),
    ("reasoning that only holds an answer is none", "openai",
     [stream(delta(reasoning_content="so " + TEXT), delta(finish="stop"), DONE)], fails("empty_answer", 3)),
    ("no choices at all is tried again", "openai", [http(b'{"choices":[]}'), chat(TEXT)], OK | {"attempts": 2}),
    ("a second value behind the first spoils the body", "openai", [http(b'{"choices":[]}\n{"error":{"code":500}}')],
     fails("bad_body", 3)),
    ("a body may begin with a mark and end in zeros", "openai",
     [http(b"\xef\xbb\xbf" + BODY + b"\n\0\0")], OK),
    ("a web page with status 200 is a wrong address", "openai", [http(b"\n<!DOCTYPE html><title>Sign in</title>")],
     fails("config", scope="run")),
    ("what is no HTTP is a wrong address", "openai", [b"SSH-2.0-x\r\n"], fails("config", scope="run")),
    ("gzip is known by its bytes alone", "openai", [http(gzip.compress(BODY))], OK),
    ("gzip may come in members", "openai", [http(gzip.compress(BODY[:9]) + gzip.compress(BODY[9:]))], OK),
    ("half a gzip is cut", "openai", [http(gzip.compress(BODY)[:-20])], CUT),
    ("a plain body under a gzip header is plain", "openai",
     [http(BODY).replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n", 1)], OK),
    ("a wait asked for is kept", "openai", [error(429, "x", ["retry-after-ms: 300", "Retry-After: 9"]), chat(TEXT)],
     OK | {"attempts": 2, "wait_at_least_s": 0.3, "elapsed_below_s": 4}),
    *((f"a wait of {wait} is passed over", "openai", [error(429, "x", [f"Retry-After: {wait}"]), chat(TEXT)],
       OK | {"attempts": 2, "elapsed_below_s": 4})
      for wait in ("nan", "-5", "inf", "1, 2", "Wed, 21 Oct 2015 07:28:00 GMT")),
    ("a wait beyond measure ends the run", "openai", [error(429, "x", ["Retry-After: 99999999999"])],
     fails("rate_limit", scope="run")),
    ("an answer may follow a closed connection", "openai", [[], chat(TEXT)], OK | {"attempts": 2}),
]


class OwnCopies(Judging):
    @classmethod
    def setUpClass(cls):
        def call(row):
            _, wire, scripts, _ = row
            with LocalProvider(*scripts) as provider:
                case = {"wire": {"api": wire, "stream": True}, "right": {}}
                return adapters.complete(settings_of(case, provider.url), PROMPT)

        with unittest.mock.patch.object(adapters, "FIRST_WAIT_SECONDS", 0.05), \
                concurrent.futures.ThreadPoolExecutor(8) as pool:
            cls.done = list(pool.map(call, OWN))

    def test_every_copy_ends_as_it_should(self):
        for (claim, _, _, right), done in zip(OWN, self.done):
            with self.subTest(claim):
                self.judge(done, right)

    def test_the_claims_are_distinct_and_short(self):
        claims = [row[0] for row in OWN]
        self.assertEqual(len(claims), len(set(claims)))
        self.assertLess(max(map(len, claims)), 60)


if __name__ == "__main__":
    unittest.main()
