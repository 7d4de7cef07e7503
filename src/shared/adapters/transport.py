"""One HTTP POST whose reply is read as it arrives, under clocks that only output can feed."""
import base64
import contextlib
import functools
import http.client
import io
import select
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
import zlib

from src.shared.config import is_loopback

from . import faults
from .faults import Failure

CONNECT_SECONDS = 20
TAIL_SECONDS = 5            # how long a finished reply may still send its usage or its end marker
POLL_SECONDS = 0.25         # how soon a request to stop is noticed
IDLE_SECONDS = 1.0          # a kept connection that lay idle for longer may be closing just now, so it is not used
DRAIN_SECONDS = 0.05        # how long a whole reply may take to close its body, so that its connection can be kept
MAX_BYTES = 32 * 1024 * 1024
ERROR_BODY_BYTES = 64 * 1024
READ_BYTES = 64 * 1024


class Clock:
    """The limits of one attempt: time to the first output, between outputs, and for the call as a whole.

    deadline     time.monotonic() at which the call ends, whatever happens
    stop         callable, true once the caller wants no more
    on_progress  called with the characters so far at each output, or None
    Bytes that are no output (comments, pings, empty deltas) never move a limit.
    """

    def __init__(self, settings, deadline, stop, on_progress=None):
        self.settings, self.deadline, self.stop, self.on_progress = settings, deadline, stop, on_progress
        self.started = time.monotonic()
        self.first = self.last = self.tail = None
        self.arrived = self.received = 0

    def output(self, characters):
        """Note that this many characters of output came just now."""
        self.last, self.tail = time.monotonic(), None
        self.first = self.first or self.last
        self.arrived += characters
        if self.on_progress:
            self.on_progress(self.arrived)

    def finish(self):
        """The reply is whole; from here on only a short tail is waited for."""
        self.tail = self.tail or time.monotonic() + TAIL_SECONDS

    def left(self):
        """Seconds to the nearest limit, 0 when the tail is over; a passed limit is raised as its own Failure."""
        if self.stop():
            raise Failure(faults.CANCELLED, f"stopped on request, after {self.arrived} characters")
        now = time.monotonic()
        if self.tail:
            return max(0.0, min(self.tail, self.deadline) - now)
        until, kind = min(self._silence(), (self.deadline, faults.TIMEOUT_TOTAL))
        if now < until:
            return until - now
        silence = f"no output for {now - (self.last or self.started):.1f} s"
        what = "the time for a whole call is over" if kind == faults.TIMEOUT_TOTAL else silence
        raise Failure(kind, f"{what}, after {self.arrived} characters ({self.received} bytes)")

    def _silence(self):
        if self.first is None:
            return self.started + self.settings.first_output_seconds, faults.TIMEOUT_FIRST_OUTPUT
        return self.last + self.settings.between_output_seconds, faults.TIMEOUT_BETWEEN_OUTPUTS


class Response:
    """Status and headers of a reply, its body in pieces, and `broken`: why the body is not whole, known at its end.

    `is_empty` where the server says that there is none.
    """

    def __init__(self, raw):
        self.status, self.headers, self.broken = raw.status, raw.headers, None
        self.is_empty = raw.length == 0     # as the server announces it, or as 204 means it
        self._raw, self._missing, self._is_over = raw, raw.length, False

    def chunks(self):
        """Yield the body as it comes, unzipped. Ends quietly where the connection does; then see `broken`."""
        total = 0
        for chunk in self._unzipped(self._received()):
            total += len(chunk)
            if total > MAX_BYTES:
                raise Failure(faults.TOO_LARGE, f"the reply is longer than {MAX_BYTES} bytes")
            yield chunk

    def error_body(self):
        """The first bytes of an error's body; whatever breaks on the way, its status still stands."""
        body = b""
        with contextlib.suppress(Failure):
            for chunk in self.chunks():
                body += chunk
                if len(body) > ERROR_BODY_BYTES:
                    break
        return body[:ERROR_BODY_BYTES]

    def leaves_open(self):
        """Whether the server says that it keeps the connection, and the body, read to its end here, was whole."""
        if self._raw.will_close:
            return False
        if "keep-alive" not in self.headers.get("Connection", "").casefold() and "Keep-Alive" not in self.headers:
            return False
        for _ in self._received():
            pass
        return self._is_over

    def _received(self):
        """What is left of the body, piece by piece; whoever stops listening may go on later with a new call."""
        # subtle: http.client reports a short body only from a read() of the whole, so the bytes are counted here.
        try:
            while self._missing != 0:
                chunk = self._raw.read1(READ_BYTES if self._missing is None else min(READ_BYTES, self._missing))
                if not chunk:
                    break
                if self._missing is not None:
                    self._missing -= len(chunk)
                yield chunk
        except http.client.IncompleteRead:
            self._missing = True
        except (OSError, http.client.HTTPException) as error:
            self.broken = failure_of(error)
            return
        self._is_over = not self._missing
        if self._missing:
            self.broken = Failure(faults.REPLY_CUT, "the connection ended inside the reply")

    def _unzipped(self, chunks):
        """The body is recognised by its first bytes: servers announce gzip and send none, or the other way round."""
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) > 1:
                break
        deflated = head.startswith(b"x") and self.headers.get("Content-Encoding", "").strip().casefold() == "deflate"
        if not deflated and not head.startswith(b"\x1f\x8b"):
            yield head
            yield from chunks
            return
        try:
            while True:
                inflater = zlib.decompressobj(wbits=47)     # 47: gzip or zlib, by its header
                while head and not inflater.eof:
                    yield inflater.decompress(head, READ_BYTES)
                    head = inflater.unconsumed_tail or inflater.unused_data or next(chunks, b"")
                yield inflater.flush()
                if not head.startswith(b"\x1f\x8b"):       # else another member follows: gzip may come in several
                    break
        except zlib.error as error:
            raise Failure(faults.BAD_BODY, f"the reply does not unzip: {error}") from None
        if not inflater.eof:
            self.broken = self.broken or Failure(faults.REPLY_CUT, "the connection ended inside the zipped reply")


