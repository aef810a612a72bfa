"""An OpenAI-compatible embeddings endpoint on this machine: hashed vectors, and the faults that a test asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from knowledge.embeddings.hash import HashEmbedder

KEY, MODEL = "sk-embeddings", "tiny-embedding"


@dataclass
class EmbeddingsServer:
    """`faults`: for each of the next requests a status, the body of a 200, or None for a good answer."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    faults: list[int | str | None] = field(default_factory=list)
    scale: float = 3.0
    backwards: bool = False

    def answer(self, request: dict[str, Any]) -> str:
        embedder = HashEmbedder()
        vectors = embedder._encode(request["input"], "passage") * self.scale
        embedder.close()
        data = [
            {"object": "embedding", "index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": MODEL, "data": data[::-1] if self.backwards else data, "usage": usage}
        return json.dumps(answer)


@contextmanager
def embeddings_server() -> Iterator[EmbeddingsServer]:
    """Runs until the block ends."""
    state = EmbeddingsServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(request)
            fault = state.faults.pop(0) if state.faults else None
            if self.headers["Authorization"] != f"Bearer {KEY}":
                self._reply(401, '{"error": {"message": "wrong key"}}')
            elif isinstance(fault, int):
                self._reply(fault, '{"error": {"message": "out of order"}}')
            else:
                self._reply(200, state.answer(request) if fault is None else fault)

        def _reply(self, status: int, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.send_header("Retry-After-Ms", "1")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
