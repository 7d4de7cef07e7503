"""One HTTP POST whose reply is read as it arrives, under clocks that only output can feed."""
import base64
import contextlib
import functools
import http.client
import io
import socket
import ssl
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
        silence = now - (self.last or self.started)
        raise Failure(kind, f"no output for {silence:.1f} s, after {self.arrived} characters ({self.received} bytes)")

    def _silence(self):
        if self.first is None:
            return self.started + self.settings.first_output_seconds, faults.TIMEOUT_FIRST_OUTPUT
        return self.last + self.settings.between_output_seconds, faults.TIMEOUT_BETWEEN_OUTPUTS


class Response:
    """Status and headers of a reply, its body in pieces, and `broken`: why the body is not whole, known at its end."""

    def __init__(self, raw):
        self.status, self.headers, self.broken = raw.status, raw.headers, None
        self._raw = raw

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

    def _received(self):
        # subtle: http.client reports a short body only from a read() of the whole, so the bytes are counted here.
        missing = self._raw.length
        try:
            while missing != 0:
                chunk = self._raw.read1(READ_BYTES if missing is None else min(READ_BYTES, missing))
                if not chunk:
                    break
                missing = None if missing is None else missing - len(chunk)
                yield chunk
        except http.client.IncompleteRead:
            missing = True
        except (OSError, http.client.HTTPException) as error:
            self.broken = failure_of(error)
            return
        if missing:
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
        inflater = zlib.decompressobj(wbits=47)     # 47: gzip or zlib, by its header
        try:
            while head and not inflater.eof:
                yield inflater.decompress(head, READ_BYTES)
                head = inflater.unconsumed_tail or next(chunks, b"")
            yield inflater.flush()
        except zlib.error as error:
            raise Failure(faults.BAD_BODY, f"the reply does not unzip: {error}") from None
        if not inflater.eof:
            self.broken = self.broken or Failure(faults.REPLY_CUT, "the connection ended inside the zipped reply")


@contextlib.contextmanager
def post(url, headers, body, clock):
    """Send one POST and hand out the Response once its head is there. Redirects are never followed."""
    with contextlib.ExitStack() as closing:
        try:
            connection, target, login = _route(url, min(CONNECT_SECONDS, clock.left()))
            closing.callback(connection.close)
            connection.connect()
            sock = closing.enter_context(connection.sock)
            connection.sock = _Watched(sock, clock)
            # A server may refuse a long body and hang up before all of it is sent; its answer is read all the same.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", target, body, {**headers, **login})
            raw = connection.getresponse()
        except (OSError, http.client.HTTPException, UnicodeError) as error:      # UnicodeError: a host no name may have
            raise failure_of(error) from None
        yield Response(raw)


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
    """The socket as http.client sees it, but no read or send outlasts the clock. `post` alone closes the socket.

    subtle: http.client closes what it was given as soon as the head is read, and a socket file refuses to be read
    again after a timeout; so this one has a close that does nothing and reads that try again.
    """

    def __init__(self, sock, clock):
        self._sock, self._clock = sock, clock

    def sendall(self, data):
        self._sock.settimeout(max(POLL_SECONDS, self._clock.left()))
        self._sock.sendall(data)

    def makefile(self, mode):
        return io.BufferedReader(self, READ_BYTES)

    def readable(self):
        return True

    def readinto(self, buffer):
        while (left := self._clock.left()) > 0:
            self._sock.settimeout(min(left, POLL_SECONDS))
            try:
                size = self._sock.recv_into(buffer)
                self._clock.received += size
                return size
            except TimeoutError:
                continue
        return 0

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