class Connections:
    """What a server keeps open between the calls of one run, for any number of threads; a context that closes it all.

    A connection is used again only where the server has said that it keeps it, and only while nothing can be read from
    it: one that was closed can. A request that fails on it is an attempt like any other and never sent again in
    silence: it may have been worked on, and paid.
    """

    def __init__(self):
        self._kept, self._lock = [], threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self._kept:
            self._kept.pop()[1].close()

    def take(self, url):
        """A connection to a URL that is still open, or None."""
        with self._lock:
            fitting = [entry for entry in self._kept if entry[0] == url]
            for entry in fitting[-1:]:
                self._kept.remove(entry)
        for _, line, since in fitting[-1:]:
            if time.monotonic() - since < IDLE_SECONDS and line.is_silent():
                return line
            line.close()
        return None

    def give(self, url, line):
        """Keep a connection for a later call."""
        with self._lock:
            self._kept.append((url, line, time.monotonic()))


class _Line:
    """One connection: http.client's, its socket under a clock, what it asks for, the headers that its proxy wants."""

    def __init__(self, url, clock):
        self.url = url
        self.connection, self.target, self.login = _route(url, min(CONNECT_SECONDS, clock.left()))
        try:
            self.connection.connect()
        except BaseException:
            self.close()
            raise
        self.watched = _Watched(self.connection.sock)

    def ask(self, headers, body, clock):
        """Send one POST; the head of its answer as http.client gives it."""
        self.watched.clock = clock
        head = _head(self.url, self.target, tuple({**headers, **self.login}.items()))
        # A server may refuse a long body and hang up before all of it is sent; its answer is read all the same.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.watched.send(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while True:     # past a word on the way, such as Early Hints; http.client passes over 100 alone
            raw = http.client.HTTPResponse(self.watched, method="POST")
            raw.begin()
            if not 100 < raw.status < 200:
                return raw
            raw.close()

    def is_silent(self):
        """Whether nothing waits to be read, as at an open connection between two calls."""
        try:
            return not (self.watched.leftover() or select.select([self.connection.sock], [], [], 0)[0])
        except (OSError, ValueError):       # closed, or a number that select does not know
            return False

    def close(self):
        self.connection.close()


_PORT = {"http": http.client.HTTP_PORT, "https": http.client.HTTPS_PORT}


@functools.lru_cache(maxsize=16)
def _head(url, target, headers):
    """The head of a POST but for its length and end: the same on every call of a run, so it is put together once.

    headers  pairs; config and base64 leave no line break in any of them
    """
    there = urllib.parse.urlsplit(url)
    host = there.hostname if there.hostname.isascii() else there.hostname.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    host += f":{there.port}" if there.port and there.port != _PORT[there.scheme] else ""
    lines = [f"POST {target} HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity",
             *(f"{name}: {value}" for name, value in headers), ""]
    return "\r\n".join(lines).encode("latin-1")


@contextlib.contextmanager
def post(url, headers, body, clock, connections=None):
    """Send one POST and hand out the Response once its head is there. Redirects are never followed.

    connections  a Connections to take the connection from and to give it back to; without it each call has its own
    """
    line = connections and connections.take(url)
    headers = headers | {"Connection": "close" if connections is None else "keep-alive"}
    try:
        try:
            line = line or _Line(url, clock)
            response = Response(line.ask(headers, body, clock))
        except (OSError, http.client.HTTPException, UnicodeError) as error:      # UnicodeError: a host no name may have
            raise failure_of(error) from None
        yield response
        if connections is not None and _is_free(response, clock):
            connections.give(url, line)
            line = None
    finally:
        if line:
            line.close()


