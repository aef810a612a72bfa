"""Keeps every tenant's index at SQL's revision: repairs it at start, follows each commit, whoever made it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from loguru import logger

from app.documents.types import IndexDelta
from app.indexing.backlog import EmbeddingBacklog, Indexing
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable, NotEmbedded
from knowledge.index import Index, Snapshot
from knowledge.ingest import Ingestor
from knowledge.stores.memory import MemoryIndex
from knowledge.types import IndexChange, IndexedChunk, Matrix

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed
    from app.documents.repository_knowledge import KnowledgeRepository


POLL_SECONDS = 0.5
"""How often SQL is asked for commits of other processes: one row per tenant, about 0.3 ms."""
MAX_BACKOFF_SECONDS = 30.0
Embed = Callable[[Sequence[str]], Awaitable[Matrix]]


@dataclass(slots=True)
class _Held:
    """An index, and how many terms of the vocabulary it was told."""

    index: Index
    terms: int = 0


class _Served:
    """What searches see of a tenant; the index behind it changes once keywords alone are no longer all there is."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def snapshot(self) -> Snapshot:
        return self.index.snapshot()

    async def apply(self, change: IndexChange) -> None:
        await self.index.apply(change)

    async def close(self) -> None:
        await self.index.close()


class Indexer:
    """The one writer of all indexes of this process; whoever runs it holds the lock on DATA_DIR.

    Where vectors are missing, because the cache was lost or another process committed, or because the embedder is out
    of reach, an index without vectors serves keyword recall, which searches mark, until they are all there. An index
    that has vectors stays as it is meanwhile.

    The server answers before any of that is done.

    open_index: opens a tenant's index, blocking. on_revision: called on the event loop with tenant and revision each
    time an index moved.
    """

    def __init__(
        self,
        feed: IndexFeed,
        knowledge: KnowledgeRepository,
        ingestor: Ingestor,
        embedder: Embedder,
        open_index: Callable[[str], Index],
        on_revision: Callable[[str, int], None] | None = None,
    ) -> None:
        self._feed = feed
        self._knowledge = knowledge
        self._ingestor = ingestor
        self._embedder = embedder
        self._open_index = open_index
        self._on_revision = on_revision
        self._served: dict[str, _Served] = {}
        self._embedded: dict[str, _Held] = {}
        self._keywords: dict[str, _Held] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._answering: dict[str, int] = {}
        self._moved = asyncio.Condition()
        self._wake = asyncio.Event()
        self._outdated: set[str] = set()
        self._looked = asyncio.Event()
        self._backlog = EmbeddingBacklog(embedder, self._embedding_ended)
        self._task: asyncio.Task[None] | None = None
        self.failures: dict[str, Exception] = {}
        """Why a tenant's index lags behind, while it does."""

    async def start(self) -> None:
        """Opens what is there and follows it behind: see `serving` and `settled`. Raises IndexMismatch."""
        self._outdated = set(await self._knowledge.outdated_tenants())
        for tenant in await self._feed.heads():
            with suppress(EmbeddingUnavailable):  # then keywords serve
                await self._opened(tenant)
        self._wake.set()
        self._task = asyncio.create_task(self._run(), name="indexer")

    async def serving(self) -> None:
        """Returns once every knowledge base answers, be it by keywords alone, or was tried to be brought there."""
        await self._looked.wait()

    async def settled(self) -> None:
        """As `serving`, and nothing is being embedded: all have their vectors, or the embedder is out of reach."""
        await self.serving()
        await self._backlog.idle.wait()

    @property
    def indexing(self) -> Indexing | None:
        """How far knowledge bases are that answer by keywords alone meanwhile; None when there is none."""
        return self._backlog.state

    async def index(self, tenant: str) -> Index:
        """The tenant's index, opened and brought to SQL's revision at its first use."""
        if tenant not in self._answering:
            await self.follow(tenant)
        return self._served[tenant]

    async def by_keywords(self, tenant: str) -> bool:
        """Whether documents need no embeddings to be found: nothing of this tenant has any yet."""
        index = await self.index(tenant)
        return tenant in self._keywords or not len(index.snapshot())

    async def reached(self, tenant: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - not an error
        """Has the indexer look at once; True when the tenant's index answers from `revision` within `timeout` s."""
        self._wake.set()
        try:
            async with asyncio.timeout(timeout), self._moved:
                await self._moved.wait_for(lambda: self._answering.get(tenant, -1) >= revision)
        except TimeoutError:
            return False
        return True

    async def follow(self, tenant: str) -> None:
        """Brings one index to SQL's revision. Raises what the embedder or the index raises; both stay consistent."""
        async with self._locks.setdefault(tenant, asyncio.Lock()):
            if tenant in self._outdated:
                await self._knowledge.retokenise(tenant, self._ingestor.tokenise)
                self._outdated.discard(tenant)
            try:
                held = await self._with_vectors(tenant)
                self._keywords.pop(tenant, None)  # not closed: searches may still be at it
            except EmbeddingUnavailable as error:
                if tenant in self._embedded and len(self._embedded[tenant].index.snapshot()):
                    raise
                held = await self._without_vectors(tenant, error)
            served = self._served.setdefault(tenant, _Served(held.index))
            changed = served.index is not held.index
            served.index = held.index
            revision = held.index.snapshot().revision
            if changed or self._answering.get(tenant) != revision:
                await self._feed.set_indexed(tenant, revision)
                await self._announce(tenant, revision)

    async def close(self) -> None:
        """Stops following and closes the indexes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._backlog.close()
        for held in (*self._embedded.values(), *self._keywords.values()):
            await held.index.close()

    async def _opened(self, tenant: str) -> _Held:
        if tenant not in self._embedded:
            self._embedded[tenant] = _Held(await asyncio.to_thread(self._open_index, tenant))
        return self._embedded[tenant]

    async def _with_vectors(self, tenant: str) -> _Held:
        held = await self._opened(tenant)
        embedded = self._backlog.has_embedded(tenant)
        if not embedded and self._backlog.works_on(tenant):
            raise NotEmbedded("the knowledge base is being embedded")
        served = len(held.index.snapshot()) > 0
        return await self._caught_up(tenant, held, self._embedder.passages if served or embedded else self._kept)

    async def _without_vectors(self, tenant: str, error: EmbeddingUnavailable) -> _Held:
        if tenant not in self._keywords:
            self._keywords[tenant] = _Held(MemoryIndex())
            if not isinstance(error, NotEmbedded):
                logger.bind(tenant=tenant).warning("keyword recall alone until the embedder is back: {}", error)
        self.failures[tenant] = error
        held = await self._caught_up(tenant, self._keywords[tenant], _no_vectors)
        if isinstance(error, NotEmbedded) and not self._backlog.works_on(tenant):
            snapshot = held.index.snapshot()
            self._backlog.start(tenant, [snapshot.chunk(chunk_id).indexed_text for chunk_id in snapshot.ids()])
        return held

    async def _embedding_ended(self, tenant: str, failure: Exception | None) -> None:
        if failure is None:
            await self._try_follow(tenant)
        else:
            self.failures[tenant] = failure
            logger.bind(tenant=tenant).warning("keywords alone answer, embedding is tried again: {}", failure)

    async def _kept(self, texts: Sequence[str]) -> Matrix:
        """Vectors that are in the cache. Raises NotEmbedded when one is not: keywords need not wait for it."""
        vectors = await self._embedder.kept(texts)
        if vectors is None:
            raise NotEmbedded("the knowledge base has to be embedded")
        return vectors

    async def _caught_up(self, tenant: str, held: _Held, embed: Embed) -> _Held:
        snapshot = held.index.snapshot()
        delta = await self._feed.delta(tenant, snapshot.ids(), held.terms)
        if delta.revision != snapshot.revision:
            vectors = await embed([chunk.indexed_text for chunk, _ in delta.added])
            await held.index.apply(_change(delta, vectors, held.terms))
            held.terms += len(delta.new_terms)
        return held

    async def _announce(self, tenant: str, revision: int) -> None:
        async with self._moved:
            self._answering[tenant] = revision
            self._moved.notify_all()
        if self._on_revision is not None:
            self._on_revision(tenant, revision)

    async def _run(self) -> None:
        delay = POLL_SECONDS
        while True:
            with suppress(TimeoutError):
                # Not wait_for: before Python 3.12 it loses a cancellation that comes together with the event.
                async with asyncio.timeout(delay):
                    await self._wake.wait()
            self._wake.clear()
            healthy = await self._round()
            delay = POLL_SECONDS if healthy else min(delay * 2, MAX_BACKOFF_SECONDS)

    async def _round(self) -> bool:
        """Follows every tenant that lags; False when something failed and should be tried again later."""
        try:
            heads = await self._feed.heads()
        except Exception:  # the database may be away for a while; the task that follows it must outlive that
            logger.exception("Indexer cannot read the revisions")
            return False
        lagging = [
            tenant
            for tenant, head in heads.items()
            if self._answering.get(tenant) != head.revision
            or tenant in self._outdated
            or (tenant in self._keywords and not self._backlog.works_on(tenant))
        ]
        healthy = all(await asyncio.gather(*(self._try_follow(tenant) for tenant in lagging)))
        self._looked.set()
        return healthy

    async def _try_follow(self, tenant: str) -> bool:
        try:
            await self.follow(tenant)
        except Exception as error:  # one tenant's trouble must not stop the others; it is kept, logged and retried
            self.failures[tenant] = error
            logger.bind(tenant=tenant).exception("Index lags behind the database")
            return False
        if tenant in self._keywords:
            return self._backlog.works_on(tenant)
        self.failures.pop(tenant, None)
        return True


async def _no_vectors(texts: Sequence[str]) -> Matrix:
    return np.zeros((len(texts), 0), np.float32)


def _change(delta: IndexDelta, vectors: Matrix, terms: int) -> IndexChange:
    added = tuple(IndexedChunk(chunk, vector, ids) for (chunk, ids), vector in zip(delta.added, vectors, strict=True))
    return IndexChange(delta.revision, added, delta.removed, terms, delta.new_terms)
