"""Recall -> fuse -> rerank -> gate: the one way from a question to fragments, explainable at every step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter

import numpy as np

from knowledge import continuity
from knowledge.bridging import comparable
from knowledge.calibration.model import Calibration
from knowledge.embeddings.base import Embedder
from knowledge.english import in_chinese
from knowledge.errors import EmbeddingUnavailable, InvalidConfiguration, NotCalibrated, RerankUnavailable
from knowledge.fusion import RRF_K, reciprocal_rank_fusion
from knowledge.gate import Gate
from knowledge.index import Index, Snapshot, embedded
from knowledge.overlay import PageReader
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import FULL_MATCH
from knowledge.rerankers.registry import get_reranker
from knowledge.spelling import BaseSpeller
from knowledge.text import Analyzer
from knowledge.types import Candidate, Chunk, Context, Filter, Hit, PageText, Retrieval, Vector, Verdict

_EVERYTHING = Filter()
_NOTHING_SAID = Context()


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """Widths and weights of the pipeline; the defaults are design's."""

    vector_top_k: int = 25
    bm25_top_k: int = 25
    rrf_k: int = RRF_K
    vector_weight: float = 0.6
    keyword_weight: float = 0.4
    rerank_top_k: int = 5
    gate: Gate = field(default_factory=Gate)

    def __post_init__(self) -> None:
        if min(self.vector_top_k, self.bm25_top_k, self.rerank_top_k, self.rrf_k) < 1:
            raise InvalidConfiguration("VECTOR_TOP_K、BM25_TOP_K、RERANK_TOP_K、RRF_K 至少为 1")
        if min(self.vector_weight, self.keyword_weight) < 0 or self.vector_weight + self.keyword_weight == 0:
            raise InvalidConfiguration("RRF_VECTOR_WEIGHT 与 RRF_KEYWORD_WEIGHT 不能为负，也不能同时为 0")


@dataclass(frozen=True, slots=True)
class Scored:
    """A recalled chunk before calibration. `readings`: its score for each of the queries; `score` is the best.
    `probability` is set where the conversation decides it.
    """

    chunk: Chunk
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    score: float
    readings: tuple[float, ...] = ()
    probability: float | None = None


