"""The board: a server for this machine alone that shows kits, documents, runs and rules, and can ask the model.

    python -m src.app                  every kit, on http://127.0.0.1:8765/ (variable PORT; 0 takes a free one)
    python -m src.app --data DIR       one kit on another data folder

Only routes stand here: what a view shows is made by `src/shared/view`, what it looks like by `ui/`.
"""
import contextlib
import datetime
import errno
import gzip
import hashlib
import json
import secrets
import subprocess
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote_to_bytes

from src.shared import config, console, follow, ledger
from src.shared import kit as kits
from src.shared.files import BadData, parse_json, to_json
from src.shared.view import compare, costs, listing, page, rules, shelf, start, watch, words

UI = Path(__file__).resolve().parents[1] / "ui"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8"}
JSON_TYPE = "application/json; charset=utf-8"
EXPORTS = {"documents.csv": ("csv", "text/csv; charset=utf-8"), "documents.json": ("json", JSON_TYPE)}
LINES_TYPE = "application/x-ndjson; charset=utf-8"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                               "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache",
    "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"}
MAX_BODY, MAX_DRAIN_SECONDS, GZIP_FROM = 64 * 1024, 5, 1024
PROGRESS_SECONDS = 0.1      # the least time between two lines that tell how far an answer is
COUNT_FIRST, COUNT_ON = 2, 0.2      # seconds for which a view of the rules walks a key, at first and from then on
GRADER, GRADE_SECONDS = "evals.grade", 60       # a module to be run, since nothing here imports what measures
TOKEN = "X-Board-Token"
FAULT = "the board has a fault of its own; the terminal it runs in shows where"
STATUS = {shelf.NotFound: 404, shelf.BadQuery: 400}


class Refusal(Exception):
    """A request that is answered with a status and one sentence."""

    def __init__(self, status, sentence, **headers):
        super().__init__(sentence)
        self.status, self.headers = status, headers


