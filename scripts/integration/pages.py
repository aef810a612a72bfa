"""The interactive documentation works where there is no internet."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product
from scripts.integration.base import Room

_LOADED = {"src", "href", "action", "data", "poster", "srcset"}
_ADDRESS = re.compile(r"(?:https?:)?//[\w.-]+", re.IGNORECASE)
_LOADS = re.compile(r"@import|url\(\s*['\"]?(?!data:|#)(?:https?:)?//", re.IGNORECASE)


class _Addresses(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in _LOADED and value]


def run_pages(room: Room, checks: Report) -> None:
    """Checks /docs and what it loads."""
    with run_product(room.folder / "pages", keys=False, LOG_LEVEL="ERROR") as target:
        asyncio.run(_check_pages(target, checks))


async def _check_pages(target: Target, checks: Report) -> None:
    base = f"{target.address}/docs"
    async with target.open_client() as http:
        page = await http.get(base)
        read = _Addresses()
        read.feed(page.text)
        loaded = {address: urljoin(base, address) for address in read.found}
        own = urlsplit(base).netloc
        checks.check_all(
            {name: urlsplit(at).netloc == own for name, at in loaded.items()}, "pages: /docs loads only from here"
        )
        foreign = _ADDRESS.findall(page.text)
        checks.check(not foreign, "pages: no address of another place in /docs", len(foreign))
        parts = {name: await http.get(at) for name, at in loaded.items()}
        checks.check_all({name: part.is_success for name, part in parts.items()}, "pages: what it loads is there")
        styles = {name: part.text for name, part in parts.items() if "css" in part.headers.get("content-type", "")}
        checks.check_all(
            {name: not _LOADS.search(text) for name, text in styles.items()}, "pages: its styles load nothing"
        )
        paths = (await http.get("/openapi.json")).raise_for_status().json()["paths"]
        checks.check(bool(paths), "pages: the document that it shows is there", len(paths))
