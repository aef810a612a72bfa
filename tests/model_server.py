"""A model server on this machine, over real HTTP: OpenAI's and TEI's embeddings, TEI's and Jina's reranking, and a
model that says yes or no.

What it computes is handed in, a tiny checkpoint for one; it fails as a test asks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from knowledge.embeddings.base import make_readable
from knowledge.embeddings.bge import BgeEmbedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.rerankers.bge import BgeReranker
from knowledge.types import Matrix

KEY, MODEL = "sk-embeddings", "tiny-embedding"


def hashed(texts: Sequence[str]) -> Matrix:
    with closing(HashEmbedder()) as embedder:
        return embedder._encode(texts, "passage")


@dataclass
class ModelServer:
    """`faults`: for each of the next requests a status, the body of a 200, or None for a good answer; poison: a text
    that is not taken, nor what comes with it.
    """

    encode: Callable[[Sequence[str]], Matrix] = hashed
    score: Callable[[Sequence[tuple[str, str]]], Sequence[float]] | None = None
    address: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    faults: list[int | str | None] = field(default_factory=list)
    scale: float = 3.0
    backwards: bool = False
    poison: str = ""

    @property
    def url(self) -> str:
        """Of what is OpenAI-compatible."""
        return f"{self.address}/v1"

    def answer(self, path: str, request: dict[str, Any]) -> str:
        match path:
            case "/v1/embeddings":
                return json.dumps(self._openai(request))
            case "/embed":
                return json.dumps(self._tei(request))
            case "/v1/completions":
                return json.dumps(self._said(request))
        return json.dumps(self._scored(request))

    def _openai(self, request: dict[str, Any]) -> dict[str, Any]:
        rows = enumerate((self.encode(request["input"]) * self.scale).tolist())
        data = [{"object": "embedding", "index": row, "embedding": vector} for row, vector in rows]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "model": MODEL, "data": data[::-1] if self.backwards else data, "usage": usage}

    def _tei(self, request: dict[str, Any]) -> list[Any]:
        assert request["truncate"]
        rows: list[Any] = (self.encode(request["inputs"]) * self.scale).tolist()
        return rows

    def _said(self, request: dict[str, Any]) -> dict[str, Any]:
        """Yes or no of the shipped template's question and passage, in vLLM's form."""
        assert self.score is not None and request["max_tokens"] == 1
        choices = []
        for place, prompt in enumerate(request["prompt"]):
            asked = prompt.split("<Query>: ")[1].split("<|im_end|>")[0]
            question, _, passage = asked.partition("\n<Document>: ")
            odds = float(self.score([(question, passage)])[0])
            told = {" yes": -math.log1p(math.exp(-odds)), "no": -math.log1p(math.exp(odds)), "maybe": -30.0}
            choices.append({"index": place, "text": "yes", "logprobs": {"top_logprobs": [told]}})
        return {"object": "text_completion", "model": MODEL, "choices": choices[::-1]}

    def _scored(self, request: dict[str, Any]) -> Any:
        assert self.score is not None
        passages = request.get("texts") or request["documents"]
        scores = list(enumerate(self.score([(request["query"], passage) for passage in passages])))
        ranked = sorted(scores, key=lambda item: -item[1])
        if "texts" in request:
            assert request["raw_scores"]
            return [{"index": place, "score": score} for place, score in ranked]
        results = [{"index": place, "relevance_score": 1 / (1 + math.exp(-score))} for place, score in ranked]
        return {"model": request["model"], "results": results[: request["top_n"]], "usage": {"total_tokens": 1}}


@contextmanager
def model_server(**options: Any) -> Iterator[ModelServer]:
    """Runs until the block ends. options: of `ModelServer`."""
    state = ModelServer(**options)

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
            elif state.poison and state.poison in json.dumps(request, ensure_ascii=False):
                self._reply(422, '{"error": "not this text", "error_type": "Tokenizer"}')
            else:
                self._reply(200, state.answer(self.path, request) if fault is None else fault)

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
    state.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def embedding_server(folder: Path) -> Iterator[ModelServer]:
    """Embeds with a checkpoint, as a server does that knows nothing of questions and passages."""
    with closing(BgeEmbedder(str(folder))) as model, model_server(encode=encoder(model), scale=1.0) as server:
        server.encode(["预热"])  # who asks is not patient enough for a library to load
        yield server


def encoder(model: BgeEmbedder) -> Callable[[Sequence[str]], Matrix]:
    return lambda texts: np.asarray(model._encode([make_readable(text) for text in texts], "passage"))


@contextmanager
def reranking_server(folder: Path) -> Iterator[ModelServer]:
    """Re-ranks with a checkpoint."""
    with closing(BgeReranker(str(folder), 20)) as model, model_server(score=model._compute_logits) as server:
        model._compute_logits([("预热", "预热")])
        yield server
