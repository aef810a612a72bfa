"""A client that is cheap enough to measure servers from the same machine: keep-alive connections on a bare protocol.

In a process of its own (`run_flood`) it does not slow down who measures beside it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from os import getpid
from time import perf_counter
from typing import Any

from scripts.harness.servers import CHAT
from scripts.harness.timing import measure_since

HOST = "127.0.0.1"
# Answers without this say not when to try again, though these statuses ask for it.
_RETRY_AFTER, _REFUSALS = b"\r\nretry-after: ", ("429", "503")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Answers:
    """What came back. `milliseconds` and `bodies` are of status 200, in the order of their arrival; `untold` counts
    refusals without Retry-After; `refusal` is the first answer with another status.
    """

    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    untold: int = 0
    refusal: str = ""

    @property
    def rps(self) -> float:
        """Answers a second."""
        return len(self.milliseconds) / self.seconds


class _Connection(asyncio.Protocol):
    """Sends the next request as soon as the last one is answered."""

    def __init__(self, requests: Iterator[bytes], answers: Answers, until: float) -> None:
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests, self._answers, self._until = requests, answers, until
        self._buffer = b""
        self._started = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send_next()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        status, length = _STATUS.match(self._buffer), _LENGTH.search(self._buffer, 0, head + 2)
        if status is None or length is None:
            self._fail(self._buffer[:500].decode("utf-8", errors="replace"))
        elif len(self._buffer) >= head + 4 + int(length[1]):
            self._keep_answer(status[1].decode(), head)
            self._buffer = b""
            self._send_next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("连接断了")

    def _keep_answer(self, status: str, head: int) -> None:
        answers = self._answers
        answers.statuses[status] += 1
        if status == "200":
            answers.milliseconds.append(measure_since(self._started))
            answers.bodies.append(self._buffer[head + 4 :])
            return
        answers.untold += status in _REFUSALS and _RETRY_AFTER not in self._buffer[: head + 2].lower()
        answers.refusal = answers.refusal or self._buffer[:500].decode("utf-8", errors="replace")

    def _send_next(self) -> None:
        self._started = perf_counter()
        request = next(self._requests, None) if self._started < self._until else None
        if request is not None:
            self._transport.write(request)
        else:
            self.finished.set_result(None)
            self._transport.close()

    def _fail(self, reason: str) -> None:
        if not self.finished.done():
            self.finished.set_exception(OSError(f"请求失败：{reason}"))
            self._transport.close()


async def send_requests(
    port: int, requests: Iterator[bytes], connections: int, seconds: float = float("inf")
) -> Answers:
    """Sends requests over so many connections until there are none left or the time is over.

    Args:
        requests: see `build_request`.

    Raises: OSError where a connection ends.
    """
    answers, loop, started = Answers(), asyncio.get_running_loop(), perf_counter()
    opened = []
    for _ in range(connections):
        _, connection = await loop.create_connection(
            lambda: _Connection(requests, answers, started + seconds), HOST, port
        )
        opened.append(connection.finished)
    await asyncio.gather(*opened)
    answers.seconds = measure_since(started) / 1000
    return answers


async def post_all(port: int, path: str, bodies: Sequence[dict[str, Any]], connections: int) -> Answers:
    """Posts every body once. Raises OSError for any answer that is not 200."""
    requests = iter([build_request(path, body) for body in bodies])
    answers = await send_requests(port, requests, min(connections, len(bodies)))
    if answers.refusal:
        raise OSError(f"请求失败：{answers.refusal}")
    return answers


async def measure_first_event(port: int, path: str, body: dict[str, Any], kind: str) -> tuple[float, dict[str, Any]]:
    """Milliseconds until the first Server-Sent Event of a kind, and the data of the last event."""
    reader, writer = await asyncio.open_connection(HOST, port)
    started, first, last = perf_counter(), None, b""
    writer.write(build_request(path, body))
    async for line in reader:
        if first is None and line.startswith(b"event: " + kind.encode()):
            first = measure_since(started)
        if line.startswith(b"data: "):
            last = line
            if b'"type": "done"' in line or b'"type":"done"' in line or b'"type": "error"' in line:
                break
    writer.close()
    if first is None:
        raise OSError(f"没有等到 {kind}：{last.decode('utf-8', errors='replace')[:500]}")
    data: dict[str, Any] = json.loads(last.removeprefix(b"data: "))
    return first, data


def build_request(path: str, body: dict[str, Any], key: str = "") -> bytes:
    """A POST of JSON."""
    data = json.dumps(body, ensure_ascii=False).encode()
    shown = f"Authorization: Bearer {key}\r\n" if key else ""
    head = f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\n{shown}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


@dataclass(frozen=True, slots=True)
class Flood:
    """Messages to the chat, all of them different, for so many seconds."""

    port: int
    key: str
    text: str
    seconds: float
    connections: int


@asynccontextmanager
async def run_flood(flood: Flood) -> AsyncIterator[Counter[str]]:
    """Floods while the block runs, from a process of its own.

    Yields: the counts by status, and of `untold` refusals: see `Answers`. They are there at the end of the block.
    """
    counts: Counter[str] = Counter()
    loop = asyncio.get_running_loop()
    # spawn, because a fork would take along the threads and the event loop of whoever measures
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        await loop.run_in_executor(pool, getpid)  # until the process is there
        sent = loop.run_in_executor(pool, _send_flood, flood)
        try:
            yield counts
        finally:
            counts.update(await sent)


def _send_flood(flood: Flood) -> dict[str, int]:
    requests = (build_request(CHAT, {"message": f"{flood.text} {number}"}, flood.key) for number in count())
    answers = asyncio.run(send_requests(flood.port, requests, flood.connections, flood.seconds))
    return {**answers.statuses, "untold": answers.untold}
