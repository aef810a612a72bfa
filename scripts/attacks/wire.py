"""HTTP by hand, for requests that no library sends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from scripts.harness.servers import Target

# What a client that reads nothing lets the server send, beside the server's own buffer, in bytes.
BUFFER = 1 << 16

Headers = Iterable[tuple[str, str]]


class Wire:
    """One connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> bool:
        """Sends bytes. Returns False once the server does not take any more."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError:
            return False
        return not self.writer.is_closing()

    async def read_status(self, seconds: float) -> int:
        """Status of the next answer, its head read; 0 when the server closed instead, -1 when nothing came in time."""
        try:
            async with asyncio.timeout(seconds):
                head = await self.reader.readuntil(b"\r\n\r\n")
        except TimeoutError:
            return -1
        except (OSError, asyncio.IncompleteReadError):
            return 0
        return int(head.split(b" ", 2)[1])

    async def is_closed(self, seconds: float) -> bool:
        """Whether the server closes in time, whatever it still says."""
        try:
            async with asyncio.timeout(seconds):
                while await self.reader.read(65536):
                    pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True


@asynccontextmanager
async def open_wire(target: Target) -> AsyncIterator[Wire]:
    """Opens a connection to the server; it is cut at the end of the block."""
    place = urlsplit(target.address)
    family = socket.AF_INET6 if ":" in (place.hostname or "") else socket.AF_INET
    own = socket.socket(family)
    own.setblocking(False)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    await asyncio.get_running_loop().sock_connect(own, (place.hostname, place.port))
    reader, writer = await asyncio.open_connection(sock=own, limit=BUFFER)
    try:
        yield Wire(reader, writer)
    finally:
        writer.transport.abort()  # to close would wait for what a deaf server never reads


def build_head(
    method: str, path: str, headers: Headers = (), *, host: str = "127.0.0.1", version: str = "1.1"
) -> bytes:
    """The head of a request. host: empty for none."""
    lines = [f"{method} {path} HTTP/{version}"]
    if host:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def build_bearer(key: str) -> list[tuple[str, str]]:
    """The header that shows a key; none without one."""
    return [("Authorization", f"Bearer {key}")] if key else []
