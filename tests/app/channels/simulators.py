"""Platforms as their public documentation describes them, on a port of this machine: what tests send comes signed, what
the product sends is taken, refused or limited as the platform does it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """A request of the product's. body: what its JSON says."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else {}


Answer = dict[str, Any] | tuple[int, dict[str, Any]] | bytes


@dataclass
class Platform:
    """calls: what came, in order. faults: answers that are given instead, each once, to calls of a path."""

    answer: Callable[[Call], Answer]
    calls: list[Call] = field(default_factory=list)
    faults: dict[str, list[Answer]] = field(default_factory=dict)
    url: str = ""
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    def of(self, path: str) -> list[Call]:
        """The calls of a path."""
        return [call for call in self.calls if call.path == path]

    async def wait(self, path: str, count: int = 1, seconds: float = 30.0) -> list[Call]:
        """The calls of a path, once there are so many."""
        async with asyncio.timeout(seconds), self._came:
            await self._came.wait_for(lambda: len(self.of(path)) >= count)
        return self.of(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = head.split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = first.split(" ")
        parts = urlsplit(target)
        call = Call(method, parts.path, dict(parse_qsl(parts.query)), headers, raw)
        faults = self.faults.get(call.path)
        told = faults.pop(0) if faults else self.answer(call)
        status, body = told if isinstance(told, tuple) else (200, told)
        sent, media = (body, "image/jpeg") if isinstance(body, bytes) else (json.dumps(body).encode(), JSON)
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {media}\r\nContent-Length: {len(sent)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + sent)
        await writer.drain()
        writer.close()
        async with self._came:
            self.calls.append(call)
            self._came.notify_all()


@asynccontextmanager
async def simulated(answer: Callable[[Call], Answer] = lambda _: {}) -> AsyncIterator[Platform]:
    """answer: what the platform says to what it is asked."""
    platform = Platform(answer)
    server = await asyncio.start_server(platform.serve, "127.0.0.1", 0)
    platform.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield platform
