"""Waits until a commit is searchable, when another process keeps the index."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed


POLL_SECONDS = 0.2


class RemoteFollower:
    """The index belongs to another process, which records in SQL how far it came."""

    def __init__(self, feed: IndexFeed) -> None:
        self._feed = feed

    async def wait_for_revision(self, tenant: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109
        """Waits by asking SQL every `POLL_SECONDS`."""
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            heads = (await self._feed.load_heads()).get(tenant)
            if heads is not None and heads.indexed >= revision:
                return True
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(POLL_SECONDS)

    async def is_keywords_only(self, tenant: str) -> bool:
        """Always False: it is unknown here, so documents wait for the embedder."""
        return False
