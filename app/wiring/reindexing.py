"""Indexing knowledge bases anew: beside the index that answers, or while no server runs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from app.db.engine import Database
from app.documents.repository_feed import IndexFeed
from app.errors import NotFound, Overloaded
from app.generations.engine import Generation
from app.generations.shadow_builder import ShadowBuilder, Steps
from app.generations.types import StoredGeneration
from app.jobs.repository import RunRepository
from app.jobs.types import OPEN, JobRun, RunState
from app.reindexing import KIND, Reindexer
from app.search.service import Searches
from app.settings import Settings
from app.wiring.knowledge import KnowledgeBase, index_path, open_index, open_knowledge
from knowledge.embeddings.registry import resolve_embedder
from knowledge.errors import IndexUnavailable
from knowledge.index import Index
from knowledge.stores.registry import drop_others

if TYPE_CHECKING:
    from app.tenants import Tenants

# How long a run waits for a server that begins it.
START_SECONDS = 60.0
POLL_SECONDS = 0.5
# Called with the chunks embedded so far and the number of all.
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class ReindexedBase:
    """A tenant's new index."""

    tenant: str
    chunks: int
    revision: int


def build_shadow_builder(settings: Settings, base: KnowledgeBase) -> ShadowBuilder:
    """Builds what builds indexes, opened as `open_knowledge` opens them."""

    async def open_generation(generation: Generation) -> Index:
        return await open_index(settings, generation, base.recalls)

    drop = partial(drop_others, settings.vector_store, index_path(settings), settings.vector_server)
    return ShadowBuilder(base.generations, base.feed, base.catch_up, open_generation, drop)


def build_reindexing(settings: Settings, base: KnowledgeBase, searches: Searches, tenants: Tenants) -> Reindexer:
    """Builds what moves a tenant's index to another embedder while the server answers.

    Args:
        settings: Say where the index is stored.
        base: Must have an indexer, as only a process that keeps the index reindexes.
        searches: Opens a search over the new index.
        tenants: Answers from the new index once it is complete.
    """
    assert base.indexer is not None, "a server keeps the index"
    builder = build_shadow_builder(settings, base)
    return Reindexer(builder, base.generations, base.indexer, searches, tenants)


async def reindex_bases(
    settings: Settings, tenant: str | None, embedder: str, progress: Progress
) -> list[ReindexedBase]:
    """One tenant's index, or all, while no server runs. The caller holds the lock on DATA_DIR.

    Everything is embedded, into the cache, before anything is dropped: a run that fails or is killed leaves the old
    index, and the next one goes on from where it was. Raises NotFound, EmbeddingUnavailable, InvalidConfiguration,
    IndexUnavailable.
    """
    async with open_knowledge(settings, owns_index=False) as base:
        tenants = await list_tenants(base.feed, tenant)
        await _embed(base, tenants, embedder, progress)
        if tenant is None:  # all of it: what is damaged may be the database that the tenants share
            await asyncio.to_thread(shutil.rmtree, index_path(settings), ignore_errors=True)
        builder = build_shadow_builder(settings, base)
        return [await _build_index(base, builder, name, embedder) for name in tenants]


async def ask_server(settings: Settings, tenant: str | None, embedder: str, progress: Progress) -> list[ReindexedBase]:
    """The same of the server that holds the lock, which goes on answering. Raises NotFound, Overloaded where nobody
    begins within START_SECONDS, IndexUnavailable.
    """
    database, rebuilt = Database(settings.sql_url), []
    try:
        runs = RunRepository(database)
        for name in await list_tenants(IndexFeed(database), tenant):
            run = await runs.add(name, KIND, {"embedder": resolve_embedder(embedder)})
            rebuilt.append(await _follow_run(runs, name, run, progress))
    finally:
        await database.close()
    return rebuilt


async def list_tenants(feed: IndexFeed, tenant: str | None) -> list[str]:
    """Lists the tenants that have a knowledge base, or the one that is named. Raises NotFound where it has none."""
    tenants = sorted(await feed.load_heads())
    if tenant is not None and tenant not in tenants:
        raise NotFound(f"租户 {tenant} 没有知识库")
    return tenants if tenant is None else [tenant]


async def _embed(base: KnowledgeBase, tenants: Sequence[str], embedder: str, progress: Progress) -> None:
    if not tenants:
        return
    used = await base.generations.open_beside(tenants[0], StoredGeneration(-1, resolve_embedder(embedder)))
    deltas = [await base.feed.load_all(tenant) for tenant in tenants]
    done, total = 0, sum(len(delta.added) for delta in deltas)

    def report_step(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    for delta in deltas:
        await used.embedder.embed_passages([chunk.indexed_text for chunk, _ in delta.added], report_step)


async def _build_index(base: KnowledgeBase, builder: ShadowBuilder, tenant: str, embedder: str) -> ReindexedBase:
    current = await base.generations.get_current(tenant)
    stored, steps = StoredGeneration(current.number + 1, resolve_embedder(embedder)), Steps(_do_nothing)
    shadow = await builder.build(tenant, stored, steps)
    chunks, revision = await builder.verify(shadow, steps), shadow.followed.index.get_snapshot().revision
    await shadow.followed.index.close()
    if not await base.generations.stored.put(tenant, stored):
        raise IndexUnavailable(f"another process indexed the knowledge base of {tenant} anew meanwhile")
    base.generations.put(shadow.generation)
    await builder.forget(current, None)
    return ReindexedBase(tenant, chunks, revision)


async def _do_nothing(done: int, total: int) -> None:
    pass


async def _follow_run(runs: RunRepository, tenant: str, run: JobRun, progress: Progress) -> ReindexedBase:
    asked = monotonic()
    while run.state in OPEN:
        if run.state is RunState.QUEUED and monotonic() - asked > START_SECONDS:
            await runs.cancel_run(tenant, run.id)
            raise Overloaded("没有服务接手：DATA_DIR 正被另一个命令使用，或服务正忙。请稍后再试。", code="not_ready")
        progress(run.done, run.total)
        await asyncio.sleep(POLL_SECONDS)
        run = await runs.get(tenant, run.id) or run
    if run.result is None:
        raise IndexUnavailable((run.error or {}).get("message", f"the run was {run.state}"))
    progress(run.done, run.total)
    return ReindexedBase(tenant, run.result["chunks"], run.result["revision"])
