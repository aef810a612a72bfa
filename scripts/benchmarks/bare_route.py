"""What the product's requests are compared with: one FastAPI route with pydantic in and out and nothing behind it, and
the embedder with nothing around it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from time import perf_counter

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from knowledge.embeddings.base import Embedder
from scripts.harness.timing import measure_since


class Ask(BaseModel):
    message: str
    session_id: str | None = None


class BareReply(BaseModel):
    reply: str
    session_id: str


app = FastAPI()


@app.post("/api/v1/chat")
async def answer_chat(body: Ask) -> BareReply:
    return BareReply(reply=body.message, session_id=body.session_id or "new")


async def measure_embedder(embedder: Embedder, texts: Sequence[str], concurrency: int) -> float:
    """Questions a second that the embedder itself reaches, `concurrency` of them waiting at any time."""
    waiting = iter(texts)

    async def embed_one_by_one() -> None:
        for text in waiting:
            await embedder.embed_question(text)

    started = perf_counter()
    await asyncio.gather(*(embed_one_by_one() for _ in range(concurrency)))
    return len(texts) * 1000 / measure_since(started)


def main() -> None:
    """Serves on a free port, which it prints; the same server and the same quiet log as the product's."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
