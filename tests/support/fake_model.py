"""A fake model on loopback: answers real agents from a script, with every fault.

A script is a list of steps; the turn of the conversation chooses the step, the last
one repeats. A step has `text`, `tools` and `usage`, or a fault:

    {"status": 429, "message": "…", "headers": {"retry-after": "1"}}
    {"hang": True}          accept, and say nothing
    {"hang_after": 2}       say two events, then nothing more
    {"break_after": 2}      say two events, then cut the connection
    {"raw": "<html>"}       answer 200 with this

It also stands in as the proxy to the outside, refusing and counting every attempt.
"""

import json
import re
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.support.fake_protocols import Json, Protocol, Step, protocol_of

Script = list[Step] | Callable[[str, int], Step]


class FakeModel:
    """The server, in a thread of its own while the context lasts."""

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or [{"text": "done"}]
        self.asked: list[str] = []
        self.outside: list[str] = []
        self.stopping = False
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def step(self, prompt: str, turn: int) -> Step:
        """Return the step that answers a turn of a conversation."""
        if callable(self.script):
            return self.script(prompt, turn)
        return self.script[min(turn, len(self.script) - 1)]

    def __enter__(self) -> "FakeModel":
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping = True
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fake: FakeModel) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing: agents hang up in the middle, and that is part of the test."""


class _CutError(Exception):
    """The connection is to end now."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> FakeModel:
        return cast("_Server", self.server).fake

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (_CutError, OSError):
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            self.close_connection = True

    def do_CONNECT(self) -> None:
        self._refuse()

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        if self.path.startswith("http://"):
            self._refuse()
        else:
            self._json(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = self._body()
        protocol = protocol_of(self.path)
        if self.path.startswith("http://"):
            self._refuse()
        elif "ount" in self.path.rpartition("/")[2] and protocol is None:
            self._json(200, {"input_tokens": 10, "totalTokens": 10})
        elif protocol is None:
            self._json(404, {"error": {"message": "not here"}})
        else:
            self._answer(protocol, body)

    def _refuse(self) -> None:
        self.fake.outside.append(self.path)
        self.close_connection = True
        self._json(403, {"error": "nothing outside may be reached"})

    def _body(self) -> Json:
        length = self.headers.get("Content-Length")
        data = self.rfile.read(int(length)) if length else self._chunks()
        if (self.headers.get("Content-Encoding") or "") in ("gzip", "deflate"):
            data = zlib.decompress(data, 47)
        try:
            found = json.loads(data or b"{}")
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}

    def _chunks(self) -> bytes:
        data = b""
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return data

    def _answer(self, protocol: Protocol, body: Json) -> None:
        asked = protocol.asked(body)
        # Requests that offer no tools are for titles, routing and the like.
        step: Step = {"text": "ok"}
        if asked.tools:
            step = self.fake.step(asked.prompt, asked.turn)
            self.fake.asked.append(asked.prompt)
        time.sleep(step.get("delay", 0))
        if step.get("hang"):
            self._hold()
        if "raw" in step:
            self._send(200, step["raw"].encode(), {"Content-Type": "text/html"})
        elif "status" in step:
            said = step.get("message", f"fake error {step['status']}")
            error = protocol.error(step["status"], said)
            self._json(step["status"], error, step.get("headers"))
        else:
            self._reply(protocol, step, body)

    def _reply(self, protocol: Protocol, step: Step, body: Json) -> None:
        named = re.search(r"/models/([^:/?]+):", self.path)
        model = body.get("model") or (named[1] if named else "fake")
        whole, events = protocol.reply(step, model)
        if body.get("stream") or ":streamGenerateContent" in self.path:
            self._stream(step, events)
        elif "hang_after" in step:
            self._hold()
        elif "break_after" in step:
            self._cut()
        else:
            self._json(200, whole)

    def _stream(self, step: Step, events: list[tuple[str | None, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for n, (kind, data) in enumerate(events):
            if step.get("break_after") == n:
                self._cut()
            if step.get("hang_after") == n:
                self._hold()
            text = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {kind}\n" if kind else ""
            block = f"{head}data: {text}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _json(self, status: int, value: Json, headers: Json | None = None) -> None:
        kind = {"Content-Type": "application/json", "request-id": "req_fake"}
        self._send(status, json.dumps(value).encode(), {**kind, **(headers or {})})

    def _send(self, status: int, data: bytes, headers: Json) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _hold(self) -> None:
        """Keep the connection open and silent until the other side leaves."""
        self.connection.settimeout(0.2)
        while not self.fake.stopping:
            try:
                if self.connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        raise _CutError

    def _cut(self) -> None:
        """Reset the connection rather than close it politely."""
        self.wfile.flush()
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        raise _CutError
