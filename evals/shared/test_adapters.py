"""The call to a model, against a provider on this machine that is played byte by byte."""
import concurrent.futures
import contextlib
import email.message
import io
import json
import os
import socket
import ssl
import threading
import time
import traceback
import unittest
import unittest.mock

from evals.shared.local_provider import DONE, HANG, KEPT, RESET, LocalProvider, chat, delta, error, event, http, stream
from src.shared import adapters
from src.shared.adapters import answer, faults, sse, transport, waits
from src.shared.config import Secret, Settings
from src.shared.files import BadData
from src.shared.parts import Part

KEY = "sk-test-KEY-1234567890"
PROMPT = [Part("rules", "system", "Be brief.", True), Part("form", "system", " Answer in JSON.", True),
          Part("document", "user", "Größe 5 µg")]
GOOD = chat('{"a":1}')
PNG = b"\x89PNG..."


class Calling(unittest.TestCase):
    """Short waits, a key to look for, and no memory of other tests' models."""

    @classmethod
    def setUpClass(cls):
        cls.provider = cls.enterClassContext(LocalProvider())

    def setUp(self):
        for place, name, value in ((adapters, "FIRST_WAIT_SECONDS", 0.003), (transport, "TAIL_SECONDS", 0.12),
                                   (transport, "POLL_SECONDS", 0.03), (adapters, "_learned", {}),
                                   (adapters, "_reached", set())):
            patch = unittest.mock.patch.object(place, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def settings(self, url="http://127.0.0.1:9/v1", **more):
        more = {"model": "m", "api_key": Secret(KEY), "retries": 2, "first_output_seconds": 5.0, **more}
        return Settings(base_url=Secret(url), **more)

    def call(self, *scripts, parts=PROMPT, schema=None, max_tokens=None, on_progress=None, stop=None, **more):
        """Completion of one call; the requests that came are left in self.requests."""
        self.provider.begin_with(*scripts)
        done = adapters.complete(self.settings(self.provider.url, **more), parts, schema=schema, max_tokens=max_tokens,
                                 on_progress=on_progress, stop=stop)
        self.requests = self.provider.requests
        self.assertNotIn(KEY, repr(done))
        return done

    def body(self, n=0):
        return json.loads(self.requests[n][1])


class Requests(Calling):
    def test_parts_of_one_role_become_one_message_and_only_what_is_set_is_sent(self):
        done = self.call(GOOD, stream=False)
        self.assertEqual(done.text, '{"a":1}')
        self.assertEqual(self.body(), {"model": "m", "max_tokens": 8192, "messages": [
            {"role": "system", "content": "Be brief. Answer in JSON."}, {"role": "user", "content": "Größe 5 µg"}]})
        self.assertIn(f"Authorization: Bearer {KEY}\r\n", self.requests[0][0])
        self.assertTrue(self.requests[0][0].startswith("POST /v1/chat/completions HTTP/1.1"))

    def test_a_stream_asks_for_its_usage_and_settings_are_sent_when_set(self):
        self.call(stream(delta("x", "stop"), DONE), temperature=0.0, thinking="low", json_mode="object", max_tokens=7)
        body = self.body()
        self.assertEqual((body["stream"], body["stream_options"]), (True, {"include_usage": True}))
        self.assertEqual((body["temperature"], body["reasoning_effort"], body["max_tokens"]), (0.0, "low", 7))
        self.assertEqual(body["response_format"], {"type": "json_object"})

    def test_a_schema_goes_into_the_providers_own_option(self):
        schema = {"type": "object"}
        request = adapters.request_body(self.settings(json_mode="schema"), PROMPT, schema=schema)
        self.assertEqual(request["response_format"]["json_schema"]["schema"], schema)
        settings = self.settings(json_mode="schema", provider="anthropic", thinking="high")
        request = adapters.request_body(settings, PROMPT, schema=schema)
        self.assertEqual(request["output_config"],
                         {"effort": "high", "format": {"type": "json_schema", "schema": schema}})

    def test_images_turn_a_message_into_a_list_on_both_wires(self):
        parts = [*PROMPT, Part("page", "user", "", False, PNG)]
        request = adapters.request_body(self.settings(), parts)
        self.assertEqual(request["messages"][1]["content"], [
            {"type": "text", "text": "Größe 5 µg"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORy4uLg=="}}])
        request = adapters.request_body(self.settings(provider="anthropic"), parts)
        self.assertEqual(request["system"], "Be brief. Answer in JSON.")
        self.assertEqual(request["messages"][0]["content"][1]["source"],
                         {"type": "base64", "media_type": "image/png", "data": "iVBORy4uLg=="})

    def test_the_anthropic_wire_names_its_version_and_its_key(self):
        reply = http(json.dumps({"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}).encode())
        done = self.call(reply, stream=False, provider="anthropic", thinking=1024)
        self.assertEqual((done.text, done.finish), ("x", "stop"))
        head = self.requests[0][0]
        self.assertTrue(head.startswith("POST /v1/messages "))
        self.assertIn(f"x-api-key: {KEY}", head)
        self.assertIn("anthropic-version: 2023-06-01", head)
        self.assertEqual(self.body()["thinking"], {"type": "enabled", "budget_tokens": 1024})

    def test_a_thinking_object_is_sent_as_it_stands_but_sets_nothing_twice(self):
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        request = adapters.request_body(self.settings(thinking=extra), PROMPT)
        self.assertEqual(request, adapters.request_body(self.settings(), PROMPT) | extra)
        with self.assertRaisesRegex(BadData, "THINKING.*model"):
            adapters.request_body(self.settings(thinking={"model": "other"}), PROMPT)

    def test_an_empty_thinking_object_adds_nothing(self):
        for provider in ("openai-compatible", "anthropic"):
            self.assertEqual(adapters.request_body(self.settings(provider=provider, thinking={}), PROMPT),
                             adapters.request_body(self.settings(provider=provider), PROMPT))

    def test_settings_that_cannot_make_a_call_are_refused_before_it(self):
        for settings, named in ((Settings(), "BASE_URL"), (self.settings(json_mode="schema"), "JSON_MODE"),
                                (self.settings(thinking=9), "THINKING"),
                                (self.settings(json_mode="object", provider="anthropic"), "JSON_MODE")):
            with self.assertRaisesRegex(BadData, named):
                adapters.complete(settings, PROMPT)

    def test_no_key_means_no_credential_header(self):
        self.call(GOOD, stream=False, api_key=None)
        self.assertNotIn("authorization", self.requests[0][0].casefold())


class Adapting(Calling):
    REFUSED = error(400, "Unsupported parameter: 'max_tokens' is not supported with this model. "
                         "Use 'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter")
    WARM = error(400, "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
                      "is supported.", param="temperature", code="unsupported_value")

    def test_a_refused_field_is_renamed_or_dropped_once_noted_and_remembered(self):
        with LocalProvider(self.REFUSED, self.WARM, GOOD) as provider:
            settings = self.settings(provider.url, stream=False, temperature=0.0, retries=0)
            first, second = adapters.complete(settings, PROMPT), adapters.complete(settings, PROMPT)
            bodies = [json.loads(body) for _, body in provider.requests]
        self.assertEqual([first.error, second.error], [None, None])
        self.assertEqual(first.notes, ["max_tokens_sent_as_max_completion_tokens", "temperature_dropped"])
        self.assertEqual(second.notes, first.notes)
        self.assertEqual([a["kind"] for a in first.attempts], ["param_unsupported", "param_unsupported", None])
        self.assertEqual(len(bodies), 4)
        self.assertEqual(bodies[3], bodies[2])
        self.assertEqual(bodies[2]["max_completion_tokens"], 8192)
        self.assertFalse({"max_tokens", "temperature"} & set(bodies[2]))

    def test_a_field_that_stays_refused_or_was_never_sent_ends_the_run(self):
        done = self.call(self.WARM, stream=False, temperature=0.0)
        self.assertEqual((len(done.attempts), done.error["kind"], done.error["scope"], done.error["detail"]),
                         (2, "param_unsupported", "run", "temperature"))
        self.assertEqual(len(self.call(self.WARM, stream=False).attempts), 1)

    def test_a_value_out_of_range_is_a_setting_to_mend_not_a_field_to_drop(self):
        done = self.call(error(400, "max_tokens must be at most 4096"), stream=False)
        self.assertEqual((done.error["kind"], len(done.attempts)), ("config", 1))


class Clocks(Calling):
    """All that has to wait in a test waits at the same time."""

    PING = b": ping\n\n"
    PATIENT = {"first_output_seconds": 0.15, "between_output_seconds": 0.15}
    HASTY = {"first_output_seconds": 0.1, "between_output_seconds": 0.1, "retries": 0}

    def together(self, *calls):
        """Completions of calls, each (script, {setting: value}) to a provider of its own."""
        def ask(script, more):
            with LocalProvider(script) as provider:
                return adapters.complete(self.settings(provider.url, **more), PROMPT)
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(ask, *zip(*calls)))
        self.assertLess(time.monotonic() - begun, 2)
        return found

    def test_no_clock_is_fed_by_comments_roles_or_empty_pieces(self):
        noise = [self.PING, 0.02, delta(role="assistant"), 0.02, delta(""), 0.02] * 30
        silent, begun = self.together((stream(*noise), self.HASTY), (stream(delta("12345"), *noise), self.HASTY))
        self.assertEqual(silent.error["kind"], "timeout_first_output")
        self.assertRegex(silent.error["message"], r"after 0 characters \(\d+ bytes\)")
        self.assertEqual(begun.error["kind"], "timeout_between_outputs")
        self.assertIn("after 5 characters", begun.error["message"])

    def test_a_slow_answer_or_long_reasoning_that_keeps_coming_is_not_cut_off_by_silence_limits(self):
        slowly = lambda piece: [each for _ in range(5) for each in (0.04, piece)]
        answer, thought = self.together(
            (stream(*slowly(delta("x")), delta(finish="stop"), DONE), self.PATIENT),
            (stream(*slowly(delta(reasoning_content="hm")), delta("x", "stop"), DONE), self.PATIENT))
        self.assertEqual((answer.error, answer.text), (None, "x" * 5))
        self.assertGreater(answer.seconds["receive"], self.PATIENT["between_output_seconds"])
        self.assertGreaterEqual(answer.seconds["total"],
                                answer.seconds["receive"] + answer.seconds["first_output"] - 0.01)
        self.assertEqual((thought.error, thought.text), (None, "x"))

    def test_the_backstop_holds_over_all_attempts_together(self):
        drip = [piece for _ in range(40) for piece in (delta("x"), 0.05)]
        dripping, silent = self.together(
            (stream(*drip), {"total_seconds": 0.2, "retries": 0}),
            (stream(HANG), {"total_seconds": 0.25, "retries": 4, "first_output_seconds": 0.15}))
        self.assertEqual(dripping.error["kind"], "timeout_total")
        self.assertRegex(dripping.error["message"], r"^the time for a whole call is over, after \d+ characters")
        self.assertEqual([a["kind"] for a in silent.attempts], ["timeout_first_output", "timeout_total"])
        self.assertLess(silent.seconds["total"], 1)

    def test_a_server_that_never_answers_or_stops_inside_its_head_is_silence_too(self):
        scripts = [HANG], [b"HTTP/1.1 200 OK\r\nContent-", HANG], [http(b"", length=50), b' {"choices"', HANG]
        for done in self.together(*((script, {**self.HASTY, "stream": False}) for script in scripts)):
            self.assertTrue(done.error["kind"].startswith("timeout_"), done.error)

    def test_after_the_finish_word_only_a_short_tail_is_waited_for(self):
        usage = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
        tails = ((HANG,), None), ((0.02, usage, HANG), 3), ((0.02, usage, DONE, HANG), 3)
        found = self.together(*((stream(delta("x", "stop"), *tail), {}) for tail, _ in tails))
        for done, (tail, input_tokens) in zip(found, tails):
            self.assertLess(done.seconds["total"], 1)
            self.assertEqual((done.error, done.text, done.usage["input"]), (None, "x", input_tokens))
            self.assertEqual(done.notes, [] if DONE in tail else ["no_done_marker"])

    def test_a_finish_word_before_the_text_neither_hurries_nor_proves_the_answer(self):
        early = delta(reasoning_content="hm", finish="stop")
        late, half = self.together((stream(early, 0.15, delta("x"), 0.15, delta("y", "stop"), DONE), {}),
                                   (stream(early, delta("half")), {"retries": 0}))
        self.assertEqual((late.error, late.text), (None, "xy"))
        self.assertEqual((half.error["kind"], half.text), ("reply_cut", ""))

    def test_an_error_status_stands_though_its_body_never_ends(self):
        done = self.call([http(b"", 401, length=90) + b'{"error"', HANG], stream=False)
        self.assertEqual((done.error["kind"], done.attempts[0]["status"]), ("auth", 401))


class Stopping(Calling):
    def test_a_stop_ends_a_silent_call_and_a_long_wait_at_once(self):
        for script in (stream(delta("x"), HANG), error(429, "slow down", ["Retry-After: 60"])):
            stop = threading.Event()
            threading.Timer(0.05, stop.set).start()
            begun = time.monotonic()
            done = self.call(script, stop=stop)
            self.assertLess(time.monotonic() - begun, 1)
            self.assertEqual((done.error["kind"], done.error["scope"]), ("cancelled", "run"))

    def test_a_callable_stops_before_anything_is_sent(self):
        done = self.call(GOOD, stop=lambda: True)
        self.assertEqual((done.error["kind"], self.requests), ("cancelled", []))

    def test_progress_counts_characters(self):
        seen = []
        self.call(stream(delta("12"), delta(""), delta("345", "stop"), DONE), on_progress=seen.append)
        self.assertEqual(seen, [2, 5])


class Retrying(Calling):
    def test_each_status_is_retried_or_not(self):
        often = dict.fromkeys((408, 409, 425, 429, 500, 502, 503, 520, 524, 529), 3)
        never = dict.fromkeys((301, 400, 401, 402, 403, 404, 405, 413, 418, 422), 1)

        for status, wanted in (often | never).items():
            self.assertEqual(len(self.call(error(status, "no")).attempts), wanted, status)

    def test_a_broken_connection_and_an_empty_answer_are_tried_once_more(self):
        for script in ([RESET], stream(delta("x"), RESET), chat(""), chat(" \n"), stream(delta(finish="stop"), DONE)):
            self.assertEqual(len(self.call(script, retries=4).attempts), 2)
            self.assertIsNone(self.call(script, GOOD).error)

    def test_no_retries_means_one_attempt(self):
        self.assertEqual(len(self.call(error(500), retries=0).attempts), 1)

    def test_no_attempt_is_made_that_the_caller_forbids(self):
        for first in (error(500), error(400, "temperature is not supported")):      # tried again, sent again changed
            allowed = iter([True] * 2)
            self.provider.begin_with(first, error(500))
            done = adapters.complete(self.settings(self.provider.url, retries=4, temperature=0.5), PROMPT,
                                     again=lambda: next(allowed, False))
            self.assertEqual((done.error["kind"], len(done.attempts)), ("server_error", 3))
            self.assertEqual(len(self.provider.requests), 3)

    def test_every_attempt_is_recorded_with_its_wait_and_usage(self):
        empty = chat("", usage={"prompt_tokens": 9, "completion_tokens": 0})
        done = self.call(error(503, "Loading model"), empty, GOOD, stream=False)
        self.assertEqual([(a["status"], a["kind"]) for a in done.attempts],
                         [(503, "server_error"), (200, "empty_answer"), (200, None)])
        self.assertEqual(done.attempts[1]["usage"]["input"], 9)
        self.assertTrue(all(a["wait_seconds"] > 0 for a in done.attempts[:2]))
        self.assertEqual(done.attempts[2]["wait_seconds"], 0)

    def test_each_attempt_owns_its_text(self):
        done = self.call(stream(delta('{"a":9')), stream(delta('{"a"'), delta(":1}", "stop"), DONE))
        self.assertEqual((done.text, len(done.attempts)), ('{"a":1}', 2))

    def test_a_wait_longer_than_anyone_should_sleep_stops_the_run(self):
        done = self.call(error(429, "later", ["Retry-After: 86400"]))
        self.assertEqual((done.error["scope"], len(done.attempts)), ("run", 1))
        self.assertIn("86400 s", done.error["message"])

    def test_a_wait_that_would_outlast_the_call_is_not_begun(self):
        done = self.call(error(429, "later", ["Retry-After: 30"]), total_seconds=2.0)
        self.assertEqual((done.error["kind"], done.error["scope"], len(done.attempts)), ("rate_limit", "attempt", 1))

    def test_the_server_may_order_or_forbid_a_retry(self):
        self.assertEqual(len(self.call(error(500, "no", ["x-should-retry: false"])).attempts), 1)
        self.assertEqual(len(self.call(error(400, "no", ["x-should-retry: true"])).attempts), 3)
        self.assertEqual(len(self.call(error(401, "no", ["x-should-retry: true"])).attempts), 1)


class Waits(unittest.TestCase):
    NOW = 1705312170

    def test_every_way_to_name_a_time_is_read(self):
        cases = {"1s": 1, "6m0s": 360, "500ms": .5, "1h2m3s": 3723, "2m30.5s": 150.5, "60": 60, "1.5": 1.5, "0": 0,
                 "1705312200": 30, "1705312200000": 30, "1705312100": 0, "2024-01-15T09:50:00Z": 30,
                 "2024-01-15T09:50:00": 30, "Mon, 15 Jan 2024 09:50:00 GMT": 30, "Mon, 15 Jan 2024 09:50:00 -0000": 30,
                 "Monday, 15-Jan-24 09:50:00 GMT": 30, "Mon, 15 Jan 2024 08:00:00 GMT": 0}
        for value, seconds in cases.items():
            self.assertEqual(waits.seconds_until(value, self.NOW), seconds, value)

    def test_what_names_no_time_is_passed_over(self):
        for value in ("", " ", "-5", "nan", "inf", "1e9", "soon", "1_000", "٣", "9" * 400, "99999-01-01", "Mon, 9 Foo"):
            self.assertIsNone(waits.seconds_until(value, self.NOW), value)

    def test_a_date_without_a_zone_does_not_depend_on_the_machines_zone(self):
        with unittest.mock.patch.dict(os.environ, TZ="America/New_York"):
            time.tzset()
            wait = waits.seconds_until("Mon, 15 Jan 2024 09:50:00 -0000", self.NOW)
        time.tzset()
        self.assertEqual(wait, 30)

    def test_the_most_exact_header_wins_and_resets_count_only_for_used_up_limits(self):
        def asked(said="", limited=True, **named):
            headers = email.message.Message()
            for name, value in named.items():
                headers[name.replace("_", "-")] = value
            return waits.asked(headers, said, self.NOW, limited)

        self.assertEqual(asked(retry_after_ms="300", Retry_After="9"), .3)
        self.assertEqual(asked(retry_after_ms="soon", Retry_After="9"), 9)
        resets = {"x_ratelimit_reset_requests": "1s", "x_ratelimit_reset_tokens": "6m0s",
                  "x_ratelimit_remaining_requests": "0", "x_ratelimit_remaining_tokens": "5"}
        self.assertEqual(asked(**resets), 1)
        self.assertEqual(asked(anthropic_ratelimit_requests_reset="2024-01-15T09:50:00Z"), 30)
        self.assertIsNone(asked(**resets, limited=False))
        self.assertEqual(asked("Please try again in 1m2s."), 62)
        self.assertEqual(asked("Please retry after 20 seconds."), 20)
        self.assertIsNone(asked("Please try again later."))


class Errors(Calling):
    def kind(self, script, **more):
        return self.call(script, retries=0, **more).error["kind"]

    def test_a_limit_that_comes_back_is_told_from_an_account_that_is_used_up(self):
        quota = [error(429, "x", code="insufficient_quota"), error(402, "x"),
                 error(429, "You exceeded your current quota, please check your plan and billing details."),
                 error(400, "Your credit balance is too low to access the API"),
                 error(429, "x", ["Retry-After: 5"], type="insufficient_quota")]
        self.assertEqual({self.kind(script) for script in quota}, {"quota"})
        limits = [error(429, "Rate limit reached"),
                  error(429, "You exceeded your current quota and billing plan. Please retry in 23.5s.")]
        self.assertEqual({self.kind(script) for script in limits}, {"rate_limit"})

    def test_a_document_that_is_too_long_is_known_by_words_in_any_status(self):
        for status, words in ((400, "maximum context length is 10 tokens"), (400, "prompt is too long: 9 tokens > 8"),
                              (500, "exceeds the available context size"), (429, "Request too large for m"), (413, "")):
            self.assertEqual(self.kind(error(status, words)), "context_length", words)
        self.assertEqual(self.kind(error(429, "Too many tokens, please wait before trying again")), "rate_limit")

    def test_a_filter_that_answers_with_a_status_concerns_one_document(self):
        for script in (error(400, "x", code="content_filter"), error(403, "your input was flagged by moderation")):
            done = self.call(script)
            self.assertEqual((done.error["kind"], done.error["scope"]), ("content_filter", "document"))

    def test_an_unknown_model_is_a_setting_and_another_bad_request_is_a_document(self):
        for script in (error(404, "model m not found"), error(400, "The model `m` does not exist"),
                       http(b'{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}', 422)):
            self.assertEqual(self.kind(script), "config")
        self.assertEqual(self.call(error(400, "could not process image")).error["scope"], "document")

    def test_an_error_inside_a_200_is_read_by_its_code_or_type_in_every_shape(self):
        shapes = {"rate_limit": [event({"error": {"message": "x", "code": 429}}),
                                 event({"error": {"type": "rate_limit_error"}}),
                                 event({"error": {"code": "429", "status": "RESOURCE_EXHAUSTED"}}),
                                 event([{"error": {"code": 429, "message": "x"}}])],
                  "overloaded": [b"event: error\n" + event({"type": "error", "error": {"type": "overloaded_error"}})],
                  "server_error": [event({"error": "boom"}), b'error: {"message": "boom"}\n\n',
                                   b"event: error\ndata: boom\n\n",
                                   event({"object": "error", "message": "x", "code": 500}), delta(finish="error"),
                                   b'{"error": {"message": "late"}}\n', event({"choices": [{"error": {"code": 502}}]})],
                  "auth": [event({"error": {"type": "authentication_error"}})]}
        for kind, events in shapes.items():
            for piece in events:
                self.assertEqual(self.kind(stream(delta("half"), piece, DONE)), kind, piece)
        self.assertEqual(self.kind(http(b'[{"error": {"code": 429, "message": "x"}}]')), "rate_limit")

    def test_messages_are_cut_and_marks_and_control_characters_taken_out(self):
        page = b"<html><style>p{}</style><b>Bad\r\n\x1b[31m gate</b>" + b"way " * 999 + b"</html>"
        message = self.call(http(page, 404)).error["message"]
        self.assertIn("Bad [31m gate way way", message)
        self.assertLess(len(message), 400)
        self.assertNotRegex(message, r"[\x00-\x1f]|<|p\{\}")

    def test_every_kind_has_a_scope_an_outcome_and_a_remedy(self):
        named = {value for name, value in vars(faults).items() if name.isupper() and isinstance(value, str)}
        self.assertEqual(named, set(faults.KINDS))
        for kind in faults.KINDS.values():
            self.assertIn(kind.scope, ("attempt", "document", "run"))
            self.assertIn(kind.outcome, ("truncated", "refused", "no_output", "transport_error"))
            self.assertTrue(kind.remedy)


class Connections(Calling):
    def test_a_refused_port_an_unknown_host_and_a_bad_certificate_are_told_apart(self):
        self.assertEqual(adapters.complete(self.settings("http://127.0.0.1:9/v1"), PROMPT).error["kind"], "transport")

        def call(problem):
            with unittest.mock.patch("socket.create_connection", side_effect=problem), \
                    unittest.mock.patch.dict(os.environ, {"no_proxy": "*"}):
                return adapters.complete(self.settings("https://no-such-host.invalid/v1"), PROMPT)

        unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        self.assertEqual([call(unknown).error[k] for k in ("kind", "scope")], ["config", "run"])
        self.assertEqual(call(socket.gaierror(socket.EAI_AGAIN, "Try again")).error["kind"], "transport")
        adapters._reached.add("https://no-such-host.invalid/v1")
        self.assertEqual(call(unknown).error["kind"], "transport")
        self.assertEqual(call(ssl.SSLCertVerificationError("x")).error["kind"], "config")

    def test_https_at_a_plain_port_is_a_setting(self):
        def greet(_, handler):      # the greeting of TLS has no line end to wait for
            handler.connection.sendall(b"HTTP/1.1 400 X\r\n\r\n")

        with LocalProvider() as provider, unittest.mock.patch.object(LocalProvider, "answer", greet):
            done = adapters.complete(self.settings(provider.url.replace("http:", "https:")), PROMPT)
        self.assertEqual((done.error["kind"], len(done.attempts)), ("config", 1))

    def test_a_host_that_no_name_may_have_is_no_bug(self):
        with unittest.mock.patch.dict(os.environ, {"no_proxy": "*"}):
            done = adapters.complete(self.settings(f"http://{'x' * 70}.test/v1", retries=0), PROMPT)
        self.assertEqual(done.error["kind"], "transport")

    def test_a_loopback_address_is_never_reached_through_a_proxy(self):
        with unittest.mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:9", "no_proxy": "localhost"}):
            self.assertIsNone(self.call(GOOD).error)

    def test_another_host_is_reached_through_the_proxy_of_the_environment(self):
        with LocalProvider(GOOD) as proxy:
            near = proxy.url.removesuffix("/v1").replace("http://", "http://me:p%40ss@")
            with unittest.mock.patch.dict(os.environ, {"http_proxy": near, "no_proxy": ""}):
                done = adapters.complete(self.settings("http://models.example.test/v1"), PROMPT)
            head = proxy.requests[0][0]
        self.assertIsNone(done.error)
        self.assertTrue(head.startswith("POST http://models.example.test/v1/chat/completions "))
        self.assertIn("Proxy-Authorization: Basic bWU6cEBzcw==", head)
        self.assertIn("Host: models.example.test\r\n", head)

    def test_the_host_is_named_as_the_address_names_it(self):
        for base, host in (("http://[::1]:8080/v1", "[::1]:8080"),
                           ("https://models.example.test:443/v1", "models.example.test"),
                           ("http://models.example.test:443", "models.example.test:443"),
                           ("http://b\u00fccher.example/v1", "xn--bcher-kva.example")):
            self.assertIn(f"\r\nHost: {host}\r\n".encode(), transport._head(base + "/x", "/x", ()), base)

    def test_https_asks_the_proxy_for_a_tunnel_and_shows_it_no_key(self):
        with LocalProvider(http(b"", 407)) as proxy:
            with unittest.mock.patch.dict(os.environ, {"https_proxy": proxy.url.removesuffix("/v1"), "no_proxy": ""}):
                done = adapters.complete(self.settings("https://models.example.test/v1"), PROMPT)
            self.assertTrue(proxy.requests[0][0].startswith("CONNECT models.example.test:443"))
            self.assertNotIn(KEY, str(proxy.requests))
        self.assertEqual(done.error["kind"], "transport")

    def test_a_redirect_is_refused_wherever_it_leads(self):
        with LocalProvider(GOOD) as trap:
            for status in (301, 302, 303, 307, 308):
                done = self.call(http(b"", status, [f"Location: {trap.url}"]))
                self.assertEqual((done.error["kind"], len(done.attempts)), ("config", 1))
            self.assertEqual(trap.requests, [])

    def test_an_early_refusal_of_a_long_request_is_still_read(self):
        def refuse(_, handler):
            handler.connection.sendall(http(b"too large", 413))
            time.sleep(0.1)     # then the connection closes with most of the request unread

        long = [Part("document", "user", "x" * 8_000_000)]
        with LocalProvider() as provider, unittest.mock.patch.object(LocalProvider, "answer", refuse):
            done = adapters.complete(self.settings(provider.url, retries=0), long)
        self.assertEqual(done.error["kind"], "context_length")

    def test_a_reply_without_end_is_cut_off_at_a_size(self):
        with unittest.mock.patch.object(transport, "MAX_BYTES", 100_000):
            for script in (stream(*[delta("x" * 9_000)] * 20), http(b" " * 200_000), http(b'{"' + b"x" * 200_000)):
                done = self.call(script)
                self.assertEqual((done.error["kind"], done.text, len(done.attempts)), ("too_large", "", 1))


class KeptConnections(Calling):
    """One connection for many calls: only where the server says so, and never a request sent twice in silence."""

    BODY = GOOD.partition(b"\r\n\r\n")[2]
    KEPT_GOOD = http(BODY, headers=[KEPT])
    KEPT_STREAM = [f"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n{KEPT}\r\n\r\n".encode(),
                   *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (delta("{}", "stop"), DONE)), b"0\r\n\r\n"]

    def several(self, *scripts, calls=2, between=lambda: None, **more):
        """(Completions of calls one after the other on one Connections, how many connections they took)."""
        done = []
        self.provider.begin_with(*scripts)
        settings = self.settings(self.provider.url, **more)
        with transport.Connections() as connections:
            for _ in range(calls):
                done.append(adapters.complete(settings, PROMPT, connections=connections))
                between()
        self.asked = len(self.provider.requests)
        return done, len(set(self.provider.callers))

    def test_whole_replies_leave_their_connection_to_the_next_call(self):
        for script in (self.KEPT_GOOD, self.KEPT_STREAM):
            done, connections = self.several(script, calls=4)
            self.assertEqual(([each.error for each in done], connections), ([None] * 4, 1))

    def test_without_a_word_of_the_server_each_call_connects_anew(self):
        for script in (GOOD, http(self.BODY, headers=["Connection: close"]), self.KEPT_STREAM[:-1]):
            done, connections = self.several(script)
            self.assertEqual(([each.error for each in done], connections), ([None] * 2, 2))

    def test_a_connection_that_the_server_closed_meanwhile_is_not_used(self):
        closed = [self.KEPT_GOOD.replace(b"keep-alive", b"Keep-Alive")]       # the provider knows its own spelling only
        done, connections = self.several(closed, between=lambda: time.sleep(0.02))
        self.assertEqual(([len(each.attempts) for each in done], connections, self.asked), ([1, 1], 2, 2))

    def test_one_that_lay_idle_is_not_used(self):
        with unittest.mock.patch.object(transport, "IDLE_SECONDS", 0):
            _, connections = self.several(self.KEPT_GOOD)
        self.assertEqual(connections, 2)

    def test_a_request_lost_on_a_kept_connection_is_an_attempt_and_is_recorded(self):
        done, connections = self.several(self.KEPT_GOOD, [], self.KEPT_GOOD)
        kinds = [[attempt["kind"] for attempt in each.attempts] for each in done]
        self.assertEqual(kinds, [[None], ["transport", None]])
        self.assertEqual((connections, self.asked), (2, 3))
        done, _ = self.several(self.KEPT_GOOD, [], retries=0)
        self.assertEqual((done[1].error["kind"], self.asked), ("transport", 2))

    def test_a_connection_with_a_failure_on_it_is_closed(self):
        for failing in (http(b"{}", 500, [KEPT]), http(b"{", headers=[KEPT]), http(self.BODY + b"more", headers=[KEPT],
                                                                                  length=len(self.BODY))):
            _, connections = self.several(failing, self.KEPT_GOOD, retries=0)
            self.assertEqual(connections, 2, failing)

    def test_the_clocks_hold_on_a_kept_connection_too(self):
        done, connections = self.several(self.KEPT_GOOD, [HANG], first_output_seconds=0.1, retries=0)
        self.assertEqual((done[1].error["kind"], connections), ("timeout_first_output", 1))


class Secrecy(Calling):
    def test_key_and_address_are_out_of_every_part_of_a_completion(self):
        with LocalProvider() as provider:
            url = provider.url
            escaped = "".join(f"\\u{ord(c):04x}" for c in KEY)
            echoes = [KEY, KEY.replace("-", "%2D"), escaped, url, url.replace("/", "\\/"), "x" * 290 + KEY,
                      f"{url}/chat/completions?key={KEY}"]
            provider.scripts = [script for echo in echoes for script in (
                error(400, echo), http(echo.encode(), 502), http(b"", 302, [f"Location: {url}/?k={echo}"]),
                chat(f"quoting {echo}", echo, model=echo), chat(f"quoting {echo}", model=echo),
                http(b"[" + echo.encode()))]
            settings = self.settings(url, stream=False, retries=0)
            for script in provider.scripts:
                done = adapters.complete(settings, PROMPT)
                shown = repr(done).replace("\\\\", "\\")
                for secret in (KEY, escaped, KEY.replace("-", "%2D"), url, url.removeprefix("http://")):
                    self.assertNotIn(secret, shown, script)
        self.assertEqual(len(provider.requests), len(provider.scripts))

    def test_a_reply_that_held_the_key_says_that_it_was_changed(self):
        self.assertEqual(self.call(chat(f"it is {KEY}")).notes, ["secret_removed"])

    def test_a_bug_in_the_callers_code_shows_no_key_in_its_traceback(self):
        def broken(_):
            raise RuntimeError("bug")

        with self.assertRaises(RuntimeError) as caught:
            self.call(stream(delta("x"), HANG), on_progress=broken)
        self.assertNotIn(KEY, "".join(traceback.format_exception(caught.exception)))

    def test_nothing_is_printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.call(error(401, KEY))
        self.assertEqual(out.getvalue(), "")


class Streams(unittest.TestCase):
    EVENTS = [("", b'{"a":\n1}'), ("error", "é".encode()), ("", b" two")]
    BYTES = b': hi\r\nid: 7\r\n\r\ndata: {"a":\rdata:1}\n\r\nevent: error\ndata: ' + "é".encode() \
            + b"\r\r\ndata\ndata:\n\nx: y\ndata:  two"

    def test_any_cut_of_the_bytes_gives_the_same_events(self):
        for size in range(1, len(self.BYTES) + 1):
            chunks = [self.BYTES[i:i + size] for i in range(0, len(self.BYTES), size)]
            self.assertEqual(list(sse.events(chunks)), self.EVENTS, size)
        for cut in range(len(self.BYTES)):
            self.assertEqual(list(sse.events([self.BYTES[:cut], b"", self.BYTES[cut:]])), self.EVENTS, cut)

    def test_a_long_line_in_small_pieces_takes_linear_time(self):
        begun = time.monotonic()
        (_, data), = sse.events([b"data: "] + [b"x" * 10] * 100_000)
        self.assertEqual(len(data), 1_000_000)
        self.assertLess(time.monotonic() - begun, 2)


class Answers(Calling):
    def taken(self, *pieces):
        done = self.call(stream(*pieces, DONE), retries=0)
        self.assertIsNone(done.error)
        return done

    def test_a_character_split_over_two_pieces_is_joined_and_half_a_character_is_noted(self):
        halves = delta("\ud83c"), delta("\udf3e")
        self.assertEqual(self.taken(*halves, delta(finish="stop")).text, "🌾")
        done = self.taken(halves[0], delta("x", "stop"))
        self.assertEqual((done.text, done.notes), ("\ufffdx", ["lone_surrogates"]))

    def test_repeated_tokens_are_no_snapshots_and_growing_ones_are(self):
        self.assertEqual(self.taken(*[delta("ha")] * 4, delta(finish="stop")).text, "hahahaha")
        done = self.taken(delta("{"), delta('{"a"'), delta('{"a":1}'), delta('{"a":1}'), delta(finish="stop"))
        self.assertEqual((done.text, done.notes), ('{"a":1}', ["cumulative_deltas"]))
        done = self.taken(delta('{"a":"y'), delta('{"a":"yes"}'), delta(finish="stop"))
        self.assertEqual((done.text, done.notes), ('{"a":"yes"}', ["cumulative_deltas"]))
        self.assertEqual(self.taken(delta("ha"), delta("hahaha"), delta(finish="stop")).text, "hahahaha")

    def test_events_that_a_proxy_ran_together_are_read_apart(self):
        run = b"".join(piece.replace(b"\n\n", b"\n") for piece in (delta("a"), delta("b", "stop"), DONE))
        self.assertEqual(self.call(stream(run)).text, "ab")

    def test_what_was_asked_for_and_what_came_may_differ(self):
        self.assertEqual(self.call(GOOD, stream=True).text, '{"a":1}')
        self.assertEqual(self.call(stream(b"\n", delta("x", "stop"), DONE), stream=False).text, "x")

    def test_a_last_message_that_repeats_the_stream_is_not_added_to_it(self):
        last = event({"choices": [{"delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}]})
        self.assertEqual(self.taken(delta("a"), delta("b"), last).text, "ab")
        self.assertEqual(self.taken(last).text, "ab")

    def test_only_the_first_choice_is_the_answer(self):
        other = event({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]})
        self.assertEqual(self.taken(delta("a"), other, delta("b", "stop"), event({"choices": None})).text, "ab")

    def test_a_finish_word_outside_the_list_fails_and_keeps_the_text_as_evidence(self):
        done = self.call(stream(delta("x", "because"), DONE))
        self.assertEqual((done.error["kind"], done.finish, done.text), ("unknown_finish", "because", "x"))
        self.assertIn("because", done.error["message"])

    def test_no_finish_word_with_an_end_marker_is_taken_as_unknown(self):
        done = self.taken(delta("x"))
        self.assertEqual((done.finish, done.notes), ("unknown", ["no_finish_reason"]))

    def test_no_later_word_makes_a_cut_or_refused_answer_whole(self):
        for first, kind in (("length", "output_limit"), ("content_filter", "content_filter"), ("refusal", "refusal"),
                            ("error", "server_error"), ("max_tokens", "output_limit")):
            for last in ("stop", "eos", "nobody-knows-this", "length"):
                done = self.call(stream(delta('{"a":1'), delta(finish=first), delta(finish=last), DONE), retries=0)
                self.assertEqual((done.error or {}).get("kind"), kind, (first, last))
                done = self.call(stream(delta('{"a":1', first), delta("", last)), retries=0)
                self.assertEqual((done.error or {}).get("kind"), kind, (first, last))
        self.assertEqual(self.taken(delta("{", "length"), delta("}", "stop")).text, "{}")      # it went on after all
        self.assertEqual(self.taken(delta("{}", "null"), delta(finish="stop")).text, "{}")     # a word of no meaning

    def test_a_200_that_is_no_reply_is_shown_and_one_that_is_empty_is_asked_once_more(self):
        for stream_wanted in (True, False):
            for body, shown in ((b"upstream busy, try again", "upstream busy, try again"), (b"null", "null"),
                                (b'"ok"', '"ok"'), (b"\n\n42\n", "42"), ("{}".encode("utf-16"), "{"),
                                (b"\x8b\x02\x80ok", "ok"), (b"<br>", "")):
                done = self.call(http(body), retries=0, stream=stream_wanted)
                self.assertIn(done.error["kind"], ("bad_body", "config"), body)
                self.assertIn(shown, done.error["message"])
            for empty in (http(b""), b"HTTP/1.1 204 No Content\r\n\r\n", http(b"", 205)):
                done = self.call(empty, retries=4, stream=stream_wanted)
                self.assertEqual((done.error["kind"], len(done.attempts)), ("empty_answer", 2), empty)
        for cut in (b"", b"da", b"data", b"data: {", b": ping\n\n", b"event: x\n", b"\n\n"):
            self.assertEqual(self.call(stream(cut), retries=0).error["kind"], "reply_cut", cut)
        self.assertEqual(self.call(http(b"busy", length=9), retries=0).error["kind"], "reply_cut")

    def test_every_finish_word_has_one_meaning(self):
        words = [word for words in answer.MEANINGS.values() for word in words.split()]
        self.assertEqual(len(words), len(set(words)))
        kinds = {"length": "output_limit", "refusal": "refusal", "content_filter": "content_filter",
                 "tool_calls": "empty_answer", "error": "server_error"}
        for meaning, kind in kinds.items():
            done = self.call(chat("x", meaning.upper()), retries=0)
            self.assertEqual((done.error["kind"], done.finish), (kind, meaning))

    def test_usage_is_a_snapshot_field_by_field_and_nonsense_is_not_reported(self):
        first = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.25}})
        last = event({"usage": {"prompt_tokens": None, "completion_tokens": 9, "prompt_tokens_details": [],
                                "completion_tokens_details": {"reasoning_tokens": 4}}})
        done = self.taken(first, delta("x", "stop"), last)
        self.assertEqual(done.usage, {"input": 5, "cached": None, "output": 9, "reasoning": 4})
        self.assertEqual(done.reported_cost, 0.25)
        for value in (-1, True, "7", 10 ** 400, [], float("nan"), float("inf")):
            done = self.call(chat("x", usage={"prompt_tokens": value, "cost": value}))
            self.assertEqual((done.usage["input"], done.reported_cost), (None, None))

    def test_nesting_of_any_depth_is_a_bad_body_and_no_bug(self):
        for depth in (50, 300, 900, 940, 960, 980, 990, 5000):
            deep = b'{"error":' * depth + b"1" + b"}" * depth
            for script in (http(deep), http(deep, 500), http(b'{"choices":[{"message":5}],"x":' + deep + b"}"),
                           stream(delta("x"), b"data: " + deep + b"\n\n", DONE)):
                self.assertIn(self.call(script, retries=0).error["kind"], ("bad_body", "server_error"), depth)

    def test_a_reply_nested_too_deep_or_not_in_utf8_is_a_bad_body(self):
        for body in (b"[" * 200_000, b'{"a":"\xff"}', b'{"choices": 5}', b'{"choices": [{}]}', b"[1]",
                     b'{"choices": [{"message": 5}]}', b'{"choices":[{"message":{"content":5}}]}'):
            done = self.call(http(body), retries=0, stream=False)
            self.assertEqual(done.error["kind"], "bad_body", body[:40])


if __name__ == "__main__":
    unittest.main()