def _is_free(response, clock):
    """Whether a connection can be kept once its reply has been taken in. A limit that ends the call ends it too."""
    clock.tail = min(clock.tail or clock.deadline, time.monotonic() + DRAIN_SECONDS)
    try:
        return response.leaves_open()
    except Failure:
        return False


def failure_of(error):
    """The Failure behind an exception of the socket, TLS or HTTP layer."""
    if isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN:
        return Failure(faults.TRANSPORT, "the host of BASE_URL is not known", detail="unknown_host")
    if isinstance(error, ssl.SSLCertVerificationError):
        return Failure(faults.CONFIG, "the certificate at BASE_URL is not trusted", str(error))
    if isinstance(error, ssl.SSLError) and error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
        return Failure(faults.CONFIG, "BASE_URL says https, but what answers there does not speak TLS")
    if isinstance(error, http.client.RemoteDisconnected):
        return Failure(faults.TRANSPORT, "the server closed the connection without an answer")
    if isinstance(error, (http.client.BadStatusLine, http.client.UnknownProtocol)):
        return Failure(faults.CONFIG, "what answers at BASE_URL does not speak HTTP", str(error))
    reason = getattr(error, "strerror", None) or str(error)
    return Failure(faults.TRANSPORT, "the connection failed", f"{type(error).__name__}: {reason}")


class _Watched(io.RawIOBase):
    """The socket as http.client sees it, but no read or send outlasts the clock of the call in hand.

    subtle: http.client closes what it was given as soon as the head is read, and a socket file refuses to be read
    again after a timeout; so this one has a close that does nothing, and it reads and sends on after a pause.
    """

    def __init__(self, sock):
        self._sock, self.clock, self._patience, self._is_shut = sock, None, None, False
        self._reader = _Unclosed(self, READ_BYTES)

    def send(self, data):
        """Send a whole request, in one packet where that holds it: two are two waits on a busy machine."""
        rest = memoryview(data)
        while rest:
            self._wait_at_most(self.clock.left())
            with contextlib.suppress(TimeoutError):
                rest = rest[self._sock.send(rest):]

    def makefile(self, mode):
        return self._reader

    def leftover(self):
        """What came behind the last reply and was read along with it; nothing more is read for this."""
        self._is_shut = True
        try:
            return self._reader.peek()
        finally:
            self._is_shut = False

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._is_shut and (left := self.clock.left()) > 0:
            self._wait_at_most(left)
            try:
                size = self._sock.recv_into(buffer)
                self.clock.received += size
                return size
            except TimeoutError:
                continue
        return 0

    def _wait_at_most(self, left):
        """Set how long one read or send may block: a call of the system, so only where it changes."""
        patience = min(left, POLL_SECONDS)
        if patience != self._patience:
            self._sock.settimeout(patience)
            self._patience = patience

    def close(self):
        pass


class _Unclosed(io.BufferedReader):
    """A reader that http.client cannot close, so that what it still holds can be seen."""

    def close(self):
        pass


def _route(url, seconds):
    """(connection, request target, extra headers) for a URL, through the proxy of the environment if there is one."""
    there = urllib.parse.urlsplit(url)
    proxy = _proxy(there)
    near = proxy or there
    if there.scheme == "https":
        port = near.port or (80 if proxy else 443)
        connection = http.client.HTTPSConnection(near.hostname, port, timeout=seconds, context=_tls())
        if proxy:
            connection.set_tunnel(there.hostname, there.port or 443, _login(proxy))
        return connection, there.path, {}
    connection = http.client.HTTPConnection(near.hostname, near.port, timeout=seconds)
    return (connection, url, _login(proxy)) if proxy else (connection, there.path, {})


def _proxy(there):
    """The proxy for a URL, split, or None. A loopback address is always reached directly."""
    if is_loopback(there.hostname) or urllib.request.proxy_bypass(there.netloc):
        return None
    found = urllib.request.getproxies().get(there.scheme)
    if not found:
        return None
    proxy = urllib.parse.urlsplit(found if "://" in found else "http://" + found)
    if proxy.scheme != "http" or not proxy.hostname:
        raise Failure(faults.CONFIG, f"the proxy in {there.scheme}_proxy is not of the form http://HOST:PORT")
    return proxy


def _login(proxy):
    if proxy.username is None:
        return {}
    pair = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


@functools.lru_cache(maxsize=1)
def _tls():
    return ssl.create_default_context()     # reading the certificates takes longer than a request: once per process
