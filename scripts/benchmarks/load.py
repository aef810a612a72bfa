"""A client that is cheap enough to measure servers from the same machine: keep-alive connections on a bare protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from scripts.benchmarks.timing import since

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Load:
    """What a batch of requests took; `bodies` in the order in which they came back."""

    seconds: float
    milliseconds: list[float]
    bodies: list[bytes]

    @property
    def rps(self) -> float:
        """Requests a second."""
        return len(self.milliseconds) / self.seconds


class _Connection(asyncio.Protocol):
    """Sends the next request as soon as the last one is answered. Anything but 200 ends the benchmark."""

    def __init__(self, requests: Iterator[bytes], load: Load) -> None:
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._load = load
        self._buffer = b""
        self._started = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        length = _LENGTH.search(self._buffer, 0, head + 2)
        if not self._buffer.startswith(b"HTTP/1.1 200") or length is None:
            self._fail(self._buffer[:500].decode("utf-8", errors="replace"))
        elif len(self._buffer) >= head + 4 + int(length[1]):
            self._load.milliseconds.append(since(self._started))
            self._load.bodies.append(self._buffer[head + 4 :])
            self._buffer = b""
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("连接断了")

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is not None:
            self._started = perf_counter()
            self._transport.write(request)
        elif not self.finished.done():
            self.finished.set_result(None)
            self._transport.close()

    def _fail(self, reason: str) -> None:
        if not self.finished.done():
            self.finished.set_exception(OSError(f"请求失败：{reason}"))
            self._transport.close()


async def post_all(port: int, path: str, bodies: Sequence[dict[str, Any]], concurrency: int) -> Load:
    """Posts every body once over `concurrency` connections. Raises OSError for any answer that is not 200."""
    requests = iter([_request(path, body) for body in bodies])
    load = Load(0.0, [], [])
    loop = asyncio.get_running_loop()
    started = perf_counter()
    connections = [
        await loop.create_connection(lambda: _Connection(requests, load), "127.0.0.1", port)
        for _ in range(min(concurrency, len(bodies)))
    ]
    await asyncio.gather(*(protocol.finished for _, protocol in connections))
    return Load(since(started) / 1000, load.milliseconds, load.bodies)


async def first_event(port: int, path: str, body: dict[str, Any], kind: str) -> tuple[float, dict[str, Any]]:
    """Milliseconds until the first Server-Sent Event of a kind, and the data of the last event."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    started, first, last = perf_counter(), None, b""
    writer.write(_request(path, body))
    async for line in reader:
        if first is None and line.startswith(b"event: " + kind.encode()):
            first = since(started)
        if line.startswith(b"data: "):
            last = line
            if b'"type": "done"' in line or b'"type":"done"' in line or b'"type": "error"' in line:
                break
    writer.close()
    if first is None:
        raise OSError(f"没有等到 {kind}：{last.decode('utf-8', errors='replace')[:500]}")
    data: dict[str, Any] = json.loads(last.removeprefix(b"data: "))
    return first, data


def _request(path: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body, ensure_ascii=False).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    return head.encode() + b"\r\n\r\n" + data
