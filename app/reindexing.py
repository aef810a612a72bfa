"""Indexes a knowledge base anew while it answers, beside the index that does; then it takes the place of that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from loguru import logger
from pydantic import BaseModel, ConfigDict, Field

from app.errors import Conflict
from app.generations.service import Generations
from app.generations.shadow_builder import Progress, Shadow, ShadowBuilder, Steps
from app.generations.types import StoredGeneration
from app.jobs.types import JobContext, JobKind
from app.tasks import stop_tasks
from knowledge.embeddings.registry import resolve_embedder
from knowledge.errors import RerankUnavailable
from knowledge.index import Index
from knowledge.memory import release_memory

if TYPE_CHECKING:
    from app.generations.engine import Generation
    from app.indexing.indexer import Indexer
    from app.search.service import CalibratedSearch, Searches
    from app.tenants import Tenants

# Chunks whose sentences are embedded between two looks at whether the run was cancelled.
SENTENCES = 16
KIND = "reindex"


class ReindexOptions(BaseModel):
    """What a run is to do."""

    model_config = ConfigDict(extra="forbid")

    embedder: Literal["", "auto", "e5", "use", "bge", "openai", "tei", "hash"] = Field(
        "", description="改用的向量模型；不给则用现在的，只重建索引"
    )


class Reindexer:
    """Of one process. Whoever runs the job says in SQL that the new index answers; other replicas see that and build
    their own in the same way, while their old ones answer.
    """

    def __init__(
        self,
        builder: ShadowBuilder,
        generations: Generations,
        indexer: Indexer,
        searches: Searches,
        tenants: Tenants,
    ) -> None:
        self._builder = builder
        self._generations = generations
        self._indexer = indexer
        self._searches = searches
        self._tenants = tenants
        self._locks: dict[str, asyncio.Lock] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self, context: JobContext) -> dict[str, Any]:
        """The job. The old index answers until the new one is whole, and after whatever fails. Raises Conflict where
        another process was faster, and what the embedder and the index raise.
        """
        tenant, wanted = context.tenant, context.parameters["embedder"]
        await self._tenants.get_parts(tenant)  # opened: nobody else puts its parts in their place meanwhile
        async with self._lock(tenant):
            current, newest = await self._generations.get_current(tenant), await self._generations.load_newest(tenant)
            stored = StoredGeneration(newest.number + 1, resolve_embedder(wanted) if wanted else newest.embedder)

            async def record() -> None:
                if not await self._generations.stored.put(tenant, stored):
                    raise Conflict("这个知识库已在别处换了索引，请再运行一次。", code="index_changed")

            return await self._rebuild_base(current, stored, context.report_progress, record)

    async def follow_others(self) -> None:
        """Follows what other replicas changed."""
        for tenant, stored in (await self._generations.find_outdated()).items():
            try:
                await self._follow(tenant, stored)
            except Exception:  # one tenant's trouble must not keep the others from following; it is tried again
                logger.bind(tenant=tenant).exception("the index that another process made is not followed")

    async def close(self) -> None:
        """Does not wait for turns any more."""
        await stop_tasks(*self._leaving)

    async def _follow(self, tenant: str, stored: StoredGeneration) -> None:
        lock = self._lock(tenant)
        if lock.locked():  # at it already, or about to say so
            return
        async with lock:
            await self._tenants.get_parts(tenant)
            logger.bind(tenant=tenant).info("another process indexed the knowledge base anew, with {}", stored)
            await self._rebuild_base(
                await self._generations.get_current(tenant), stored, _report_nothing, _record_nothing
            )

    def _lock(self, tenant: str) -> asyncio.Lock:
        return self._locks.setdefault(tenant, asyncio.Lock())

    async def _rebuild_base(
        self, old: Generation, stored: StoredGeneration, progress: Progress, record: Callable[[], Any]
    ) -> dict[str, Any]:
        steps = Steps(progress)
        shadow = await self._builder.build(old.tenant, stored, steps)
        before = (await self._tenants.get_parts(old.tenant)).retriever
        search = self._searches.create_search(shadow.searched, shadow.generation, before.settings)
        try:
            await self._learn(shadow, search, steps)
            chunks = await self._builder.verify(shadow, steps)
            await self._swap(old, shadow, search, steps, record)
        except BaseException:
            if await self._generations.get_current(old.tenant) is not shadow.generation:
                await search.calibrator.close()
                await self._builder.discard(shadow)
            raise
        revision = shadow.followed.index.get_snapshot().revision
        told = {"embedder": stored.embedder, "generation": stored.number, "chunks": chunks, "revision": revision}
        logger.bind(tenant=old.tenant).info("the knowledge base answers from a new index: {}", told)
        return told

    async def _learn(self, shadow: Shadow, search: CalibratedSearch, steps: Steps) -> None:
        """All that the first turn needs: routing and screening, the gate, the sentences of what is quoted."""
        learning, tenant = shadow.generation.learning, shadow.generation.tenant
        await learning.fit()
        await learning.heads.wait_until_settled(tenant, (await self._tenants.get_parts(tenant)).profile.intent_examples)
        chunks = await asyncio.to_thread(shadow.list_chunks)
        await steps.expect(len(chunks))
        for start in range(0, len(chunks), SENTENCES):
            part = chunks[start : start + SENTENCES]
            await learning.meaning.learn(part)
            await steps.add_steps(len(part))
        try:
            await search.calibrator.refresh()
        except RerankUnavailable as error:  # its fallback is calibrated, and serves the old index too
            logger.bind(tenant=tenant).warning("the reranker is calibrated on the new index later: {}", error)

    async def _swap(
        self, old: Generation, shadow: Shadow, search: CalibratedSearch, steps: Steps, record: Callable[[], Any]
    ) -> None:
        tenant, new = old.tenant, shadow.generation
        before, parts = (
            (await self._tenants.get_parts(tenant)).retriever,
            await self._tenants.build_parts(tenant, search),
        )

        async def commit() -> None:
            await self._builder.catch_up(shadow, steps)
            await record()

        def put() -> None:
            self._generations.put(new)
            self._searches.put(search)
            self._tenants.put(tenant, parts)
            new.learning.sentences.watch(tenant, shadow.searched)
            old.learning.sentences.leave(tenant, before.index)

        replaced = await self._indexer.replace(tenant, shadow.followed, shadow.searched, commit, put)
        leaving = asyncio.create_task(self._remove_old(old, replaced), name=f"an old index of {tenant}")
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def _remove_old(self, old: Generation, index: Index | None) -> None:
        """What answered until now goes after its last turn."""
        try:
            await self._searches.leave()
            await self._builder.forget(old, index)
            await asyncio.to_thread(release_memory)
        except Exception:  # nobody awaits this task; the next run removes what is left
            logger.bind(tenant=old.tenant).exception("an old index could not be removed")


def build_reindex_kind(reindexing: Reindexer) -> JobKind:
    """On demand."""
    return JobKind(KIND, "重建索引", reindexing.run, None, ReindexOptions)


async def _report_nothing(done: int, total: int) -> None:
    pass


async def _record_nothing() -> None:
    pass
