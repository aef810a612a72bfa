"""Embedding behind a server that answers already: knowledge bases whose vectors are not there, or not any more."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

from loguru import logger

from app.tasks import stop_tasks
from knowledge.embeddings.base import Embedder

LOG_SECONDS = 5.0
# Chunks between two looks into the cache, where another replica may have put what it embedded meanwhile.
PART = 64


@dataclass(frozen=True, slots=True)
class Indexing:
    """How far the embedding of knowledge bases is. done, total: chunks; eta_s: seconds left, None before the first."""

    done: int
    total: int
    eta_s: int | None


@dataclass(slots=True)
class _Work:
    """A tenant's share: of `total` chunks, `kept` had vectors when it began and `done` have been embedded since."""

    total: int = 0
    kept: int = 0
    done: int = 0


class EmbeddingBacklog:
    """One task a tenant, which puts the vectors of all its chunks into the cache and then says so.

    Replicas that share a cache and start together go through the chunks in different orders, so that each finds there
    what the others did. Customers' questions go first, see `Embedder`.
    """

    def __init__(self, ended: Callable[[str, Exception | None], Awaitable[None]]) -> None:
        """ended: called with the tenant, and with what kept it from being embedded; None: its vectors are there."""
        self._ended = ended
        # Nothing is being embedded.
        self.idle = asyncio.Event()
        self.idle.set()
        self._works: dict[str, _Work] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._embedded: set[str] = set()
        self._since = self._logged = 0.0

    def start(self, tenant: str, texts: Sequence[str], embedder: Embedder) -> None:
        """Starts to embed a tenant's texts. texts: of all its chunks."""
        if not self._works:
            self._since, self._logged = monotonic(), -LOG_SECONDS
        self._works[tenant] = _Work(len(texts))
        self.idle.clear()
        self._tasks[tenant] = asyncio.create_task(self._run(tenant, texts, embedder), name=f"backlog of {tenant}")

    def is_embedding(self, tenant: str) -> bool:
        """Whether the tenant's texts are being embedded, or its index is being told."""
        return tenant in self._works

    def has_embedded(self, tenant: str) -> bool:
        """Whether it went through the tenant's texts: what is still missing came later and is little."""
        return tenant in self._embedded

    def stop(self, tenant: str) -> None:
        """Stops to embed a tenant's texts, which need it no more."""
        if self._works.pop(tenant, None) is not None:
            self._tasks[tenant].cancel()
        if not self._works:
            self.idle.set()

    @property
    def state(self) -> Indexing | None:
        """Of all tenants together; None when there is nothing to do."""
        if not self._works:
            return None
        works = self._works.values()
        total, embedded = sum(work.total for work in works), sum(work.done for work in works)
        done = embedded + sum(work.kept for work in works)
        rate = embedded / max(monotonic() - self._since, 1e-3)
        return Indexing(done, total, round((total - done) / rate) if embedded else None)

    async def close(self) -> None:
        """Stops; what was embedded is in the cache."""
        await stop_tasks(*self._tasks.values())

    async def _run(self, tenant: str, texts: Sequence[str], embedder: Embedder) -> None:
        failure: Exception | None = None
        try:
            await self._embed(tenant, texts, embedder)
            self._embedded.add(tenant)
        except Exception as error:  # whatever it is, the tenant's index says so, and it is tried again
            failure = error
        try:
            await self._ended(tenant, failure)
        finally:
            self._works.pop(tenant, None)
            if not self._works:
                self.idle.set()

    async def _embed(self, tenant: str, texts: Sequence[str], embedder: Embedder) -> None:
        work = self._works[tenant]
        missing = await embedder.find_uncached(texts)
        work.kept = len(texts) - len(missing)
        logger.bind(tenant=tenant, count=len(missing)).info(
            "{} of {} chunks have to be embedded; until then keywords alone answer", len(missing), len(texts)
        )

        def add_step(count: int) -> None:
            work.done += count
            self._tell()

        for part in _shuffle_parts(missing):
            await embedder.embed_passages(part, add_step)

    def _tell(self) -> None:
        state = self.state
        if state is None or monotonic() - self._logged < LOG_SECONDS:
            return
        self._logged = monotonic()
        logger.bind(count=state.done).info(
            "embedding: {} of {} chunks, about {} s left", state.done, state.total, state.eta_s
        )


def _shuffle_parts(texts: Sequence[str]) -> Iterable[Sequence[str]]:
    parts = [texts[start : start + PART] for start in range(0, len(texts), PART)]
    random.shuffle(parts)
    return parts
