"""A provider on 127.0.0.1 for tests and benchmarks: the openai-compatible wire, any answer, no thinking time.

    with LocalProvider(lambda body: '{"verdict": …}') as provider: … provider.url …
"""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


class LocalProvider:
    """`answer(body)` → the reply's text for a request body, `usage(body)` and `finish(body)` → what goes with it.

    `.keeps`: whether it keeps a connection for the next request, as most do, or closes each behind its reply.
    `.calls` counts requests, `.keys` keeps their Authorization headers, `.connections` the addresses they came from.
    """

    def __init__(self, answer, keeps=True):
        self.keeps = keeps
        self.answer, self.usage, self.finish = answer, lambda body: USAGE, lambda body: "stop"
        self.calls, self.keys, self.connections, self._lock = 0, [], set(), threading.Lock()

    def __enter__(self):
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def environment(self, **more):
        """Environment variables for a run against this server."""
        return {"BASE_URL": self.url, "API_KEY": "sk-local-test-0123456789", "MODEL": "local", **more}

    def _handler(provider):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with provider._lock:
                    provider.calls += 1
                    provider.keys.append(self.headers.get("Authorization"))
                reply = provider.answer(body), provider.finish(body), provider.usage(body)
                kind, data = (_stream if body.get("stream") else _whole)(*reply)
                with provider._lock:
                    provider.connections.add(self.client_address)
                head = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(data)}",
                        f"Connection: {'keep-alive' if provider.keeps else 'close'}", "", ""]
                self.wfile.write("\r\n".join(head).encode() + data)     # at once: two packets would wait for each other
                self.close_connection = not provider.keeps
        return Handler


class _Quiet(ThreadingHTTPServer):
    """A server that says nothing of callers that go away: tests kill them."""

    request_queue_size = 128        # a full queue would have callers wait a second to connect
    def handle_error(self, request, client_address):
        pass


def _whole(text, finish, usage):
    body = {"id": "c-1", "object": "chat.completion", "model": "local", "usage": usage,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}]}
    return "application/json", json.dumps(body).encode()


def _stream(text, finish, usage):
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in (text[:7], text[7:])]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    events = [json.dumps({"object": "chat.completion.chunk", "model": "local", **chunk}) for chunk in chunks]
    return "text/event-stream", "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
