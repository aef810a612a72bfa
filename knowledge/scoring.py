"""The scoring pipeline: recall, fuse, rerank. Produces raw scores, before calibration makes probabilities of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from knowledge.english_scores import has_english, map_to_chinese_scale
from knowledge.errors import InvalidConfiguration
from knowledge.filters import EVERYTHING, Filter
from knowledge.fusion import RRF_K, fuse_rankings
from knowledge.gate import EvidenceGate
from knowledge.index import Snapshot
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Query, Reranker
from knowledge.tracing import start_span
from knowledge.types import Chunk, Hit

# Dense and lexical hits of one query.
Recalled = tuple[list[Hit], list[Hit]]


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """Numbers of candidates and weights of the pipeline."""

    vector_top_k: int = 25
    bm25_top_k: int = 25
    rrf_k: int = RRF_K
    vector_weight: float = 0.6
    keyword_weight: float = 0.4
    rerank_top_k: int = 5
    gate: EvidenceGate = field(default_factory=EvidenceGate)

    @property
    def scores(self) -> tuple[float, ...]:
        """The options that scores depend on, and with them every calibration."""
        widths = self.vector_top_k, self.bm25_top_k
        return *widths, self.rrf_k, self.vector_weight, self.keyword_weight

    def __post_init__(self) -> None:
        if min(self.vector_top_k, self.bm25_top_k, self.rerank_top_k, self.rrf_k) < 1:
            raise InvalidConfiguration("VECTOR_TOP_K、BM25_TOP_K、RERANK_TOP_K、RRF_K 至少为 1")
        if min(self.vector_weight, self.keyword_weight) < 0 or self.vector_weight + self.keyword_weight == 0:
            raise InvalidConfiguration("RRF_VECTOR_WEIGHT 与 RRF_KEYWORD_WEIGHT 不能为负，也不能同时为 0")


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A recalled chunk before calibration."""

    chunk: Chunk
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    # The best of them.
    score: float
    # Its score for each query.
    readings: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Scoring:
    """How one search scores: by `scorer`, over what the filter `where` lets through.

    calibration: maps the scores of English queries to the scale of Chinese ones; without it they stay as they are.
    """

    options: RetrievalOptions
    scorer: Reranker
    where: Filter = EVERYTHING
    calibration: CalibrationMap | None = None

    async def score_candidates(
        self, snapshot: Snapshot, queries: Sequence[Query], timings: dict[str, float] | None = None
    ) -> list[ScoredChunk]:
        """Recalls and scores all candidates, without the gate; calibration uses this as well.

        Args:
            snapshot: The base.
            queries: The forms of the question.
            timings: Gets the milliseconds of each step.

        Returns:
            All recalled chunks, best first.

        Raises:
            IndexUnavailable, RerankUnavailable: If a step fails.
        """
        timings = {} if timings is None else timings
        recalled = await self._recall_candidates(snapshot, queries, self.where, timings)
        started = perf_counter()
        with start_span("fuse"):
            fused, evidence = await self._fuse_recalled(snapshot, queries, recalled)
        timings["fuse"] = measure_milliseconds(started)
        started = perf_counter()
        with start_span("rerank", {"yingda.candidates": len(fused)}):
            found = [{chunk_id: own.get(chunk_id, 0.0) for chunk_id in fused} for own in evidence]
            order = readings = await self._score_readings(snapshot, queries, found)
            if self.scorer.compares_vectors and any(query.without_names is not None for query in queries):
                readings = await self._score_readings(snapshot, [query.nameless for query in queries], found)
        scored = _merge_scores(snapshot, queries[0], recalled, fused, order, readings)
        timings["rerank"] = measure_milliseconds(started)
        return scored

    async def _score_readings(
        self, snapshot: Snapshot, queries: Sequence[Query], found: Sequence[Mapping[str, float]]
    ) -> list[tuple[float, ...]]:
        """Returns the scores of every recalled chunk, one for each query, given the fusion scores of each query."""
        by_query = [await self.scorer.score(query, snapshot, own) for query, own in zip(queries, found, strict=True)]
        if self.calibration is not None and has_english(queries):
            chunks = [snapshot.get_chunk(chunk_id) for chunk_id in found[0]]
            by_query = map_to_chinese_scale(queries, by_query, chunks, self.calibration)
        return list(zip(*by_query, strict=True))

    async def _recall_candidates(
        self, snapshot: Snapshot, queries: Sequence[Query], where: Filter, timings: dict[str, float]
    ) -> list[Recalled]:
        async def search_dense(query: Query) -> list[Hit]:
            if query.vector is None:
                return []
            started = perf_counter()
            with start_span("vector"):
                hits = await snapshot.search_dense(query.vector, self.options.vector_top_k, where)
            timings["vector"] = measure_milliseconds(started)
            return hits

        async def search_lexical(query: Query) -> list[Hit]:
            started = perf_counter()
            with start_span("bm25"):
                hits = await snapshot.search_lexical(query.terms, self.options.bm25_top_k, where)
            timings["bm25"] = measure_milliseconds(started)
            return hits

        found = await asyncio.gather(*(recall(query) for query in queries for recall in (search_dense, search_lexical)))
        return list(zip(found[::2], found[1::2], strict=True))

    async def _fuse_recalled(
        self, snapshot: Snapshot, queries: Sequence[Query], recalled: Sequence[Recalled]
    ) -> tuple[dict[str, float], list[dict[str, float]]]:
        """Returns fusion scores over all queries, which choose the candidates, and those of each query, which are
        evidence.

        Rerankers get each query's own fusion over the whole base: neither the second chance of a rewrite nor the
        competitors that a filter hides may lift a chunk over the gate.
        """
        k = self.options.rrf_k
        rankings = [self._build_rankings(hits) for hits in recalled]
        fused = fuse_rankings([ranking for pair in rankings for ranking in pair], k)
        if self.where:
            rankings = [
                self._build_rankings(hits) for hits in await self._recall_candidates(snapshot, queries, EVERYTHING, {})
            ]
        elif len(queries) == 1:
            return fused, [fused]
        return fused, [fuse_rankings(ranking, k) for ranking in rankings]

    def _build_rankings(self, recalled: Recalled) -> list[tuple[float, list[str]]]:
        weights = self.options.vector_weight, self.options.keyword_weight
        return [(weight, [hit.chunk_id for hit in hits]) for weight, hits in zip(weights, recalled, strict=True)]


