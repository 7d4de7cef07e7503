"""The board's server: its routes, what it refuses and how, what it never says, and how it starts and ends."""
import contextlib
import csv
import gzip
import http.client
import importlib
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock
from urllib.parse import quote

from evals import grade
from evals.shared import arms, showing
from evals.shared.provider import LocalProvider
from src import app
from src.shared import config
from src.shared import kit as kits
from src.shared.files import to_json
from src.shared.view import listing

LABEL = "label_restrict"
KIT = LABEL if LABEL in kits.names() else showing.first_kit()
REQUESTS = int(os.environ.get("FUZZ_REQUESTS", 1000))      # the check asks ten times as many
KEY = "sk-never-shown-0123456789abcdef"
NO_ENV = {"PATH": os.environ["PATH"], "PYTHONPATH": str(kits.ROOT)}


class Served:
    """A board that reads no `.env` and serves while the `with` block runs: `.url`, `get` and `post`."""

    def __init__(self, shelf_, environ=None):
        self.board = app.Board(0, shelf_, lambda: config.load("no such file", environ or {}), grade.grade)
        self.port, self.url = self.board.server_port, f"http://127.0.0.1:{self.board.server_port}/"
        self._thread = threading.Thread(target=self.board.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.board.shutdown()
        self.board.server_close()
        self._thread.join()

    def get(self, path, **headers):
        """(status, headers, body bytes) of a GET."""
        return self.send("GET", path, None, headers)

    def json(self, path):
        """The JSON value at a path that answers well."""
        status, _, body = self.get(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body[:300]}")
        return json.loads(body)

    def post(self, path, value, **headers):
        """(status, headers, body bytes) of a POST as the page sends it."""
        sent = {"Content-Type": "application/json", app.TOKEN: self.board.token, **headers}
        return self.send("POST", path, json.dumps(value).encode(), sent)

    def send(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, "/" + path.lstrip("/"), body, headers)
            with connection.getresponse() as response:
                return response.status, response.headers, response.read()


class Serving(unittest.TestCase):
    """A board over a staged kit with the records of its free arms."""

    environ = {}

    @classmethod
    def setUpClass(cls):
        cls.stage = showing.Stage(KIT)
        cls.addClassCleanup(cls.stage.close)
        cls.ids = cls.stage.floors()
        cls.served = cls.enterClassContext(Served(cls.stage.shelf(), cls.environ))
        cls.kit = f"/api/kits/{cls.stage.kit_name}"
        cls.document = next(cls.stage.kit().documents())

    def raw(self, data, more=b""):
        """What the server answers to bytes on a fresh connection: (status, head, body)."""
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=20) as connection:
            connection.sendall(data.replace(b"HOST", f"127.0.0.1:{self.served.port}".encode()))
            for piece in more:
                try:
                    connection.sendall(piece)
                except ConnectionError:
                    break
            with contextlib.suppress(OSError):      # refused already
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := connection.recv(1 << 16):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else None, head.decode("latin-1"), body

    def refused(self, status, answer):
        """A refusal is a short JSON object with one sentence, and nothing of a traceback."""
        found, _, body = answer
        self.assertEqual(found, status, body[:300])
        sentence = json.loads(body)["error"]
        self.assertNotIn("Traceback", sentence)
        self.assertLess(len(sentence), 600)
        return sentence


