"""A website on loopback: pages by path, and a list of what was asked for."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Page:
    """One answer. headers: besides its length; tagged: it has an ETag, and answers 304 to who knows it."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    tagged: bool = True

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:12]}"'


@dataclass
class Site:
    """url: without a slash at its end; asked: path and headers of every request."""

    url: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def put(self, path: str, text: str, *, head: str = "", status: int = 200, **headers: str) -> None:
        """A page in HTML; {url} in it is the address of the site. headers: Content_Type for Content-Type."""
        body = f"<html><head>{head}</head><body><main>{text}</main></body></html>".replace("{url}", self.url)
        told = {"Content-Type": "text/html; charset=utf-8"}
        told |= {name.replace("_", "-"): value.replace("{url}", self.url) for name, value in headers.items()}
        self.pages[path] = Page(body.encode(), status, told)

    def send(self, path: str, body: bytes, media_type: str) -> None:
        """Bytes as they are."""
        self.pages[path] = Page(body.replace(b"{url}", self.url.encode()), headers={"Content-Type": media_type})

    def moved(self, path: str, to: str, status: int = 301) -> None:
        """A redirect."""
        self.pages[path] = Page(status=status, headers={"Location": to})

    def paths(self) -> list[str]:
        """What was asked for since this was called last."""
        found = [path for path, _ in self.asked]
        self.asked.clear()
        return found

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request a connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            request, *lines = head.split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
            path = request.split(" ")[1]
            self.asked.append((path, headers))
            page = self.pages.get(path, Page(b"<p>not here</p>", 404))
            told = dict(page.headers)
            if page.status == 200 and page.tagged:
                told["ETag"] = page.etag
                if headers.get("if-none-match") == page.etag:
                    page = Page(status=304)
            head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
            line = f"HTTP/1.1 {page.status} X\r\n{head}Content-Length: {len(page.body)}\r\nConnection: close\r\n\r\n"
            writer.write(line.encode() + page.body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """On a free port."""
    found = Site()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield found
