"""The interactive documentation works where there is no internet."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from scripts.attacks.base import Target
from scripts.attacks.process import process
from scripts.integration.base import Checks, Room

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


def run(room: Room, checks: Checks) -> None:
    """See above."""
    with process(room.folder / "pages", keys=False, LOG_LEVEL="ERROR") as target:
        asyncio.run(_play(target, checks))


async def _play(target: Target, checks: Checks) -> None:
    base = f"{target.address}/docs"
    async with target.http() as http:
        page = await http.get(base)
        read = _Addresses()
        read.feed(page.text)
        loaded = {address: urljoin(base, address) for address in read.found}
        own = urlsplit(base).netloc
        checks.count(
            "pages: /docs loads only from here", {name: urlsplit(at).netloc == own for name, at in loaded.items()}
        )
        foreign = _ADDRESS.findall(page.text)
        checks.check("pages: no address of another place in /docs", not foreign, len(foreign))
        parts = {name: await http.get(at) for name, at in loaded.items()}
        checks.count("pages: what it loads is there", {name: part.is_success for name, part in parts.items()})
        styles = {name: part.text for name, part in parts.items() if "css" in part.headers.get("content-type", "")}
        checks.count("pages: its styles load nothing", {name: not _LOADS.search(text) for name, text in styles.items()})
        paths = (await http.get("/openapi.json")).raise_for_status().json()["paths"]
        checks.check("pages: the document that it shows is there", bool(paths), len(paths))