class TestRoutes(Serving):
    def test_every_route_answers(self):
        for path in ("/api/board", "/api/kits", self.kit, f"{self.kit}/documents", f"{self.kit}/documents?page=1&q=a",
                     f"{self.kit}/documents/{self.document}", f"{self.kit}/documents/{self.document}/prompt",
                     f"{self.kit}/documents/{self.document}?wrong=1&run={self.ids['stub']}", f"{self.kit}/rules",
                     f"{self.kit}?run={self.ids['stub']}", f"{self.kit}/compare", f"{self.kit}/watch",
                     f"{self.kit}/cost?documents=5000&cached=90"):
            with self.subTest(path):
                status, headers, body = self.served.get(path)
                self.assertEqual((status, headers["Content-Type"]), (200, app.JSON_TYPE))
                self.assertIsInstance(json.loads(body), dict)

    def test_the_page_and_its_two_files_are_served_and_nothing_else_of_the_checkout(self):
        for path, kind in (("/", "html"), ("/index.html", "html"), ("/app.css", "css"), ("/app.js", "javascript")):
            status, headers, body = self.served.get(path)
            self.assertEqual(status, 200)
            self.assertIn(kind, headers["Content-Type"])
            self.assertTrue(body)
        for path in ("/README.md", "/src/app.py", "/ui/app.js", "/.env", "/data", "/app", "/app.js/", "/app.js/x",
                     "/favicon.ico"):
            with self.subTest(path):
                self.refused(404, self.served.get(path))

    def test_a_path_that_climbs_is_refused_however_it_is_written(self):
        target = b"/../src/app.py"
        climbing = [target, b"/..%2fsrc/app.py", b"/%2e%2e/src/app.py", b"/%2e%2e%2fsrc%2fapp.py",
                    b"/..%5csrc%5capp.py", b"/./app.js", b"/%2e/app.js", b"//etc/passwd", b"/%2fetc%2fpasswd",
                    b"/app.js%00.html", b"/%252e%252e/src/app.py", b"/api/kits/..%2f..%2fetc/documents",
                    f"{self.kit}/documents/..%2f..%2fkit.json".encode(),
                    f"{self.kit}/documents/../kit.json".encode(), b"/app.css/../../src/app.py"]
        for path in climbing:
            with self.subTest(path):
                status, _, body = self.raw(b"GET " + path + b" HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n")
                self.refused(404, (status, None, body))

    def test_a_link_out_of_ui_is_not_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            ui = Path(folder).resolve() / "ui"
            ui.mkdir()
            (ui / "out.html").symlink_to(kits.ROOT / "src" / "app.py")
            (ui / "in.html").write_text("in")
            kept, app.UI = app.UI, ui
            self.addCleanup(setattr, app, "UI", kept)
            self.assertEqual(self.served.get("/in.html")[0], 200)
            self.refused(404, self.served.get("/out.html"))

    def test_what_does_not_exist_is_404_and_the_near_name_is_named(self):
        for path, near in ((f"{self.kit[:-1]}", self.stage.kit_name), ("/api/kits/nothing", "kits:"),
                           (f"{self.kit}/documents/{self.document[:-1]}", "did you mean"), ("/api", "/api/kits"),
                           (f"{self.kit}/documents/{self.document}/nothing", "/api/kits"),
                           (f"{self.kit}/nothing", "/api/kits"), ("/api/", "begins at /")):
            with self.subTest(path):
                self.assertIn(near, self.refused(404, self.served.get(path)))

    def test_a_parameter_without_meaning_is_400_with_a_sentence(self):
        for query in ("page=0", "page=x", "run=none", "wrong=2", "colum=raw", "error=none", "case=none", "page", "&",
                      "=", "q=%ff", "cell=none", "cell=verdict:a:b", "blame=none", "disagrees=2",
                      f"disagrees=1&run={self.ids['null']}", "&".join(f"q={i}" for i in range(99))):
            with self.subTest(query):
                self.refused(400, self.served.get(f"{self.kit}/documents?{query}"))
        self.assertIn("no parameters", self.refused(400, self.served.get("/api/kits?q=1")))
        self.refused(400, self.served.get(f"{self.kit}?wrong=1"))
        for query in ("documents=-1", "documents=1e3", "cached=101", "documents=99999999", "tokens=1", "run=x"):
            with self.subTest(query):
                self.refused(400, self.served.get(f"{self.kit}/cost?{query}"))

    def test_an_export_holds_every_row_of_the_filter_as_a_file(self):
        query = f"run={self.ids['stub']}&wrong=1"
        rows, listing.PAGE_ROWS = listing.PAGE_ROWS, 5
        self.addCleanup(setattr, listing, "PAGE_ROWS", rows)
        shown = self.served.json(f"{self.kit}/documents?{query}")
        self.assertGreater(shown["matching"], len(shown["rows"]))
        _, headers, body = self.served.get(f"{self.kit}/documents.csv?{query}")
        self.assertEqual(headers["Content-Type"], "text/csv; charset=utf-8")
        self.assertEqual(headers["Content-Disposition"], f'attachment; filename="{self.stage.kit_name}-documents.csv"')
        told = self.served.json(f"{self.kit}/documents.json?{query}")
        self.assertEqual(len(told), shown["matching"])
        self.assertEqual([row["id"] for row in csv.DictReader(io.StringIO(body.decode()))], [row["id"] for row in told])
        self.refused(400, self.served.get(f"{self.kit}/documents.csv?{query}&page=1"))
        self.refused(404, self.served.get(f"{self.kit}/documents.xml"))

    def test_another_method_is_405_and_says_which_are_answered(self):
        for method, path, allowed in (("PUT", "/", "GET, HEAD, POST"), ("DELETE", self.kit, "GET, HEAD, POST"),
                                      ("OPTIONS", "/", "GET, HEAD, POST"), ("BREW", "/", "GET, HEAD, POST"),
                                      ("GET", f"{self.kit}/check", "POST")):
            with self.subTest(method):
                answer = self.served.send(method, path, None, {})
                self.refused(405, answer)
                self.assertEqual(answer[1]["Allow"], allowed)
        self.assertEqual(self.served.post("/api/kits", {})[1]["Allow"], "GET, HEAD")

    def test_head_gives_the_headers_of_get_and_no_body(self):
        for path in ("/", "/app.js", "/api/kits", "/nothing"):
            get, head = self.served.get(path), self.served.send("HEAD", path, None, {})
            self.assertEqual((head[0], head[2]), (get[0], b""))
            self.assertEqual(head[1]["Content-Length"], get[1]["Content-Length"])

    def test_a_static_file_is_sent_once_and_json_is_compressed_when_asked(self):
        _, headers, body = self.served.get("/app.js")
        self.assertEqual(self.served.get("/app.js", **{"If-None-Match": headers["ETag"]})[0], 304)
        self.assertEqual(self.served.get("/app.js", **{"If-None-Match": '"other"'})[0], 200)
        path = f"{self.kit}/documents"
        plain = self.served.get(path)
        status, headers, packed = self.served.get(path, **{"Accept-Encoding": "br, gzip;q=0.5"})
        self.assertEqual((headers["Content-Encoding"], gzip.decompress(packed)), ("gzip", plain[2]))
        self.assertLess(len(packed) * 4, len(plain[2]))
        self.assertIsNone(self.served.get(path, **{"Accept-Encoding": "gzip;q=0"})[1]["Content-Encoding"])

    def test_every_answer_carries_the_headers_that_keep_a_page_in(self):
        for path in ("/", "/api/kits", "/nothing"):
            headers = self.served.get(path)[1]
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertIsNone(headers["Access-Control-Allow-Origin"])

    def test_the_ui_holds_no_inline_script_or_style_and_writes_no_html(self):
        page, script = (app.UI / "index.html").read_text(), (app.UI / "app.js").read_text()
        self.assertIsNone(re.search(r"<style|style=|<script>|\son\w+=|https?://", page))
        writes = re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", script)
        self.assertIsNone(writes)