class Board(ThreadingHTTPServer):
    """The server with what its routes need: the kits, the token of its page, the hosts it answers to.

    grade(kit, document, text of a reply) → what `evals.grade` prints, or BadData why there is none.
    """

    def __init__(self, port, shelf_, settings=config.load, grade=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.shelf, self.settings, self.token = shelf_, settings, secrets.token_urlsafe(24)
        self.grade = grade or graded
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        if self.server_port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}

    def handle_error(self, request, client_address):
        """A reader who went away is no error; anything else keeps its traceback, in the terminal."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One request: checked, routed, answered as JSON or as a file of `ui/`."""

    protocol_version, default_request_version, timeout = "HTTP/1.1", "HTTP/1.0", 30
    wbufsize, disable_nagle_algorithm = 1 << 16, True   # head and body go out at once: two small sends wait 40 ms

    def answer(self):
        """Every method arrives here; whatever happens, the reader gets a status and a sentence."""
        self.close_connection |= self.command != "POST" and self._length() != 0     # a body that nobody will read
        try:
            self._check_host()
            path, _, query = self.path.partition("?")
            body = self._body() if self.command == "POST" else None
            self._route(_segments(path), _query(query), body)
        except Refusal as refusal:
            self._refuse(refusal.status, str(refusal), refusal.headers)
        except BadData as e:
            self._refuse(STATUS.get(type(e), 500), str(e))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception:
            traceback.print_exc()
            self._refuse(500, FAULT)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = answer

    def send_error(self, code, message=None, explain=None):
        """What http.server itself refuses (no HTTP, a line too long, an unknown method), in the board's own form."""
        if code == 501:
            self._refuse(405, "only GET, HEAD and POST are answered", {"Allow": "GET, HEAD, POST"})
        else:
            self._refuse(code if code in (408, 414, 431, 505) else 400, "this is not a request the board can read")

    def handle_expect_100(self):
        """Do not invite a body that will be refused."""
        invited = 0 <= self._length() <= MAX_BODY and super().handle_expect_100()
        self.wfile.flush()
        return invited or True

    def version_string(self):
        return "board"

    def log_message(self, format, *args):
        """The terminal is for faults, not for a line per request."""

    def _route(self, names, query, body):
        if self.command not in ("GET", "HEAD", "POST"):
            raise Refusal(405, "only GET, HEAD and POST are answered", Allow="GET, HEAD, POST")
        if names[:1] != ["api"]:
            self._only("GET")
            return self._file(names)
        kit = (names[2:3] or [None])[0]
        match names[1:]:
            case ["board"]:
                self._only("GET", query)
                self._json({"token": self.server.token, "model": _model(self.server), "terms": words.glossary()})
            case ["kits"]:
                self._only("GET", query)
                self._json(start.kits(self.server.shelf))
            case ["kits", _]:
                self._only("GET", query.keys() - {"run"})
                self._json(start.kit(self.server.shelf.open(kit), query.get("run", ())))
            case ["kits", _, "documents"]:
                self._only("GET")
                opened = self.server.shelf.open(kit)
                self._json(listing.documents(opened, listing.filters(opened, query)))
            case ["kits", _, "documents", document]:
                self._only("GET")
                opened = self.server.shelf.open(kit)
                view = page.document(opened, document, listing.filters(opened, query))
                self._json(view | {"asking": _estimate(self.server, opened, document)})
            case ["kits", _, ("documents.csv" | "documents.json") as name]:
                self._only("GET")
                opened = self.server.shelf.open(kit)
                self._export(name, opened, query)
            case ["kits", _, "documents", document, "prompt"]:
                self._only("GET", query)
                self._json(page.prompt(self.server.shelf.open(kit), document))
            case ["kits", _, "rules"]:
                self._only("GET", query)
                opened = self.server.shelf.open(kit)
                self._json(rules.rules(opened, COUNT_ON if "rules" in opened.kept else COUNT_FIRST))
            case ["kits", _, "compare"]:
                self._only("GET")
                self._json(compare.compare(self.server.shelf.open(kit), query))
            case ["kits", _, "watch"]:
                self._only("GET", query)
                self._json(watch.watch(self.server.shelf.open(kit)))
            case ["kits", _, "cost"]:
                self._only("GET")
                self._json(costs.costs(self.server.shelf.open(kit), query))
            case ["kits", _, "check"]:
                self._only("POST", query)
                self._lines(check, self.server.shelf.open(kit), body)
            case _:
                raise Refusal(404, "no such address; views are under /api/kits")

    def _only(self, method, query=()):
        if self.command != method and not (method == "GET" and self.command == "HEAD"):
            allowed = "GET, HEAD" if method == "GET" else method
            raise Refusal(405, f"this address answers {allowed}", Allow=allowed)
        if query:
            raise Refusal(400, f"this address takes no parameters, got {', '.join(query)[:80]}")

    def _check_host(self):
        """Names other than this machine's mean that another site's page is asking (DNS rebinding, cross-site posts)."""
        if (self.headers.get("Host") or "").strip().lower() not in self.server.hosts:
            raise Refusal(403, f"the board answers only to {' and '.join(sorted(self.server.hosts))}")
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self.server.hosts}:
            raise Refusal(403, "the board answers only to its own page")

    def _body(self):
        """The JSON object of a POST that came from the board's own page."""
        if self._length() < 0 or "Transfer-Encoding" in self.headers:
            raise Refusal(400, "a Content-Length in bytes is wanted")
        if self._length() > MAX_BODY:
            raise Refusal(413, f"a request of at most {MAX_BODY:,} bytes is read")
        data = self.rfile.read(self._length())
        if self.headers.get_content_type() != "application/json":
            raise Refusal(400, "a JSON body with Content-Type application/json is wanted")
        if not secrets.compare_digest((self.headers.get(TOKEN) or "").encode(), self.server.token.encode()):
            raise Refusal(403, f"the page's token is missing from {TOKEN}; load the page again")
        try:
            body = parse_json(data.decode(), "the request")
        except (UnicodeDecodeError, BadData) as e:
            raise Refusal(400, f"the request is not JSON: {e}") from None
        if not isinstance(body, dict):
            raise Refusal(400, "the request is not a JSON object")
        return body

    def _length(self):
        """Bytes of the body; -1 where one is to be expected and its length is not said in plain digits."""
        headers = getattr(self, "headers", {})
        expected = getattr(self, "command", None) == "POST" or "Transfer-Encoding" in headers
        text = headers.get("Content-Length", "-1" if expected else "0")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1

    def _file(self, names):
        try:
            path = UI.joinpath(*names or ["index.html"]).resolve(strict=True)
            data = path.read_bytes() if path.is_relative_to(UI) and path.suffix in TYPES else None
        except OSError:
            data = None
        if data is None:
            raise Refusal(404, "no such page; the board begins at /")
        self._send(200, TYPES[path.suffix], data, {"ETag": f'"{hashlib.sha256(data).hexdigest()[:32]}"'})

    def _json(self, value):
        self._send(200, JSON_TYPE, to_json(value).encode("utf-8", "backslashreplace"), {"Cache-Control": "no-store"})

    def _export(self, name, opened, query):
        if "page" in query:
            raise Refusal(400, "an export has no pages: it holds every document that passes the filters")
        form, kind = EXPORTS[name]
        text = listing.export(opened, listing.filters(opened, query), form)
        self._send(200, kind, text.encode("utf-8", "backslashreplace"), {
            "Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{opened.kit.name}-{name}"'})

    def _lines(self, work, opened, body):
        """Answer with the objects of `work(board, opened, body, tell)`, a line of JSON each, as they come.

        What is refused is refused as everything else; once the first line is told, the status is 200. The answer ends
        with the connection, since nobody knows its length when it begins.
        """
        told = []

        def tell(value):
            if not told:
                self.close_connection = True
                self._head(200, {"Content-Type": LINES_TYPE, "Cache-Control": "no-store"})
            told.append(value)
            self.wfile.write(to_json(value).encode("utf-8", "backslashreplace") + b"\n")
            self.wfile.flush()
        try:
            tell(work(self.server, opened, body, tell))
        except Exception as e:
            if not told or isinstance(e, (ConnectionError, TimeoutError)):
                raise
            traceback.print_exc()
            tell({"error": FAULT})

    def _refuse(self, status, sentence, headers=None):
        self.close_connection = True        # what is left of the request is not worth telling apart from the next one
        self._send(status, JSON_TYPE, json.dumps({"error": sentence}).encode(),
                   {**(headers or {}), "Cache-Control": "no-store"})
        self.wfile.flush()
        self._drain()

    def _send(self, status, kind, data, headers):
        if headers.get("ETag") and headers["ETag"] in (self.headers.get("If-None-Match") or ""):
            status, data = 304, b""
        elif len(data) >= GZIP_FROM and _takes_gzip(getattr(self, "headers", {})):
            data, headers = gzip.compress(data, 5, mtime=0), {**headers, "Content-Encoding": "gzip"}
        if status != 304:
            headers = {**headers, "Content-Type": kind, "Content-Length": str(len(data))}
        self._head(status, {"Vary": "Accept-Encoding", **headers})
        if getattr(self, "command", None) != "HEAD":
            self.wfile.write(data)

    def _head(self, status, headers):
        self.send_response(status)
        for name, value in {**HEADERS, **headers}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _drain(self):
        """Let a sender of too much come to its end, for a short while, so that it gets to read the refusal."""
        if self._length() == 0:
            return
        until = time.monotonic() + MAX_DRAIN_SECONDS
        self.connection.settimeout(0.2)
        try:
            while time.monotonic() < until and self.connection.recv(1 << 16):
                pass
        except OSError:
            pass


def check(board, opened, body, tell=lambda value: None):
    """Ask the model for one document and give its view; without a key, the sentence what to set where.

    Meanwhile `tell` is given {"characters": so many so far}; a reader who has gone away ends the call.
    """
    if not {"document"} <= body.keys() <= {"document", "query"} or not all(type(text) is str for text in body.values()):
        raise Refusal(400, 'a body of the form {"document": "ID", "query": "the filters of the address"} is wanted')
    document, kit = body["document"], opened.kit
    page.page_of(opened, document)      # what is not there is told before a call is counted
    asked = listing.filters(opened, _query(body.get("query", "")))
    try:
        settings = board.settings()
        settings.require_provider()
        day = ledger.Ledger(settings.max_calls_per_day)
        day.take()
        from src.shared import adapters     # here, since nothing else on the board needs the network code
        schema = kit.definition.schema(kit.book) if settings.json_mode == "schema" else None
        gone = threading.Event()
        followed = follow.follow(kit, document, lambda *_: adapters.complete(
            settings, kit.prompt(document), schema=schema, on_progress=_progress(tell, gone), stop=gone,
            again=day.may_take))
    except BadData as e:
        return {"error": _sentence(e)}
    except ledger.Limit as e:
        return {"error": f"{e}; nothing was sent"}
    followed = followed._replace(why=followed.why and settings.redact(followed.why))
    about = {"id": "now", "name": settings.model, "arm": "model", "model": settings.model, "kind": "asked just now",
             "local": True, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    view = page.document(opened, document, asked, (about, followed, *_judged(board, kit, followed)))
    failed = None if followed.raw else f"No answer ({followed.outcome.replace('_', ' ')}): {_last_line(followed.why)}"
    return view | {"spent": costs.spent(settings, followed.completion), "failed": failed}


def graded(kit, document, text):
    """What the measuring side makes of a reply, in a process of its own. BadData for why it makes nothing of it."""
    command = [sys.executable, "-m", GRADER, kit.name, document, "--data", str(kit.data)]
    try:
        done = subprocess.run(command, cwd=kits.ROOT, input=text.encode("utf-8", "replace"), capture_output=True,
                              timeout=GRADE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise BadData(f"{GRADER} does not answer: {e}") from None
    if done.returncode:
        raise BadData(_last_line(done.stderr.decode("utf-8", "replace")))
    return parse_json(done.stdout.decode(), GRADER)


def _judged(board, kit, followed):
    """(what grading an answer gave or None, why it gave nothing or None)."""
    if followed.raw is None:
        return None, None
    try:
        return board.grade(kit, followed.document, followed.completion.text), None
    except BadData as e:
        return None, str(e)


def _last_line(why):
    """Of a fault in a kit's own code the last line of many; a reason otherwise."""
    return (why or "nothing more is known").strip().split("\n")[-1]


def _progress(tell, gone):
    """A listener to an answer on its way that tells now and then how long it is; `gone` is set when nobody hears."""
    last = [0.0]

    def heard(characters):
        if time.monotonic() - last[0] >= PROGRESS_SECONDS:
            last[0] = time.monotonic()
            try:
                tell({"characters": characters})
            except (ConnectionError, TimeoutError):
                gone.set()
    return heard


def _estimate(board, opened, document):
    """What asking the model for a document would take, as a sentence; None where there is no model to ask."""
    try:
        settings = board.settings()
        settings.require_provider()
        return costs.asking(opened, document, settings)
    except BadData:     # why there is none stands beside the button already
        return None


def _model(board):
    """{"name", "why"}: the model that Check would ask, or the sentence why it cannot."""
    try:
        settings = board.settings()
        settings.require_provider()
    except BadData as e:
        return {"name": None, "why": _sentence(e)}
    return {"name": settings.model, "why": None}


def _sentence(bad):
    """Several problems with one remedy as one sentence: "A, B: put it into .env, …"."""
    names, _, remedies = zip(*(problem.partition(" is not set: ") for problem in bad.problems))
    if all(remedies) and len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]} are not set: {remedies[0].replace('put it', 'put them', 1)}"
    return "; ".join(bad.problems)


def _segments(path):
    """The names of an address path. What could be read as another path than it says is refused."""
    try:
        names = [unquote_to_bytes(part).decode() for part in path.split("/")[1:]]
    except UnicodeDecodeError:
        raise Refusal(400, "the address is not UTF-8") from None
    if path == "/":
        return []
    if path[:1] != "/" or any(name in ("", ".", "..") or set(name) & set("/\\\0") for name in names):
        raise Refusal(404, "no such address; the board begins at /")
    return names


def _query(text):
    try:
        return parse_qs(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=40)
    except ValueError:
        raise Refusal(400, "the parameters of the address cannot be read; write name=value&name=value") from None


def _takes_gzip(headers):
    entries = [entry.replace(" ", "") for entry in (headers.get("Accept-Encoding") or "").lower().split(",")]
    return "gzip" in entries or any(entry.startswith("gzip;q=") and entry[7:].strip("0.") for entry in entries)


def main(argv=None):
    parser = console.parser("src.app", __doc__, "PORT=0 python -m src.app --data ../mine/data")
    parser.add_argument("--data", type=Path, metavar="DIR",
                        help="data folder of one kit, with kit.json in it (default: all kits of this checkout)")
    args = parser.parse_args(argv)
    try:
        with _bound(config.load().port, shelf.Shelf(args.data)) as board:
            threading.Thread(target=_warm, args=(board.shelf,), daemon=True).start()
            print(f"The board is at http://127.0.0.1:{board.server_port}/ (Ctrl-C ends it)", flush=True)
            board.serve_forever()
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _warm(shelf_):
    """Open every kit before the first reader asks for one; what is broken will be told to that reader."""
    with contextlib.suppress(BadData):
        start.kits(shelf_)


def _bound(port, shelf_):
    try:
        return Board(port, shelf_)
    except OSError as e:
        if e.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is taken" if e.errno == errno.EADDRINUSE else "is not allowed to this user"
        raise BadData(f"PORT={port} {why}; choose another, as in PORT={port + 1} python -m src.app, or PORT=0 for one "
                      "that is free") from None


if __name__ == "__main__":
    sys.exit(main())
