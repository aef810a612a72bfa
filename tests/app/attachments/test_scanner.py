"""Scanners, by small servers that speak the protocols of the real ones."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from app.attachments.scanner import CLAMD_CHUNK, open_scanner
from app.errors import AttachmentInfected, AttachmentsUnavailable
from tests.app.attachments.pictures import png
from tests.app.serving import served

# What every scanner takes for a virus, and harms nobody: https://www.eicar.org/download-anti-malware-testfile/
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
CLEAN = b"a letter " * CLAMD_CHUNK
UNKNOWN = b"no verdict"
PROGRAM = "import sys; b = sys.stdin.buffer.read(); sys.exit(1 if b'EICAR' in b else 2 if b'no verdict' in b else 0)"
COMMAND = shlex.join([sys.executable, "-c", PROGRAM])
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def clamd(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """INSTREAM of clamd(8): pieces with their length before them, a length of 0 at the end."""
    assert await reader.readuntil(b"\0") == b"zINSTREAM\0"
    content = b""
    while size := int.from_bytes(await reader.readexactly(4)):
        content += await reader.readexactly(size)
    verdict = b"Win.Test.EICAR_HDB-1 FOUND" if EICAR in content else b"OK"
    if UNKNOWN in content:
        verdict = b"INSTREAM size limit exceeded. ERROR"
    writer.write(b"stream: " + verdict + b"\0" if UNKNOWN not in content else verdict + b"\0")


async def icap(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """RESPMOD of RFC 3507, as c-icap answers it."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    assert head.startswith("RESPMOD icap://") and "Allow: 204" in head
    start = int(head.partition("res-body=")[2].split()[0])
    await reader.readexactly(start)
    content = b""
    while size := int(await reader.readline(), 16):
        content += (await reader.readexactly(size + 2))[:-2]
    status = "200 OK" if EICAR in content else "500 Server error" if UNKNOWN in content else "204 Unmodified"
    writer.write(f"ICAP/1.0 {status}\r\nISTag: x\r\n\r\n".encode())


async def rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The form of ClamAV's REST services."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    content = await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
    assert b'name="file"' in content
    status = "406 Not Acceptable" if EICAR in content else "502 Bad Gateway" if UNKNOWN in content else "200 OK"
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())


SCANNERS: dict[str, tuple[str, Handler | None]] = {
    "clamd": ("clamd://127.0.0.1:{port}", clamd),
    "icap": ("icap://127.0.0.1:{port}/avscan", icap),
    "http": ("http://127.0.0.1:{port}/scan", rest),
    "command": (COMMAND, None),
}


@asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[int]:
    """The port of a server; connections are closed after their handler, and all of them before it ends."""
    running = set[asyncio.Task[None] | None]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(asyncio.current_task())
        try:
            await handler(reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*filter(None, running))


@asynccontextmanager
async def scanning(name: str) -> AsyncIterator[str]:
    """A scanner's setting, and its server."""
    setting, handler = SCANNERS[name]
    if handler is None:
        yield setting
        return
    async with listening(handler) as port:
        yield setting.format(port=port)


def count_files(folder: Path) -> int:
    return len(list(folder.rglob("attachments/*/*")))


@pytest.mark.parametrize("name", SCANNERS)
async def test_a_verdict_is_told_and_none_is_no_leave(name: str) -> None:
    async with scanning(name) as setting:
        scanner = open_scanner(setting, 120.0)
        await scanner.scan_file("a.txt", CLEAN)
        with pytest.raises(AttachmentInfected):
            await scanner.scan_file("a.txt", CLEAN + EICAR)
        with pytest.raises(AttachmentsUnavailable):
            await scanner.scan_file("a.txt", UNKNOWN)


@pytest.mark.parametrize("name", SCANNERS)
async def test_without_a_server_nothing_is_taken(name: str) -> None:
    async with scanning(name) as setting:
        gone = "no-such-program -" if name == "command" else setting
    with pytest.raises(AttachmentsUnavailable):
        await open_scanner(gone, 120.0).scan_file("a.txt", CLEAN)


async def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as port:
        for protocol in ("clamd", "icap", "http"):
            with pytest.raises(AttachmentsUnavailable):
                await open_scanner(f"{protocol}://127.0.0.1:{port}", 0.2).scan_file("a.txt", b"a")


async def test_an_infected_upload_is_kept_nowhere(tmp_path: Path) -> None:
    async with (
        scanning("clamd") as setting,
        served(tmp_path, attachment_scanner=setting, attachment_ocr_seconds=0) as one,
        httpx.AsyncClient(base_url=one.address, timeout=120) as http,
    ):
        opened = (await http.post("/api/v1/sessions", json={})).json()
        http.headers["X-Session-Token"] = opened["session_token"]
        place = f"/api/v1/conversations/{opened['session_id']}/attachments"
        refused = await http.post(place, files={"file": ("a.txt", EICAR)})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "attachment_infected")
        assert count_files(tmp_path) == 0
        assert (await http.post(place, files={"file": ("a.png", png())})).status_code == 201
        assert count_files(tmp_path) == 1
