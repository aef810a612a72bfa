"""Moving knowledge bases to another vector store: what the other one holds is compared with what it was to hold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.documents.types import IndexDelta
from app.indexing.catch_up import build_index_change
from app.settings import Settings
from app.wiring.knowledge import KnowledgeBase, index_path, open_knowledge
from app.wiring.reindexing import list_tenants
from knowledge.embeddings.base import Embedder
from knowledge.errors import IndexUnavailable
from knowledge.index import Index, Snapshot
from knowledge.stores.base import IndexOptions
from knowledge.stores.registry import drop_others, get_index
from knowledge.types import Matrix, Vector

# Chunks whose own words are searched in both stores.
SAMPLES = 20
TOP = 10
# Graphs are approximate.
LOWEST_RECALL = 0.95
# Of scores, which are single precision here and double there.
TOLERANCE = 1e-3
# Cosine of an embedding with itself as a store gives it back: beside a graph they are kept in half precision.
CLOSE = 0.999
PART = 1000


@dataclass(frozen=True, slots=True)
class StorePlace:
    """A store and the address of its server, "" for none."""

    store: str
    server: str = ""


@dataclass(frozen=True, slots=True)
class MigratedBase:
    """A tenant's base in the other store. dense: share of the nearest neighbours that the other store finds as well."""

    tenant: str
    chunks: int
    revision: int
    dense: float


async def migrate_stores(settings: Settings, target: StorePlace, tenant: str | None) -> list[MigratedBase]:
    """Fills the target from the database and the kept embeddings, as a server does at its start, and compares it with
    the store that is configured. The caller holds the lock on DATA_DIR.

    A run that is killed leaves what it wrote, and the next one writes the rest. Raises NotFound, IndexUnavailable where
    the stores differ, and what stores and embedders raise.
    """
    async with open_knowledge(settings, owns_index=False) as base:
        return [await _migrate_base(settings, base, target, name) for name in await list_tenants(base.feed, tenant)]


async def drop_bases(settings: Settings, tenants: Sequence[str]) -> None:
    """Removes what the configured store keeps of them. Raises IndexUnavailable."""
    for tenant in tenants:
        gone = partial(drop_others, settings.vector_store, index_path(settings), settings.vector_server, tenant, ())
        await asyncio.to_thread(gone)


async def _migrate_base(settings: Settings, base: KnowledgeBase, target: StorePlace, tenant: str) -> MigratedBase:
    generation = await base.generations.get_current(tenant)
    delta = await base.feed.load_all(tenant)
    vectors = await generation.embedder.embed_passages([chunk.indexed_text for chunk, _ in delta.added])
    change = build_index_change(delta, vectors)
    configured = StorePlace(settings.vector_store, settings.vector_server)
    source = await _open_store(settings, configured, generation.embedder, tenant, generation.number)
    try:
        await source.apply(change)
        filled = await _open_store(settings, target, generation.embedder, tenant, generation.number)
        try:
            await filled.apply(change)
            dense = await _compare_stores(source.get_snapshot(), filled.get_snapshot(), delta, vectors)
        finally:
            await filled.close()
    finally:
        await source.close()
    return MigratedBase(tenant, len(delta.added), delta.revision, dense)


async def _open_store(settings: Settings, place: StorePlace, embedder: Embedder, tenant: str, generation: int) -> Index:
    options = IndexOptions(settings.exact_search_max_chunks, generation=generation, server=place.server)
    return await asyncio.to_thread(get_index, place.store, index_path(settings), tenant, embedder, options)


async def _compare_stores(left: Snapshot, right: Snapshot, delta: IndexDelta, vectors: Matrix) -> float:
    """Compares ids, every embedding and the results of sample questions. Returns the share of neighbours that the
    target finds.
    """
    ids = [chunk.id for chunk, _ in delta.added]
    theirs, ours = await asyncio.to_thread(left.list_ids), await asyncio.to_thread(right.list_ids)
    if not frozenset(ids) == ours == theirs or right.revision != delta.revision:
        raise IndexUnavailable(f"the target holds {len(right)} chunks of revision {right.revision}, not {len(ids)}")
    for start in range(0, len(ids), PART):
        part = slice(start, start + PART)
        stored = await asyncio.to_thread(right.get_vectors, ids[part])
        if (np.einsum("ij,ij->i", stored, vectors[part]) < CLOSE).any():
            raise IndexUnavailable("the target holds other embeddings than the database has texts for")
    found = [
        await _compare_sample(left, right, vectors[row], [delta.new_terms[term] for term in delta.added[row][1][:TOP]])
        for row in np.linspace(0, len(ids) - 1, min(SAMPLES, len(ids)), dtype=int).tolist()
    ]
    dense = float(np.mean(found)) if found else 1.0
    if dense < LOWEST_RECALL:
        raise IndexUnavailable(f"the target finds {dense:.0%} of the nearest neighbours")
    return dense


async def _compare_sample(source: Snapshot, target: Snapshot, vector: Vector, words: Sequence[str]) -> float:
    """Returns the share of the source's neighbours that the target finds; by their scores, as many may be
    equally near.
    """
    theirs, ours = [[hit.score for hit in await view.search_lexical(words, TOP)] for view in (source, target)]
    if len(theirs) != len(ours) or not np.allclose(theirs, ours, atol=TOLERANCE):
        raise IndexUnavailable(f"the stores rank the words {words} differently: {theirs}, {ours}")
    theirs, ours = [[hit.score for hit in await view.search_dense(vector, TOP)] for view in (source, target)]
    return sum(score > theirs[-1] - TOLERANCE for score in ours) / len(theirs)
