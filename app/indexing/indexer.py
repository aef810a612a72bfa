"""Keeps every tenant's index at SQL's revision: repairs it at start, follows each commit of any process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from loguru import logger

from app.indexing.backlog import EmbeddingBacklog, Indexing
from app.indexing.catch_up import CatchUp, FollowedIndex, SearchedIndex
from app.work_loop import WorkLoop
from knowledge.errors import EmbeddingUnavailable, IndexUnavailable, NotEmbedded, Unavailable
from knowledge.index import Index
from knowledge.ingest import EmbedderOf
from knowledge.stores.memory import MemoryIndex
from knowledge.types import Matrix

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed


# How often SQL is asked for commits of other processes: one row per tenant, about 0.3 ms.
POLL_SECONDS = 0.5
# How late it may learn that the database, or the embedder, is back.
MAX_BACKOFF_SECONDS = 5.0


class Indexer(WorkLoop):
    """The one writer of all indexes of this process, which holds the lock on DATA_DIR.

    Where vectors are missing, because the cache was lost or another process committed, or because the embedder or what
    keeps the index is out of reach, an index without vectors serves keyword recall, which searches mark, until they are
    all there. An index that has vectors stays as it is meanwhile.

    The server answers before any of that is done.

    open_index: opens a tenant's index. on_revision: called on the event loop with tenant and revision each
    time an index moved.
    """

    name = "indexer"
    poll_seconds = POLL_SECONDS

    def __init__(
        self,
        feed: IndexFeed,
        catch_up: CatchUp,
        embedder_of: EmbedderOf,
        open_index: Callable[[str], Awaitable[Index]],
        on_revision: Callable[[str, int], None] | None = None,
    ) -> None:
        super().__init__()
        self._feed = feed
        self._catch_up = catch_up
        self._embedder_of = embedder_of
        self._open_index = open_index
        self._on_revision = on_revision
        self._served: dict[str, SearchedIndex] = {}
        self._embedded: dict[str, FollowedIndex] = {}
        self._keywords: dict[str, FollowedIndex] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._answering: dict[str, int] = {}
        self._moved = asyncio.Condition()
        self._distrusted: dict[str, frozenset[str]] = {}
        self._looked = asyncio.Event()
        self._backlog = EmbeddingBacklog(self._handle_embedding_end)
        # Why a tenant's index lags behind, while it does.
        self.failures: dict[str, Exception] = {}

    async def open_indexes(self) -> None:
        """Opens the indexes, before `start`; see `wait_until_serving`. Raises IndexMismatch."""
        for tenant in await self._feed.load_heads():
            with suppress(EmbeddingUnavailable, IndexUnavailable):  # then keywords serve
                await self._get_index(tenant)

    async def wait_until_serving(self) -> None:
        """Returns once every knowledge base answers, be it by keywords alone, or was tried to be brought there."""
        await self._looked.wait()

    async def wait_until_settled(self) -> None:
        """Waits as `wait_until_serving` does, and until nothing is being embedded any more, or the embedder is out of
        reach.
        """
        await self.wait_until_serving()
        await self._backlog.idle.wait()

    @property
    def indexing(self) -> Indexing | None:
        """How far knowledge bases are that answer by keywords alone meanwhile; None when there is none."""
        return self._backlog.state

    async def index(self, tenant: str) -> Index:
        """Returns the tenant's index; opens it, at SQL's revision, at its first use."""
        if tenant not in self._answering:
            await self.follow(tenant)
        return self._served[tenant]

    async def is_keywords_only(self, tenant: str) -> bool:
        """Whether documents need no embeddings to be found: nothing of this tenant has any yet."""
        index = await self.index(tenant)
        return tenant in self._keywords or not len(index.get_snapshot())

    async def wait_for_revision(self, tenant: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - not an error
        """Has the indexer look at once; True when the tenant's index answers from `revision` within `timeout` s."""
        self.wake()
        try:
            async with asyncio.timeout(timeout), self._moved:
                await self._moved.wait_for(lambda: self._answering.get(tenant, -1) >= revision)
        except TimeoutError:
            return False
        return True

    async def follow(self, tenant: str) -> None:
        """Brings one index to SQL's revision. Raises what the embedder or the index raises; both stay consistent."""
        async with self._locks.setdefault(tenant, asyncio.Lock()):
            try:
                held = await self._follow_with_vectors(tenant)
                self._keywords.pop(tenant, None)  # not closed: searches may still be at it
            except (EmbeddingUnavailable, IndexUnavailable) as error:
                if tenant in self._embedded and len(self._embedded[tenant].index.get_snapshot()):
                    raise
                held = await self._follow_without_vectors(tenant, error)
            served = self._served.setdefault(tenant, SearchedIndex(held.index))
            changed = served.index is not held.index
            served.index = held.index
            revision = held.index.get_snapshot().revision
            if changed or self._answering.get(tenant) != revision:
                await self._feed.set_indexed(tenant, revision)
                await self._publish_revision(tenant, revision)

    async def replace(
        self,
        tenant: str,
        held: FollowedIndex,
        served: SearchedIndex,
        commit: Callable[[], Awaitable[None]],
        put: Callable[[], None],
    ) -> Index | None:
        """Puts another index in the place of the tenant's, which it gives back: who searches the old one still may.

        commit: what has to be true before; put: what has to happen at the same moment. What the first raises leaves
        everything as it was.
        """
        async with self._locks.setdefault(tenant, asyncio.Lock()):
            await commit()
            old = self._embedded.get(tenant)
            self._embedded[tenant], self._served[tenant] = held, served
            self._keywords.pop(tenant, None)
            self._backlog.stop(tenant)
            self._distrusted.pop(tenant, None)
            self.failures.pop(tenant, None)
            put()
            self._answering.pop(tenant, None)  # `follow` says how far the new one is
        self.wake()
        return old.index if old else None

    def mark_distrusted(self, tenant: str, chunk_ids: frozenset[str]) -> None:
        """Marks chunks that the next revision takes from SQL anew, and the vocabulary with them."""
        self._distrusted[tenant] = self._distrusted.get(tenant, frozenset()) | chunk_ids

    async def close(self) -> None:
        """Stops following and closes the indexes."""
        await super().close()
        await self._backlog.close()
        for held in (*self._embedded.values(), *self._keywords.values()):
            await held.index.close()

    async def _get_index(self, tenant: str) -> FollowedIndex:
        if tenant not in self._embedded:
            self._embedded[tenant] = FollowedIndex(await self._open_index(tenant))
        return self._embedded[tenant]

    async def _follow_with_vectors(self, tenant: str) -> FollowedIndex:
        held = await self._get_index(tenant)
        embedded = self._backlog.has_embedded(tenant)
        if not embedded and self._backlog.is_embedding(tenant):
            raise NotEmbedded("the knowledge base is being embedded")
        embedder, served = await self._embedder_of(tenant), len(held.index.get_snapshot()) > 0

        async def load_kept(texts: Sequence[str]) -> Matrix:
            """Vectors that are in the cache: keywords need not wait for one that is not."""
            vectors = await embedder.get_cached_passages(texts)
            if vectors is None:
                raise NotEmbedded("the knowledge base has to be embedded")
            return vectors

        return await self._follow_index(tenant, held, embedder.embed_passages if served or embedded else load_kept)

    async def _follow_without_vectors(self, tenant: str, error: Unavailable) -> FollowedIndex:
        if tenant not in self._keywords:
            self._keywords[tenant] = FollowedIndex(MemoryIndex())
            if not isinstance(error, NotEmbedded):
                logger.bind(tenant=tenant).warning("keyword recall alone until vectors are back: {}", error)
        self.failures[tenant] = error
        held = await self._follow_index(tenant, self._keywords[tenant], _make_no_vectors)
        if isinstance(error, NotEmbedded) and not self._backlog.is_embedding(tenant):
            snapshot = held.index.get_snapshot()
            texts = [chunk.indexed_text for chunk in snapshot.walk()]
            self._backlog.start(tenant, texts, await self._embedder_of(tenant))
        return held

    async def _handle_embedding_end(self, tenant: str, failure: Exception | None) -> None:
        if failure is None:
            await self._try_follow(tenant)
        else:
            self.failures[tenant] = failure
            logger.bind(tenant=tenant).warning("keywords alone answer, embedding is tried again: {}", failure)

    async def _follow_index(
        self, tenant: str, held: FollowedIndex, embed: Callable[[Sequence[str]], Awaitable[Matrix]]
    ) -> FollowedIndex:
        if await self._catch_up.bring_to_head(tenant, held, embed, self._distrusted.get(tenant, frozenset())):
            self._distrusted.pop(tenant, None)
        return held

    async def _publish_revision(self, tenant: str, revision: int) -> None:
        async with self._moved:
            self._answering[tenant] = revision
            self._moved.notify_all()
        if self._on_revision is not None:
            self._on_revision(tenant, revision)

    async def run_round(self) -> int:
        """Follows every tenant that lags; where that fails the next round comes later."""
        self.poll_seconds = min(2 * self.poll_seconds, MAX_BACKOFF_SECONDS)
        heads = await self._feed.load_heads()
        lagging = [
            tenant
            for tenant, head in heads.items()
            if self._answering.get(tenant) != head.revision
            or (tenant in self._keywords and not self._backlog.is_embedding(tenant))
        ]
        if all(await asyncio.gather(*(self._try_follow(tenant) for tenant in lagging))):
            self.poll_seconds = POLL_SECONDS
        self._looked.set()
        return 0

    async def _try_follow(self, tenant: str) -> bool:
        try:
            await self.follow(tenant)
        except Exception as error:  # one tenant's trouble must not stop the others; it is kept, logged and retried
            self.failures[tenant] = error
            logger.bind(tenant=tenant).exception("Index lags behind the database")
            return False
        if tenant in self._keywords:
            return self._backlog.is_embedding(tenant)
        self.failures.pop(tenant, None)
        return True


async def _make_no_vectors(texts: Sequence[str]) -> Matrix:
    return np.zeros((len(texts), 0), np.float32)
