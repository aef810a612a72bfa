"""What takes spans: a real server that speaks OTLP over HTTP, and the routes of Langfuse that the product uses."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

KEYS = "pk-lf-test", "sk-lf-test"
_PROMPTS = "/api/public/v2/prompts"


class Receiver:
    """What was received so far. hold: requests that come now wait until it is let go."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.prompts: dict[str, list[str]] = {}
        self.held = threading.Event()
        self.free = threading.Event()
        self.free.set()
        self.broken = False
        self.address = ""

    def named(self, name: str) -> list[Span]:
        """Spans of that name."""
        return [span for span in self.spans if span.name == name]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Status and reply."""
        self.paths.append(path)
        self.headers.append(headers)
        if path.startswith("/api/public/"):
            expected = "Basic " + b64encode(":".join(KEYS).encode()).decode()
            if headers.get("authorization") != expected:
                return 401, {"message": "Invalid credentials"}
        if self.broken:
            return 500, {"message": "out of order"}
        if path.endswith("/v1/traces"):
            return self._traces(body)
        return self._prompt(path, body)

    def _traces(self, body: bytes) -> tuple[int, Any]:
        self.bodies.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        return 200, {}

    def _prompt(self, path: str, body: bytes) -> tuple[int, Any]:
        if body:
            asked = json.loads(body)
            assert asked["type"] == "text"
            versions = self.prompts.setdefault(asked["name"], [])
            versions.append(asked["prompt"])
            return 201, asked | {"version": len(versions)}
        name = path.removeprefix(f"{_PROMPTS}/").partition("?")[0]
        versions = self.prompts.get(name, [])
        if not versions:
            return 404, {"message": "Prompt not found"}
        return 200, {"name": name, "prompt": versions[-1], "version": len(versions)}


@contextmanager
def receiving() -> Iterator[Receiver]:
    """On a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["content-length"])))

        def _answer(self, body: bytes) -> None:
            if not receiver.free.is_set():
                receiver.held.set()
                receiver.free.wait()
            told = {name.lower(): value for name, value in self.headers.items()}
            status, reply = receiver.take(self.path, told, body)
            raw = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.free.set()
        server.shutdown()
        thread.join()
        server.server_close()


def told(span: Span) -> dict[str, Any]:
    """The attributes of a span."""
    return {item.key: getattr(item.value, item.value.WhichOneof("value") or "") for item in span.attributes}
