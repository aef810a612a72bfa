"""Scans files for viruses before they are stored: by a command, by clamd, over HTTP, or over ICAP. A file that cannot
be scanned is rejected.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from app.errors import AttachmentInfected, AttachmentsUnavailable
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

# Exit code of clamdscan and clamscan; 0 is clean, any other code is no verdict.
INFECTED_EXIT = 1
# Status of ClamAV's REST services; 2xx is clean, any other status is no verdict.
INFECTED_STATUS = 406
ICAP_PORT = 1344
CLAMD_PORT = 3310
# Bytes per chunk, far below the limit of clamd (StreamMaxLength).
CLAMD_CHUNK = 256 * 1024
# RFC 3507: 204 means the file is unchanged; 200 brings a replacement.
ICAP_UNCHANGED, ICAP_ANSWERED = 204, 200


class Scanner(Protocol):
    """Scans a file before anything else reads it."""

    async def scan_file(self, name: str, content: bytes) -> None:
        """Scans a file.

        Args:
            name: The file's name, for the error message.
            content: The file's bytes.

        Raises:
            AttachmentInfected: The scanner found something.
            AttachmentsUnavailable: The scanner gave no verdict.
        """


class NoScanner:
    """Accepts every file without a scan."""

    async def scan_file(self, name: str, content: bytes) -> None:
        """See `Scanner`."""


class CommandScanner:
    """A program that reads the file from its standard input, as `clamdscan --no-summary -`."""

    def __init__(self, command: str, seconds: float) -> None:
        self._command = shlex.split(command)
        self._seconds = seconds

    async def scan_file(self, name: str, content: bytes) -> None:
        """See `Scanner`."""
        process = None
        try:
            async with asyncio.timeout(self._seconds):
                pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
                process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=null, stderr=null)
                await process.communicate(content)
        except (TimeoutError, OSError) as error:
            raise _build_no_verdict_error() from error
        finally:
            if process is not None and process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode == INFECTED_EXIT:
            raise _build_infected_error(name)
        if process.returncode:
            raise _build_no_verdict_error()


class ClamdScanner:
    """The daemon of ClamAV, called by its own protocol (INSTREAM, see clamd(8)). url: `clamd://host:port`."""

    def __init__(self, url: str, seconds: float) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or CLAMD_PORT
        self._seconds = seconds

    async def scan_file(self, name: str, content: bytes) -> None:
        """See `Scanner`."""
        try:
            async with asyncio.timeout(self._seconds):
                verdict = await self._request_verdict(content)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise _build_no_verdict_error() from error
        if verdict.endswith(b" FOUND"):
            raise _build_infected_error(name)
        if verdict != b"stream: OK":
            raise _build_no_verdict_error()

    async def _request_verdict(self, content: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(b"zINSTREAM\0")
            for start in range(0, len(content), CLAMD_CHUNK):
                piece = content[start : start + CLAMD_CHUNK]
                writer.write(len(piece).to_bytes(4) + piece)
                await writer.drain()
            writer.write(bytes(4))
            return (await reader.readuntil(b"\0"))[:-1]
        finally:
            writer.close()


class HttpScanner:
    """A service that takes the file as the field `file` of a form."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._seconds = seconds

    async def scan_file(self, name: str, content: bytes) -> None:
        """See `Scanner`."""
        try:
            async with asyncio.timeout(self._seconds), httpx.AsyncClient(timeout=self._seconds) as client:
                response = await client.post(self._url, files={"file": ("attachment", content)})
        except (TimeoutError, httpx.HTTPError) as error:
            raise _build_no_verdict_error() from error
        if response.status_code == INFECTED_STATUS:
            raise _build_infected_error(name)
        if not response.is_success:
            raise _build_no_verdict_error()


class IcapScanner:
    """A server of RFC 3507; the file is sent as if it had been downloaded (RESPMOD)."""

    def __init__(self, url: str, seconds: float) -> None:
        parts = urlsplit(url)
        self._url, self._host, self._port = url, parts.hostname or "", parts.port or ICAP_PORT
        self._seconds = seconds

    async def scan_file(self, name: str, content: bytes) -> None:
        """See `Scanner`."""
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._request_status(content)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError) as error:
            raise _build_no_verdict_error() from error
        if status == ICAP_ANSWERED:
            raise _build_infected_error(name)
        if status != ICAP_UNCHANGED:
            raise _build_no_verdict_error()

    async def _request_status(self, content: bytes) -> int:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            request = b"GET /attachment HTTP/1.1\r\nHost: attachment\r\n\r\n"
            response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content)
            head = (
                f"RESPMOD {self._url} ICAP/1.0\r\nHost: {self._host}\r\nAllow: 204\r\nConnection: close\r\n"
                f"Encapsulated: req-hdr=0, res-hdr={len(request)}, res-body={len(request) + len(response)}\r\n\r\n"
            )
            writer.write(head.encode() + request + response + b"%x\r\n" % len(content) + content + b"\r\n0\r\n\r\n")
            await writer.drain()
            return int((await reader.readuntil(b"\r\n")).split()[1])
        finally:
            writer.close()


def open_scanner(setting: str, seconds: float) -> Scanner:
    """Returns the scanner that a setting names: `clamd://…`, `icap://…`, `http(s)://…` or a command; empty for none."""
    if not setting:
        return NoScanner()
    protocol = urlsplit(setting).scheme
    return _SCANNERS.get(protocol, CommandScanner)(setting, seconds)


_SCANNERS: Mapping[str, Callable[[str, float], Scanner]] = {
    "clamd": ClamdScanner,
    "icap": IcapScanner,
    "http": HttpScanner,
    "https": HttpScanner,
}


def _build_infected_error(name: str) -> AttachmentInfected:
    return AttachmentInfected(f"《{name}》没有通过安全检查，已拒绝。", name=name)


def _build_no_verdict_error() -> AttachmentsUnavailable:
    return AttachmentsUnavailable("文件安全检查暂时不可用，没有收下，请稍后再发。")
