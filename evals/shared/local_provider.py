"""A provider on 127.0.0.1 for tests: it answers request n with script n, byte for byte, and keeps what was asked."""
import contextlib
import json
import re
import socket
import socketserver
import struct
import threading
import time

RESET = "reset"
HANG = "hang"
KEPT = "Connection: keep-alive"     # among the headers of a script: the next request may come on the same connection


def http(body=b"", status=200, headers=(), length=None):
    """One whole HTTP reply; `length` announces another length than the body has."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines + ["", ""]).encode("latin-1") + body


def stream(*pieces):
    """An event stream that ends with its connection; each piece is sent on its own, numbers are seconds to wait."""
    return [b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n", *pieces]


def event(value):
    """One event of a stream."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(text=None, finish=None, **more):
    """One chunk of a chat completion as an event."""
    said = ({} if text is None else {"content": text}) | more
    return event({"choices": [{"index": 0, "delta": said, "finish_reason": finish}]})


DONE = b"data: [DONE]\n\n"


def chat(text, finish="stop", **more):
    """A chat completion in one piece."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return http(json.dumps({"choices": [choice], **more}).encode())


def error(status, message="", headers=(), **more):
    """An error reply in the usual JSON shape."""
    return http(json.dumps({"error": {"message": message, **more}}).encode(), status, headers)


class LocalProvider:
    """with LocalProvider(script, ...) as provider: provider.url, provider.requests.

    A script is bytes, or a list of bytes, seconds to wait, HANG (until the client goes) and RESET. The last repeats.
    requests  a list of (head as text, body as bytes), in the order they came
    callers   the address that each of them came from: one connection has one
    """

    def __init__(self, *scripts):
        self.scripts, self.requests, self.callers, self.lock = scripts, [], [], threading.Lock()

    def __enter__(self):
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            disable_nagle_algorithm = True      # else the second small piece waits for the client's word on the first

            def handle(self):
                while outer.answer(self):
                    pass

        self._handler, self._listening = Handler, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self._listening.shutdown(socket.SHUT_RDWR)      # wakes whoever waits in accept
        self._listening.close()

    def _serve(self):
        with contextlib.suppress(OSError):      # closed: the end
            while True:
                threading.Thread(target=self._talk, args=self._listening.accept(), daemon=True).start()

    def _talk(self, connection, address):
        with connection:
            self._handler(connection, address, self)

    def begin_with(self, *scripts):
        """Answer with other scripts from now on, as a provider that nobody has asked yet."""
        with self.lock:
            self.scripts, self.requests, self.callers = scripts, [], []

    def answer(self, handler):
        """Read one request and play its script; True where another may follow on its connection."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = handler.rfile.readline()
            if not line:
                return False
            head += line
        announced = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        body = handler.rfile.read(int(announced[1]) if announced else 0)
        with self.lock:
            script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
            self.requests.append((head.decode("latin-1"), body))
            self.callers.append(handler.client_address)
        pieces = [script] if isinstance(script, bytes) else script
        try:
            play(pieces, handler.connection)
        except OSError:
            return False        # the client went away, as it may
        return bool(pieces) and isinstance(pieces[0], bytes) and KEPT.encode() in pieces[0]


def play(script, connection):
    """Send a script piece by piece."""
    for piece in script:
        if piece == HANG:
            connection.settimeout(10)
            connection.recv(1)
        elif piece == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        elif isinstance(piece, bytes):
            connection.sendall(piece)
        else:
            time.sleep(piece)