class TestForeigners(Serving):
    def ask(self, **headers):
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        return self.raw(f"GET /api/board HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode())

    def test_another_name_for_this_machine_is_refused(self):
        port = self.served.port
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", f"evil.example:{port}", "127.0.0.1",
                     "127.0.0.1:1", "", f"127.0.0.1:{port}@evil", f"[::1]:{port}"):
            with self.subTest(host):
                self.refused(403, self.ask(Host=host))
        self.refused(403, self.ask())
        self.assertEqual(self.ask(Host=f"LocalHost:{port}")[0], 200)

    def test_another_site_is_refused_on_every_method(self):
        own = f"127.0.0.1:{self.served.port}"
        body = {"document": self.document}
        for origin in ("https://evil.example", "null", f"https://{own}", f"http://{own}.evil.example",
                       "http://127.0.0.1:1", ""):
            with self.subTest(origin):
                self.refused(403, self.ask(Host=own, Origin=origin))
                self.refused(403, self.served.post(f"{self.kit}/check", body, Origin=origin or "x"))
        self.assertEqual(self.ask(Host=own, Origin=f"http://{own}")[0], 200)

    def test_a_post_wants_the_pages_token_and_json(self):
        body = {"document": self.document}
        path = f"{self.kit}/check"
        self.assertIn("token", self.refused(403, self.served.post(path, body, **{app.TOKEN: ""})))
        self.refused(403, self.served.post(path, body, **{app.TOKEN: "a" * 32}))
        self.refused(400, self.served.post(path, body, **{"Content-Type": "text/plain"}))
        self.refused(400, self.served.post(path, body, **{"Content-Type": "application/x-www-form-urlencoded"}))

    def test_a_body_that_is_no_such_object_is_400(self):
        path, sent = f"{self.kit}/check", {"Content-Type": "application/json", app.TOKEN: self.served.board.token}
        for body in (b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 60000, b"{}", b'{"document": 1}',
                     b'{"document": NaN}', b'{"document": "a", "document": "b"}', b'{"document": "a", "more": 1}',
                     b'{"document": ["a"]}', b"1e999999999"):
            with self.subTest(body[:40]):
                self.refused(400, self.served.send("POST", path, body, sent))
        self.refused(404, self.served.post(path, {"document": "NOT-THERE"}))
        self.refused(404, self.served.post(path, {"document": "../../../etc/passwd"}))

    def test_a_huge_body_is_413_and_is_never_kept(self):
        head = f"POST {self.kit}/check HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
        million = b"a" * (1 << 20)
        status, _, body = self.raw(f"{head}Content-Length: {100 << 20}\r\n\r\n".encode(), (million for _ in range(100)))
        self.refused(413, (status, None, body))
        status, _, body = self.raw(f"{head}Content-Length: {10 ** 15}\r\nExpect: 100-continue\r\n\r\n".encode())
        self.refused(413, (status, None, body))

    def test_a_length_that_is_none_is_400(self):
        head = f"POST {self.kit}/check HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
        for line in ("", "Content-Length: -1\r\n", "Content-Length: 1e3\r\n", "Content-Length: ²\r\n",
                     "Content-Length: " + "9" * 40 + "\r\n", "Transfer-Encoding: chunked\r\n",
                     "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"):
            with self.subTest(line):
                status, _, body = self.raw((head + line + "\r\n").encode("latin-1") + b"2\r\n{}\r\n0\r\n\r\n")
                self.refused(400, (status, None, body))


