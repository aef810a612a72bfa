"""Compares what the index of this process holds with SQL, and has what is wrong taken anew."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from loguru import logger
from pydantic import BaseModel, ConfigDict, Field

from app.documents.types import IndexDelta
from app.jobs.types import Daily, JobContext, JobKind
from knowledge.embeddings.base import Embedder
from knowledge.errors import IndexUnavailable
from knowledge.index import Snapshot, has_vectors
from knowledge.ingest import EmbedderOf
from knowledge.types import Chunk, TermIds

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed
    from app.documents.repository_knowledge import KnowledgeRepository
    from app.indexing.indexer import Indexer

HOUR = 4
# Chunks looked at between two looks at whether the run was cancelled.
PART = 200
FOLLOW_SECONDS, ATTEMPTS = 60.0, 5
EXAMPLES = 20
# BM25 in float32 against float64, relative.
SCORE_TOLERANCE = 1e-3


class VerificationOptions(BaseModel):
    """What a run is to do."""

    model_config = ConfigDict(extra="forbid")

    repair: bool = Field(True, description="有不一致时是否修复")


@dataclass(frozen=True, slots=True)
class Differences:
    """Ids of chunks. missing: in SQL alone; surplus: in the index alone; changed: another text or place; terms: other
    words; vectors: not finite, or of another width than the embedder's. frequencies: terms that occur in another
    number of chunks.
    """

    missing: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)
    frequencies: int = 0

    def __bool__(self) -> bool:
        return bool(self.frequencies or any(self.list_by_name().values()))

    def count_each(self) -> dict[str, int]:
        """Counts the differences of each kind: name -> number."""
        return {name: len(ids) for name, ids in self.list_by_name().items()} | {"frequencies": self.frequencies}

    def list_by_name(self) -> dict[str, list[str]]:
        """Returns the differences of each kind: name -> ids."""
        return {name: getattr(self, name) for name in ("missing", "surplus", "changed", "terms", "vectors")}


@dataclass(frozen=True, slots=True)
class IndexAndDatabase:
    """Index and SQL at one revision. stored: by id, each with its words."""

    snapshot: Snapshot
    stored: Mapping[str, tuple[Chunk, Sequence[str]]]

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, everything: IndexDelta) -> Self:
        """Puts a snapshot of the index beside the database. everything: what an empty index would lack."""
        words = everything.new_terms
        return cls(snapshot, {chunk.id: (chunk, _list_words(ids, words)) for chunk, ids in everything.added})


class IndexVerification:
    """Of one process. A replica keeps an index of its own: the one that has the run verifies its own."""

    def __init__(
        self, indexer: Indexer, feed: IndexFeed, knowledge: KnowledgeRepository, embedder_of: EmbedderOf
    ) -> None:
        self._indexer = indexer
        self._feed = feed
        self._knowledge = knowledge
        self._embedder_of = embedder_of

    async def run(self, context: JobContext) -> dict[str, Any]:
        """Runs the job for one tenant's index.

        Raises IndexUnavailable if the index does not follow SQL, and whatever the embedder raises.
        """
        tenant = context.tenant
        both = await self._load_both(tenant)
        embedder = await self._embedder_of(tenant)
        differences = await compare_both(both, embedder, context.report_progress)
        repaired = bool(differences) and context.parameters["repair"]
        if differences:
            logger.bind(tenant=tenant).warning("the index differs from the database: {}", differences.count_each())
        if repaired:
            await self._repair(tenant, both, differences, embedder)
        return {
            "chunks": len(both.stored),
            "revision": both.snapshot.revision,
            "embedded": has_vectors(both.snapshot),
            "differences": differences.count_each(),
            "examples": {name: ids[:EXAMPLES] for name, ids in differences.list_by_name().items() if ids},
            "repaired": repaired,
        }

    async def _load_both(self, tenant: str) -> IndexAndDatabase:
        for _ in range(ATTEMPTS):
            snapshot = (await self._indexer.index(tenant)).get_snapshot()
            delta = await self._feed.load_all(tenant)
            if delta.revision == snapshot.revision:
                return IndexAndDatabase.from_snapshot(snapshot, delta)
            await self._indexer.wait_for_revision(tenant, delta.revision, FOLLOW_SECONDS)
        raise IndexUnavailable("the index does not follow the database, so there is nothing to compare")

    async def _repair(self, tenant: str, both: IndexAndDatabase, differences: Differences, embedder: Embedder) -> None:
        """Repairs the index by a new revision, so that no answer from the wrong one is given again, here or
        elsewhere.
        """
        bad = [both.stored[name][0].indexed_text for name in differences.vectors]
        await embedder.forget(bad)
        anew = {*differences.changed, *differences.terms, *differences.vectors}
        if differences.frequencies and not anew:
            anew |= both.stored.keys()
        self._indexer.mark_distrusted(tenant, frozenset(anew))
        revision = await self._knowledge.raise_alone(tenant)
        if not await self._indexer.wait_for_revision(tenant, revision, FOLLOW_SECONDS):
            raise self._indexer.failures.get(tenant) or IndexUnavailable("the repaired index is not there yet")


async def compare_both(
    both: IndexAndDatabase, embedder: Embedder, progress: Callable[[int, int], Awaitable[None]]
) -> Differences:
    """Finds what is wrong in an index that should be of this embedder. Raises what `progress` raises."""
    held = await asyncio.to_thread(both.snapshot.list_ids)
    width = (await embedder.embed_passages([])).shape[1]
    found = Differences(
        missing=sorted(both.stored.keys() - held),
        surplus=sorted(held - both.stored.keys()),
        frequencies=await asyncio.to_thread(_count_other_frequencies, both),
    )
    ids = sorted(both.stored.keys() & held)
    for start in range(0, len(ids), PART):
        await progress(start, len(ids))
        await asyncio.to_thread(_compare_chunks, both, ids[start : start + PART], width, found)
    await progress(len(ids), len(ids))
    return found


def build_verification_kind(verification: IndexVerification) -> JobKind:
    """Builds the job, which runs nightly and on demand."""
    return JobKind("index_verification", "索引校验与修复", verification.run, Daily(HOUR), VerificationOptions)


def _list_words(ids: TermIds, words: Sequence[str]) -> list[str]:
    return [words[number] for number in ids]


def _count_other_frequencies(both: IndexAndDatabase) -> int:
    stored = Counter(word for _, words in both.stored.values() for word in set(words))
    indexed = both.snapshot.get_frequencies()
    return sum(stored[word] != indexed.get(word, 0) for word in stored.keys() | indexed.keys())


def _compare_chunks(both: IndexAndDatabase, ids: Sequence[str], width: int, found: Differences) -> None:
    """Adds to `found` the chunks whose text, BM25 score or vector differs from the database."""
    snapshot = both.snapshot
    snapshot.score_bm25((), ids)  # so that a server gives the rows together
    for name in ids:
        chunk, words = both.stored[name]
        if snapshot.get_chunk(name) != chunk:
            found.changed.append(name)
        distinct = sorted(set(words))
        score, own = snapshot.score_bm25(distinct, [name])[0], snapshot.score_tokens(distinct, words)
        if abs(score - own) > SCORE_TOLERANCE * max(1.0, abs(own)):
            found.terms.append(name)
    if has_vectors(snapshot):
        vectors = snapshot.get_vectors(ids)
        right = np.isfinite(vectors).all(axis=1) & (vectors.shape[1] == width)
        found.vectors.extend(name for name, is_right in zip(ids, right.tolist(), strict=True) if not is_right)