def measure_milliseconds(started: float) -> float:
    """Returns the milliseconds since `started`, a time of perf_counter."""
    return round((perf_counter() - started) * 1000, 3)


def _merge_scores(
    snapshot: Snapshot,
    query: Query,
    recalled: Sequence[Recalled],
    fused: dict[str, float],
    order: Sequence[tuple[float, ...]],
    readings: Sequence[tuple[float, ...]],
) -> list[ScoredChunk]:
    """Returns the candidates in the order of their best readings in `order`, with the scores of `readings`.

    Of chunks that are one FAQ entry asked in several ways only the best stays.
    """
    ids = list(fused)
    if not ids:
        return []
    dense, lexical = (_find_best_ranks(hits) for hits in zip(*recalled, strict=True))
    cosines = snapshot.compute_cosines(query.vector, ids).tolist() if query.vector is not None else [0.0] * len(ids)
    bm25 = snapshot.score_bm25(query.terms, ids)
    scores = [max(reading) for reading in readings]
    merged: dict[str, ScoredChunk] = {}
    for row in sorted(range(len(ids)), key=lambda row: -max(order[row])):
        chunk_id = ids[row]
        chunk = snapshot.get_chunk(chunk_id)
        if chunk.entry not in merged:
            merged[chunk.entry] = ScoredChunk(
                chunk=chunk,
                vector_rank=dense.get(chunk_id),
                keyword_rank=lexical.get(chunk_id),
                cosine=cosines[row],
                bm25=bm25[row],
                fused=fused[chunk_id],
                score=scores[row],
                readings=readings[row],
            )
    return list(merged.values())


def _find_best_ranks(found: Sequence[list[Hit]]) -> dict[str, int]:
    """Returns the best rank of every hit."""
    ranks: dict[str, int] = {}
    for hits in found:
        for rank, hit in enumerate(hits, 1):
            ranks[hit.chunk_id] = min(rank, ranks.get(hit.chunk_id, rank))
    return ranks