class TestNoise(Serving):
    def test_bytes_that_are_no_request_get_a_sentence(self):
        own = b" HTTP/1.1\r\nHost: HOST\r\n"
        for data, status in ((b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400), (b"GET\r\n\r\n", 400),
                             (b"GET / HTTP/9.9\r\n\r\n", 505), (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n", 414),
                             (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431),
                             (b"GET http://evil.example/" + own + b"\r\n", 404), (b"GET //[::1" + own + b"\r\n", 404),
                             (b"GET /" + own + b"x" * 70000 + b": y\r\n\r\n", 431), (b"GET *" + own + b"\r\n", 404)):
            with self.subTest(data[:30]):
                found, head, body = self.raw(data)
                self.refused(status, (found, head, body))

    def test_a_body_on_a_get_is_not_taken_for_the_next_request(self):
        smuggled = b"GET /api/board HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        length = b"Content-Length: %d\r\n\r\n" % len(smuggled)
        _, head, body = self.raw(b"GET /nothing HTTP/1.1\r\nHost: HOST\r\n" + length + smuggled)
        self.assertEqual((head + body.decode()).count("HTTP/1.1"), 1)

    def test_a_fuzz_of_thousands_of_requests_never_gives_a_fault_or_a_traceback(self):
        rng = random.Random(20260822)
        words = ["api", "kits", self.stage.kit_name, "documents", self.document, "rules", "prompt", "check", "board",
                 "compare", "watch", "cost", "documents.csv", "documents.json", "..", ".", "",
                 "%2e%2e", "%00", "%ff", "é", "🚜", "app.js", "index.html", "a" * 300, "%", "%zz", "*",
                 ";", "%2f", "\\", "local/x"]
        names = ["run", "column", "wrong", "differs", "hard", "error", "case", "q", "page", "x", "", "%00", "disagrees",
                 "cell", "blame", "first", "second", "across", "documents", "input", "cached", "output"]
        cells = list(listing._cells(self.stage.opened()))
        values = [*self.ids.values(), "raw", "rechecked", "0", "1", "-1", "9" * 20, "%ff", "", "unsafe_clearance", "é",
                  "a" * 500, cells[0], cells[-1], cells[0] + ":", "misread value", ":", "::", "99"]
        bodies = [b"", b"{", b"[]", b"{}", b'{"document": "x"}', rng.randbytes(40)]
        seen, connection = set(), http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=20)
        known = [f"{self.kit}{rest}" for rest in (
            "", "/documents", "/documents.csv", "/documents.json", "/compare", "/cost", f"/documents/{self.document}")]
        for number in range(REQUESTS):
            path = "/" + "/".join(rng.choice(words) for _ in range(rng.randrange(7)))
            if rng.random() < 0.3:
                path = rng.choice(known)
            if rng.random() < 0.5:
                path += "?" + "&".join(f"{rng.choice(names)}={rng.choice(values)}" for _ in range(rng.randrange(4)))
            method = rng.choices(["GET", "HEAD", "POST", "PUT", "PATCH"], [12, 2, 2, 1, 1])[0]
            headers = {"Content-Type": rng.choice(["application/json", "application/json", "text/plain"])}
            if rng.random() < 0.7:
                headers[app.TOKEN] = self.served.board.token
            body = rng.choice(bodies) if method != "GET" else None
            connection.request(method, quote(path, safe="/?&=%.*;\\"), body, headers)
            with connection.getresponse() as response:
                text = response.read()
                seen.add(response.status)
                self.assertNotEqual(response.status, 500, (method, path, text[:300]))
                self.assertNotIn(b"Traceback", text)
        connection.close()
        self.assertEqual(seen, {200, 400, 403, 404, 405})

    def test_a_page_that_is_missing_is_not_found_and_the_rest_goes_on(self):
        path = self.stage.data / "corpus" / f"{self.document}.txt"
        kept = path.read_bytes()
        self.addCleanup(path.write_bytes, kept)
        path.unlink()
        for rest in ("", "/prompt"):
            sentence = self.refused(404, self.served.get(f"{self.kit}/documents/{self.document}{rest}"))
            self.assertIn(f"{self.document}.txt", sentence)
        self.refused(404, self.served.post(f"{self.kit}/check", {"document": self.document}))
        for address in (f"{self.kit}/documents", f"{self.kit}/documents?q=of", f"{self.kit}/rules"):
            self.assertEqual(self.served.get(address)[0], 200, address)

    def test_many_readers_at_once_read_the_same(self):
        found, path = [], f"{self.kit}/documents/{self.document}"
        threads = [threading.Thread(target=lambda: found.append(self.served.get(path)[2])) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(found), len(set(found))), (16, 1))

    def test_a_fault_of_the_board_itself_is_a_sentence_and_its_traceback_stays_in_the_terminal(self):
        kept, app.start.kits = app.start.kits, lambda shelf: 1 / 0
        said, app.traceback.print_exc = app.traceback.print_exc, lambda: found.append(sys.exception())
        found = []
        try:
            sentence = self.refused(500, self.served.get("/api/kits"))
        finally:
            app.start.kits, app.traceback.print_exc = kept, said
        self.assertNotIn("division", sentence)
        self.assertIsInstance(found[0], ZeroDivisionError)


