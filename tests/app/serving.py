"""The whole product behind a real server, in the loop of the test."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from app.http.server import build_server_config
from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container


@dataclass(frozen=True, slots=True)
class Served:
    """Where it answers, and what is behind it."""

    address: str
    container: Container


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def served(data_dir: Path, **settings: Any) -> AsyncIterator[Served]:
    """On a free port, with the hash embedder unless told, and the in-memory store."""
    options: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    own = Settings(data_dir=data_dir, **options | settings)
    app = create_app(own)
    server = _Server(build_server_config(app, own, port=0))
    running = asyncio.create_task(server.serve())
    await server.listening.wait()
    try:
        yield Served(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", app.state.container)
    finally:
        server.should_exit = True
        await running