class Retriever:
    """Searches one tenant's index. `calibrations` holds what the gate knows, per scorer kind; see `calibration/`."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        analyzer: Analyzer,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
    ) -> None:
        self.index = index
        self.embedder = embedder
        self.analyzer = analyzer
        self.reranker = reranker or get_reranker("lexical_dense")
        self.fallback = get_reranker("lexical")
        self.speller = BaseSpeller(index, analyzer)
        self._pages = PageReader(embedder, analyzer)
        self.rerank_fallback = get_reranker(self.reranker.fallback) if self.reranker.fallback else None
        self.options = options or RetrievalOptions()
        self.calibrations: dict[str, Calibration] = {}

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = _EVERYTHING,
        explain: bool = False,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        """Fragments for a question, gated.

        rewrite: a standalone form of the question; both are recalled and a chunk counts with the better of its scores.
        What is English is recalled in Chinese too, a question with a typo in what the base's words make of it.
        context: of a conversation; the question is then recalled behind those before it as well, see `continuity`.
        page: what the customer looks at, a candidate among the others; a base that holds nothing has no gate for it.
        vector: the question's embedding, where the caller has it. explain: all recalled candidates, not just the best.
        Raises NotCalibrated, IndexUnavailable. While the embedder fails, keyword recall answers alone; while a
        reranker that has a fallback fails or is not calibrated yet, that one scores; `degraded` says so.
        """
        timings: dict[str, float] = {}
        snapshot = self.index.snapshot()
        corrected = (await self.speller.correct(rewrite or question, snapshot)).text
        texts = list(dict.fromkeys([question, *([rewrite] if rewrite else []), corrected]))
        forms = _with_translation(texts, rewrite or question)
        count = len(forms)
        if context:
            told = continuity.told(question, context)
            forms += _with_translation([told], told)
        queries = await self._queries(forms, {0: vector, count: context.vector}, timings)
        unseen: tuple[str, ...] = ()
        if page is not None and len(snapshot):
            snapshot, unseen = await self._with_page(snapshot, page, texts, queries, timings)
        scored, scorer, degraded = await self._scored(snapshot, queries, where, timings)
        alone = self._alone(scored, scorer, count)
        if context and scored:
            scored = self._in_context(snapshot, queries, count, scored, scorer, context)
        started = perf_counter()
        candidates, verdict = self._gated(scored, scorer, len(scored) if explain else self.options.rerank_top_k)
        timings["gate"] = _milliseconds(started)
        terms = tuple(dict.fromkeys(queries[-1].terms))
        return Retrieval(
            question=question,
            revision=snapshot.revision,
            candidates=candidates,
            verdict=verdict,
            terms=terms,
            idf=tuple(snapshot.idf(terms)),
            alone=alone,
            degraded=(*degraded, *unseen),
            timings_ms=timings,
        )

    async def score(
        self,
        snapshot: Snapshot,
        queries: Sequence[Query],
        scorer: Reranker,
        where: Filter = _EVERYTHING,
        timings: dict[str, float] | None = None,
        calibration: Calibration | None = None,
    ) -> list[Scored]:
        """All recalled chunks, best first, without the gate: what calibration looks at too.

        calibration: puts the scores of English queries on the scale of Chinese ones; they stay as they are without.
        """
        timings = {} if timings is None else timings
        recalled = await self._recall(snapshot, queries, where, timings)
        started = perf_counter()
        options = self.options
        rankings = [self._rankings(hits) for hits in recalled]
        fused = reciprocal_rank_fusion([ranking for pair in rankings for ranking in pair], options.rrf_k)
        # What a reranker takes for evidence is each query's own fusion over the whole base: neither the second
        # chance of a rewrite nor the competitors that a filter hides may lift a chunk over the gate.
        if where:
            rankings = [self._rankings(hits) for hits in await self._recall(snapshot, queries, _EVERYTHING, {})]
        alone = len(queries) == 1 and not where
        evidence = [fused] if alone else [reciprocal_rank_fusion(ranking, options.rrf_k) for ranking in rankings]
        timings["fuse"] = _milliseconds(started)
        started = perf_counter()
        by_query = [
            await scorer.score(query, snapshot, {chunk_id: own.get(chunk_id, 0.0) for chunk_id in fused})
            for query, own in zip(queries, evidence, strict=True)
        ]
        if calibration is not None:
            by_query = comparable(queries, by_query, [snapshot.chunk(chunk_id) for chunk_id in fused], calibration)
        scored = _merge(snapshot, queries[0], recalled[0], fused, list(zip(*by_query, strict=True)))
        timings["rerank"] = _milliseconds(started)
        return scored

    async def _with_page(
        self,
        snapshot: Snapshot,
        page: PageText,
        texts: Sequence[str],
        queries: Sequence[Query],
        timings: dict[str, float],
    ) -> tuple[Snapshot, tuple[str, ...]]:
        """The view with the page in it, or as it was with what was out of order. texts: wordings of the question."""
        started = perf_counter()
        embed = queries[0].vector is not None and embedded(snapshot)
        try:
            return await self._pages.over(snapshot, page, texts, embed=embed), ()
        except EmbeddingUnavailable:
            return snapshot, ("page",)
        finally:
            timings["page"] = _milliseconds(started)

    def _alone(self, scored: Sequence[Scored], scorer: Reranker, readings: int) -> float:
        """The best probability by the first `readings` of the queries."""
        if not scored:
            return 0.0
        return self._calibration(scorer).probability(max(max(item.readings[:readings]) for item in scored))

    def _in_context(
        self,
        snapshot: Snapshot,
        queries: Sequence[Query],
        count: int,
        scored: Sequence[Scored],
        scorer: Reranker,
        context: Context,
    ) -> list[Scored]:
        """The candidates as the conversation orders them; the queries from `count` on are behind earlier questions."""
        calibration = self._calibration(scorer)
        readings = np.array([item.readings for item in scored])
        alone, told = readings[:, :count].max(axis=1), readings[:, count:].max(axis=1)
        scale = calibration.typical - calibration.unrelated
        total = FULL_MATCH * sum(snapshot.idf(queries[0].terms))
        order, probabilities = continuity.weighed(
            queries[0].text,
            [item.chunk for item in scored],
            continuity.Readings(
                (alone - calibration.cutoff) / scale,
                (told - calibration.cutoff) / scale,
                np.array([item.bm25 for item in scored]) / max(total, 1e-9),
                (calibration.unrelated - calibration.cutoff) / scale,
            ),
            context,
            continuity.Odds.of(
                *([calibration.probability(float(score)) for score in scores] for scores in (alone, told))
            ),
        )
        return [replace(scored[row], probability=float(probabilities[row])) for row in order]

    def _calibration(self, scorer: Reranker) -> Calibration:
        calibration = self.calibrations.get(scorer.kind)
        if calibration is None:
            raise NotCalibrated(f"no calibration for scorer {scorer.kind} yet")
        return calibration

    async def _scored(
        self, snapshot: Snapshot, queries: Sequence[Query], where: Filter, timings: dict[str, float]
    ) -> tuple[list[Scored], Reranker, tuple[str, ...]]:
        """Candidates, who scored them, and what was out of order."""

        async def by(scorer: Reranker, *degraded: str) -> tuple[list[Scored], Reranker, tuple[str, ...]]:
            calibration = self.calibrations.get(scorer.kind)
            return await self.score(snapshot, queries, scorer, where, timings, calibration), scorer, degraded

        if queries[0].vector is None or not embedded(snapshot):
            queries = [replace(query, vector=None) for query in queries]
            return await by(self.fallback, "embedding")
        if self.rerank_fallback is None:
            return await by(self.reranker)
        if self.reranker.kind in self.calibrations or not len(snapshot):
            with suppress(RerankUnavailable):
                return await by(self.reranker)
        return await by(self.rerank_fallback, "rerank")

    async def _queries(
        self, forms: Sequence[tuple[str, str | None]], known: dict[int, Vector | None], timings: dict[str, float]
    ) -> list[Query]:
        """forms: texts with what they translate; known: by place, embeddings that the caller has."""
        started = perf_counter()

        async def vector_of(place: int, text: str) -> Vector:
            vector = known.get(place)
            return await self.embedder.query(text) if vector is None else vector

        vectors: list[Vector] | list[None]
        try:
            vectors = await asyncio.gather(*(vector_of(place, text) for place, (text, _) in enumerate(forms)))
        except EmbeddingUnavailable:
            vectors = [None] * len(forms)
        timings["embed"] = _milliseconds(started)
        return [
            Query(text, tuple(self.analyzer.tokens(text)), own, translates)
            for (text, translates), own in zip(forms, vectors, strict=True)
        ]

    async def _recall(
        self, snapshot: Snapshot, queries: Sequence[Query], where: Filter, timings: dict[str, float]
    ) -> list[tuple[list[Hit], list[Hit]]]:
        """Dense and lexical hits of every query."""

        async def dense(query: Query) -> list[Hit]:
            if query.vector is None:
                return []
            started = perf_counter()
            hits = await snapshot.dense(query.vector, self.options.vector_top_k, where)
            timings["vector"] = _milliseconds(started)
            return hits

        async def lexical(query: Query) -> list[Hit]:
            started = perf_counter()
            hits = await snapshot.lexical(query.terms, self.options.bm25_top_k, where)
            timings["bm25"] = _milliseconds(started)
            return hits

        found = await asyncio.gather(*(recall(query) for query in queries for recall in (dense, lexical)))
        return list(zip(found[::2], found[1::2], strict=True))

    def _rankings(self, recalled: tuple[list[Hit], list[Hit]]) -> list[tuple[float, list[str]]]:
        weights = self.options.vector_weight, self.options.keyword_weight
        return [(weight, [hit.chunk_id for hit in hits]) for weight, hits in zip(weights, recalled, strict=True)]

    def _gated(self, scored: Sequence[Scored], scorer: Reranker, count: int) -> tuple[tuple[Candidate, ...], Verdict]:
        """The first `count`, and the verdict on those that are answered from."""
        if not scored:
            return (), Verdict.REFUSE
        calibration = self._calibration(scorer)
        probabilities = [
            calibration.probability(item.score) if item.probability is None else item.probability for item in scored
        ]
        verdicts = self.options.gate.verdicts(probabilities)
        candidates = (
            Candidate(
                chunk=item.chunk,
                vector_rank=item.vector_rank,
                keyword_rank=item.keyword_rank,
                cosine=item.cosine,
                bm25=item.bm25,
                fused=item.fused,
                scorer=scorer.kind,
                score=item.score,
                probability=probability,
                verdict=verdict,
            )
            for item, probability, verdict in islice(zip(scored, probabilities, verdicts, strict=True), count)
        )
        return tuple(candidates), self.options.gate.overall(verdicts[: self.options.rerank_top_k])


def _with_translation(texts: Sequence[str], last: str) -> list[tuple[str, str | None]]:
    """Texts, and one of them in Chinese, where it is English, with what it translates."""
    chinese = in_chinese(last)
    forms: list[tuple[str, str | None]] = [(text, None) for text in texts]
    return forms if chinese is None or chinese in texts else [*forms, (chinese, last)]


def _merge(
    snapshot: Snapshot,
    query: Query,
    recalled: tuple[list[Hit], list[Hit]],
    fused: dict[str, float],
    readings: Sequence[tuple[float, ...]],
) -> list[Scored]:
    """Candidates by score; of the chunks that are one FAQ entry asked in several ways only the best stays."""
    ids = list(fused)
    if not ids:
        return []
    dense, lexical = ({hit.chunk_id: rank for rank, hit in enumerate(hits, 1)} for hits in recalled)
    cosines = snapshot.cosines(query.vector, ids).tolist() if query.vector is not None else [0.0] * len(ids)
    bm25 = snapshot.bm25(query.terms, ids)
    scores = [max(reading) for reading in readings]
    merged: dict[str, Scored] = {}
    for row in sorted(range(len(ids)), key=lambda row: -scores[row]):
        chunk_id = ids[row]
        chunk = snapshot.chunk(chunk_id)
        if chunk.entry not in merged:
            merged[chunk.entry] = Scored(
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


def _milliseconds(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