class TestCheckWithoutKey(Serving):
    def test_check_answers_with_one_sentence_that_names_the_variable_and_where_to_put_it(self):
        status, _, body = self.served.post(f"{self.kit}/check", {"document": self.document})
        found = json.loads(body)
        self.assertEqual((status, list(found)), (200, ["error"]))
        for word in ("API_KEY", "BASE_URL", "MODEL", ".env.example"):
            self.assertIn(word, found["error"])
        self.assertEqual(found["error"], self.served.json("/api/board")["model"]["why"])


class TestCheckWithKey(Serving):
    @classmethod
    def setUpClass(cls):
        cls.answers = []
        cls.provider = cls.enterClassContext(LocalProvider(lambda body: cls.answers.pop()))
        cls.environ = cls.provider.environment(API_KEY=KEY, MODEL="some-model-1")
        super().setUpClass()

    def check(self):
        status, _, body = self.served.post(f"{self.kit}/check", {"document": self.document})
        self.assertEqual(status, 200)
        self.assertNotIn(KEY.encode(), body)
        self.assertNotIn(self.provider.url.encode(), body)
        return json.loads(body.splitlines()[-1])

    def gold(self):
        kit = self.stage.kit()
        row = next(kit.gold())
        return {key: row[key] for key in kit.definition.keys(kit.book)}

    def test_an_answer_is_drawn_like_a_replay_and_names_itself_as_asked_now(self):
        self.answers.append(to_json(self.gold()))
        view = self.check()
        told = view["runs"][0]
        self.assertEqual((view["live"], told["model"], told["kind"]), (True, "some-model-1", "asked just now"))
        fields = next(found for found in view["panels"] if found["kind"] == "fields")
        self.assertEqual(fields["columns"], ["gold", "some-model-1", "some-model-1, rechecked"])
        judged = [row for row in fields["rows"] if row["mark"]]
        self.assertEqual({row["cells"][1]["hit"] for row in judged}, {True})
        replay = self.served.json(f"{self.kit}/documents/{self.document}?run={self.ids['stub']}")
        self.assertEqual([found["kind"] for found in view["panels"]], [found["kind"] for found in replay["panels"]])

    def test_what_it_would_take_is_said_before_and_what_it_took_afterwards(self):
        asking = self.served.json(f"{self.kit}/documents/{self.document}")["asking"]
        self.assertRegex(asking, r"^About [0-9,]+ input tokens \(an estimate\), at most 8,192 output tokens; "
                                 "unknown price: ")
        self.answers.append(to_json(self.gold()))
        self.assertTrue(self.check()["spent"].startswith(
            "100 input tokens, 20 output tokens; unknown price: no price card is for the model some-model-1; "))

    def test_a_wrong_answer_is_marked_and_blamed_as_its_replay_would_be(self):
        kit = self.stage.kit()
        bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
        arm, run = next((arm, run) for arm in bench.floors for run in self.stage.opened().runs
                        if run.id == self.ids[arm] and any(row.errors["raw"] for row in run.rows.values()))
        document = next(name for name, row in run.rows.items() if row.errors["raw"])
        text = arms.free(kit, bench)[arm].call(document, kit.text(document)).text
        self.answers.append(text)
        _, _, body = self.served.post(f"{self.kit}/check", {"document": document})
        live = json.loads(body.splitlines()[-1])
        replay = self.served.json(f"{self.kit}/documents/{document}?run={self.ids[arm]}")
        shown = json.dumps(replay["panels"]).replace(arm, "some-model-1")
        self.assertEqual(live["panels"], json.loads(shown))
        self.assertEqual(live["turns_on"], replay["turns_on"])
        self.assertIn("by name", shown)
        self.assertEqual(app.graded(kit, document, text)["entry"]["blame"], grade.grade(
            kit, document, text)["entry"]["blame"])

    def test_an_answer_that_nobody_can_grade_says_so_beside_its_values(self):
        self.answers.append(to_json(self.gold()))
        with mock.patch.object(app, "GRADER", "evals.nothing"), mock.patch.object(
                self.served.board, "grade", app.graded):
            view = self.check()
        self.assertIn("some-model-1 is not graded", [found.get("title") for found in view["panels"]])

    def test_progress_comes_as_lines_before_the_view(self):
        self.answers.append(to_json(self.gold()))
        status, headers, body = self.served.post(f"{self.kit}/check", {"document": self.document})
        first, *_, last = map(json.loads, body.splitlines())
        self.assertEqual((status, headers["Content-Type"]), (200, app.LINES_TYPE))
        self.assertEqual(list(first), ["characters"])
        self.assertGreater(first["characters"], 0)
        self.assertEqual(last["id"], self.document)

    def test_a_fault_behind_the_first_line_is_a_sentence_too(self):
        self.answers.append(to_json(self.gold()))
        found = []
        with mock.patch.object(app.page, "document", lambda *_: 1 / 0), \
                mock.patch.object(app.traceback, "print_exc", lambda: found.append(sys.exception())):
            self.assertEqual(self.check(), {"error": app.FAULT})
        self.assertIsInstance(found[0], ZeroDivisionError)

    def test_a_reader_who_goes_away_ends_the_call(self):
        gone = threading.Event()

        def deaf(value):
            raise BrokenPipeError
        app._progress(deaf, gone)(10)
        self.assertTrue(gone.is_set())

    def test_a_reply_that_is_none_is_a_sentence_beside_the_document(self):
        self.answers.append(f"I cannot say; my key is {KEY} at {self.provider.url}.")
        view = self.check()
        self.assertEqual(len(no_answers(view)), 1)
        self.assertIn("(unparsed)", no_answers(view)[0])

    def test_the_board_says_which_model_would_be_asked_and_nothing_of_key_or_address(self):
        _, _, body = self.served.get("/api/board")
        self.assertEqual(json.loads(body)["model"], {"name": "some-model-1", "why": None})
        for path in ("/api/kits", self.kit, f"{self.kit}/rules"):
            body += self.served.get(path)[2]
        self.assertNotIn(KEY.encode(), body)
        self.assertNotIn(self.provider.url.encode(), body)


