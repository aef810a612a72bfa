"""Building indexes anew from the database, after a change of the embedder or when the files of an index are damaged."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.errors import NotFound
from app.settings import Settings
from app.wiring.knowledge import KnowledgeBase, index_path, open_knowledge
from knowledge.stores.registry import drop_index

Progress = Callable[[int, int], object]
"""Called with the chunks embedded since the last call and the number of all."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """A tenant's new index."""

    tenant: str
    chunks: int
    revision: int


async def reindex(settings: Settings, tenant: str | None, progress: Progress) -> list[Reindexed]:
    """One tenant's index, or all. The caller holds the lock on DATA_DIR; the database is only read.

    Everything is embedded, into the cache, before anything is dropped: a run that fails or is killed leaves the old
    index, and the next one goes on from where it was. Raises NotFound, EmbeddingUnavailable, InvalidConfiguration, and
    IndexMismatch when one tenant's index is built anew while another's is still of an earlier embedder.
    """
    async with open_knowledge(settings, owns_index=False) as base:
        tenants = sorted(await base.feed.heads())
        if tenant is not None and tenant not in tenants:
            raise NotFound(f"租户 {tenant} 没有知识库")
        await _embed(base, [tenant] if tenant is not None else tenants, progress)
    await asyncio.to_thread(_drop, settings, tenant)
    async with open_knowledge(settings, owns_index=True) as base:
        snapshots = {name: (await base.index(name)).snapshot() for name in tenants if tenant in (None, name)}
    return [Reindexed(name, len(snapshot), snapshot.revision) for name, snapshot in snapshots.items()]


async def _embed(base: KnowledgeBase, tenants: Sequence[str], progress: Progress) -> None:
    deltas = [await base.feed.delta(tenant, frozenset(), 0) for tenant in tenants]
    total = sum(len(delta.added) for delta in deltas)
    for delta in deltas:
        texts = [chunk.indexed_text for chunk, _ in delta.added]
        await base.embedder.passages(texts, lambda done: progress(done, total))


def _drop(settings: Settings, tenant: str | None) -> None:
    path = index_path(settings)
    if tenant is not None:
        drop_index(settings.vector_store, path, tenant)
    elif path.exists():  # all of it: what is damaged may be the database that the tenants share
        shutil.rmtree(path)
