"""Sources over a whole knowledge base, with a site on loopback that is not waited for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.documents.repository import DocumentRow
from app.net.fetcher import Fetcher
from app.net.pace import HostPace
from app.net.targets import TargetPolicy, parse_port_ranges
from app.sources.folder import FolderSync
from app.sources.repository import SourceRepository
from app.sources.service import SourceLimits, SourceService
from app.sources.types import FolderConfig, NewSource, SourceKind, WatchedSource, WebsiteConfig
from app.sources.website import WebsiteSync
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base

TENANT = "t"


class Unhurried(HostPace):
    """Remembers how long would have been waited."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def wait_for_turn(self, host: str, seconds: float) -> None:
        self.waits.append(seconds)


@dataclass
class Run:
    """See `JobContext`. stop: raised by the progress of that number."""

    parameters: dict[str, Any]
    tenant: str = TENANT
    run_id: str = "r"
    stop: tuple[int, Exception] | None = None

    async def report_progress(self, done: int, total: int) -> None:
        if self.stop and done >= self.stop[0]:
            raise self.stop[1]


@dataclass
class Syncing:
    """The parts, and what tests ask of them."""

    base: KnowledgeBase
    service: SourceService
    pace: Unhurried

    async def website(self, url: str, **config: Any) -> WatchedSource:
        return await self.service.add(TENANT, NewSource(SourceKind.WEBSITE, "帮助中心", WebsiteConfig(url, **config)))

    async def folder(self, path: Path) -> WatchedSource:
        return await self.service.add(TENANT, NewSource(SourceKind.FOLDER, "资料", FolderConfig(str(path)), "制度"))

    async def sync(self, source: WatchedSource, stop: tuple[int, Exception] | None = None) -> dict[str, Any]:
        """Counts that are not 0."""
        result = await self.service.sync(Run({"source_id": source.id}, stop=stop))
        return {name: count for name, count in result.items() if count}

    async def states(self, source: WatchedSource) -> dict[str, str]:
        """Of every item; of a URL only its path."""
        items = await self.service.rows.list_items(TENANT, source.id)
        return {
            (
                item.locator if "//" not in item.locator else httpx.URL(item.locator).raw_path.decode()[1:]
            ): item.state.value
            for item in items
        }

    async def errors(self, source: WatchedSource) -> set[str]:
        items = await self.service.rows.list_items(TENANT, source.id)
        return {item.error_code for item in items if item.error_code}

    async def documents(self, *, live: bool = True) -> dict[str, DocumentRow]:
        """By path, those that are answered from, or that are not."""
        rows, _ = await self.base.documents.load_page(TENANT, limit=200)
        return {row.path: row for row in rows if row.live is live}

    async def indexed(self) -> bool:
        """Waits for the index, as a sync that does not fail does itself."""
        heads = await self.base.feed.load_heads()
        return await self.base.ingestion.wait_until_indexed(TENANT, heads[TENANT].revision)

    async def answers(self, words: str) -> bool:
        return bool(await self.base.found(TENANT, words))


@asynccontextmanager
async def syncing(data_dir: Path, roots: tuple[Path, ...] = (), settle: float = 0.0) -> AsyncIterator[Syncing]:
    policy = TargetPolicy.from_settings("网址", "", ("127.0.0.1",), parse_port_ranges("80"))
    async with knowledge_base(data_dir) as base, Fetcher(policy, 20, 1_000_000) as fetcher:
        pace = Unhurried()
        service = SourceService(
            SourceRepository(base.database),
            base.ingestion,
            base.ingestor,
            WebsiteSync(fetcher, pace, base.ingestor),
            FolderSync(1_000_000, settle),
            SourceLimits(3, lambda tenant: roots),
        )
        yield Syncing(base, service, pace)


def _place(locator: str) -> str:
    return httpx.URL(locator).raw_path.decode()[1:] if "//" in locator else locator