class TestCheckWithoutServer(Serving):
    environ = {"BASE_URL": "http://127.0.0.1:9/v1", "API_KEY": KEY, "MODEL": "some-model-1", "RETRIES": "0"}

    def test_a_server_that_is_not_there_is_one_sentence_with_a_remedy(self):
        status, _, body = self.served.post(f"{self.kit}/check", {"document": self.document})
        self.assertEqual(status, 200)
        view = json.loads(body)
        self.assertEqual(view["runs"][0]["outcome"], "transport_error")
        self.assertIn("BASE_URL", no_answers(view)[0])
        self.assertNotIn("127.0.0.1:9", body.decode())
        self.assertNotIn(KEY, body.decode())


def no_answers(view):
    """The sentences that say why there is no answer."""
    texts = [found["text"] for found in view["panels"] if found["kind"] == "note"]
    return [text for text in texts if text and "No answer" in text]


class TestProcess(unittest.TestCase):
    def started(self, *words, **environ):
        process = subprocess.Popen([sys.executable, "-m", "src.app", *words], cwd=kits.ROOT, env={**NO_ENV, **environ},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   # who runs tests in the background has Ctrl-C ignored, and children inherit it
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_it_prints_its_address_serves_there_and_ends_cleanly_on_ctrl_c(self):
        process = self.started(PORT="0")
        port = int(re.search(r"http://127\.0\.0\.1:([0-9]+)/", process.stdout.readline())[1])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            self.assertIn(b"200", connection.recv(100))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)
        self.assertEqual(process.stderr.read(), "")

    def test_it_listens_on_this_machine_alone(self):
        stage = showing.Stage(KIT)
        self.addCleanup(stage.close)
        with Served(stage.shelf()) as served:
            self.assertEqual(served.board.server_address[0], "127.0.0.1")

    def test_a_taken_port_says_so_and_how_to_choose_another(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            process = self.started(PORT=str(port))
            self.assertEqual(process.wait(10), 2)
            said = process.stderr.read()
        self.assertIn(f"PORT={port} is taken", said)
        self.assertIn("PORT=0", said)
        self.assertNotIn("Traceback", said)

    def test_a_port_that_is_none_and_a_folder_that_is_none_are_said_in_one_line(self):
        folder = "no-such-folder"
        for words, environ, word in (((), {"PORT": "http"}, "PORT"), (("--data", folder), {"PORT": "0"}, folder)):
            process = self.started(*words, **environ)
            self.assertEqual(process.wait(10), 2)
            said = process.stderr.read()
            self.assertIn(word, said)
            self.assertEqual(said.count("\n"), 1)

    def test_data_shows_the_kit_of_that_folder(self):
        stage = showing.Stage(KIT)
        self.addCleanup(stage.close)
        about = json.loads((stage.data / "kit.json").read_text())
        (stage.data / "kit.json").write_text(json.dumps(about | {"title": "My own title"}))
        process = self.started("--data", str(stage.data), PORT="0")
        port = int(re.search(r":([0-9]+)/", process.stdout.readline())[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/kits")
        row, = json.load(connection.getresponse())["kits"]
        self.assertEqual(row["title"], "My own title")


if __name__ == "__main__":
    unittest.main()
