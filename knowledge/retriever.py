"""The retrieval pipeline: recall, fuse, rerank, gate. The only way from a question to passages; every step is
explainable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from types import MappingProxyType

import numpy as np

from knowledge import continuity
from knowledge.embeddings.base import Embedder
from knowledge.english import translate_question
from knowledge.errors import EmbeddingUnavailable, NotCalibrated, RerankUnavailable
from knowledge.filters import EVERYTHING, Filter
from knowledge.index import Index, Snapshot, has_vectors
from knowledge.overlay import PageReader
from knowledge.own_names import OwnNames, drop_names
from knowledge.probability import PROVISIONAL, CalibrationMap
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import FULL_MATCH
from knowledge.rerankers.registry import get_reranker
from knowledge.scoring import RetrievalOptions, ScoredChunk, Scoring, measure_milliseconds
from knowledge.spelling import BaseSpeller
from knowledge.text import Analyzer
from knowledge.tracing import start_span
from knowledge.types import (
    NOT_EMBEDDED,
    Candidate,
    Context,
    Form,
    FormKind,
    GateVerdict,
    PageText,
    QuestionVectors,
    RecallCounts,
    Retrieval,
    Vector,
)
from knowledge.vocabulary import AnalyzerHistory

_NOTHING_SAID = Context()
# Candidates behind the best that a trace shows.
TRACED = 5


@dataclass(frozen=True, slots=True)
class Scorers:
    """The scorers of a retriever.

    reranker: scores normally; fallback: scores while the reranker fails or is not calibrated, if it names one;
    keywords: scores while there are no embeddings.
    """

    reranker: Reranker
    fallback: Reranker | None
    keywords: Reranker

    @classmethod
    def from_reranker(cls, reranker: Reranker) -> Scorers:
        """Creates the scorers of a reranker and of the fallback that it names."""
        return cls(reranker, get_reranker(reranker.fallback) if reranker.fallback else None, get_reranker("lexical"))

    @property
    def slow(self) -> Reranker | None:
        """The scorer that takes minutes to calibrate, or None."""
        return self.reranker if self.fallback else None

    def __iter__(self) -> Iterator[Reranker]:
        """The fallbacks first: what they do not need may be out of reach."""
        return (scorer for scorer in (self.keywords, self.fallback, self.reranker) if scorer is not None)


@dataclass(frozen=True, slots=True)
class _JudgedQuestion:
    """A question in all forms in which it is searched.

    wordings: its forms without translations; alone: how many of the `queries`, from the first, are the question by
    itself; those after them stand behind earlier questions.
    """

    wordings: tuple[str, ...]
    queries: tuple[Query, ...]
    alone: int
    kinds: tuple[FormKind, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms of the question, for tracing."""
        return tuple(Form(query.text, kind) for query, kind in zip(self.queries, self.kinds, strict=True))


class Retriever:
    """Searches the index of one tenant. Its calibrations are set by `set_calibration`, see `calibration/`."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        analyzers: AnalyzerHistory,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._analyzers = analyzers
        self._scorers = Scorers.from_reranker(reranker or get_reranker("lexical_dense"))
        self._options = options or RetrievalOptions()
        self._speller = BaseSpeller(index, analyzers)
        self._own_names = OwnNames()
        self._pages = PageReader(embedder, analyzers)
        self._calibrations: dict[str, CalibrationMap] = {}

    async def get_own_names(self, snapshot: Snapshot) -> frozenset[str]:
        """Returns the names that questions are judged without, see `own_names`."""
        return await self._own_names.get(snapshot)

    def copy_for_index(self, index: Index) -> Retriever:
        """Returns a retriever for another view of this base, with the same calibrations."""
        other = copy(self)
        other._index = index
        return other

    @property
    def index(self) -> Index:
        """The index that is searched."""
        return self._index

    @property
    def embedder(self) -> Embedder:
        """The embedder of questions and of the index."""
        return self._embedder

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer of questions and of the current index."""
        return self.get_analyzer(self._index.get_snapshot())

    def get_analyzer(self, snapshot: Snapshot) -> Analyzer:
        """Returns the analyzer for questions that meet this snapshot."""
        return self._analyzers.get_analyzer(snapshot.revision)

    @property
    def options(self) -> RetrievalOptions:
        """Numbers of candidates and weights."""
        return self._options

    @property
    def scorers(self) -> Scorers:
        """The scorers that may be used."""
        return self._scorers

    @property
    def speller(self) -> BaseSpeller:
        """Corrects questions with the words of the index."""
        return self._speller

    @property
    def calibrations(self) -> Mapping[str, CalibrationMap]:
        """The calibration of each kind of scorer; a live view."""
        return MappingProxyType(self._calibrations)

    def set_calibration(self, calibration: CalibrationMap) -> None:
        """Replaces the calibration of one scorer, from the next search on."""
        self._calibrations[calibration.scorer] = calibration

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vectors: QuestionVectors = NOT_EMBEDDED,
        where: Filter = EVERYTHING,
        explain: bool = False,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        """Searches passages for a question and judges them at the gate.

        While the embedder fails, keyword recall answers alone; while a reranker that has a fallback fails or is not
        calibrated yet, the fallback scores. `degraded` of the result says so. English is recalled in Chinese too, a
        question with a typo in its corrected form unless it comes with a rewrite, and one with an abbreviation of the
        tenant in its full form.

        Args:
            question: The question as it was asked.
            rewrite: A complete form of the question, with its typos put right; both are recalled, and a chunk counts
                with the better of its scores.
            vectors: Those of the question that the caller has.
            where: What the search is limited to.
            explain: Whether to return all recalled candidates and not only the best.
            context: The conversation; the question is then recalled behind the earlier ones as well, see `continuity`.
            page: The page that the customer looks at, one more candidate; an empty base has no gate for it.

        Raises:
            NotCalibrated: If no usable scorer has a calibration.
            IndexUnavailable: If the index cannot be read.
        """
        timings: dict[str, float] = {}
        snapshot = self._index.get_snapshot()
        judged = await self._build_judged_question(snapshot, question, rewrite, vectors, context, timings)
        snapshot, unseen = await self._add_page(snapshot, page, judged, timings)
        scored, scorer, degraded = await self._score_candidates(snapshot, judged.queries, where, timings)
        goes_on = False
        if context and scored:
            scored, probabilities, goes_on = self._order_in_context(snapshot, judged, scored, scorer, context)
        else:
            probabilities = [self._get_calibration(scorer).compute_probability(item.score) for item in scored]
        started = perf_counter()
        top = self._options.rerank_top_k
        with start_span("gate") as gate:
            candidates, verdict = self._judge_candidates(
                scored, probabilities, scorer, len(scored) if explain else top + TRACED
            )
            gate.set_attributes({"yingda.verdict": verdict.value, "yingda.revision": snapshot.revision})
        timings["gate"] = measure_milliseconds(started)
        known = self._calibrations.get(scorer.kind)
        provisional = [PROVISIONAL] if known is not None and known.provisional else []
        terms = tuple(dict.fromkeys(judged.queries[-1].terms))
        return Retrieval(
            question=question,
            revision=snapshot.revision,
            candidates=candidates if explain else candidates[:top],
            verdict=verdict,
            terms=terms,
            idf=tuple(snapshot.get_idf(terms)),
            degraded=(*degraded, *unseen, *provisional),
            timings_ms=timings,
            forms=judged.forms,
            recalled=_count_recalled(scored),
            threshold=self._options.gate.threshold,
            top=top,
            beyond=() if explain else candidates[top:],
            goes_on=goes_on,
        )

    async def _build_judged_question(
        self,
        snapshot: Snapshot,
        question: str,
        rewrite: str | None,
        vectors: QuestionVectors,
        context: Context,
        timings: dict[str, float],
    ) -> _JudgedQuestion:
        """Builds all forms in which the question is recalled: as asked, rewritten, corrected, with abbreviations in
        full, in Chinese, and in its context.
        """
        analyzer = self.get_analyzer(snapshot)
        spelled = rewrite or (await self._speller.correct(question, snapshot)).text
        full = analyzer.expand_abbreviations(spelled)
        wordings = tuple(dict.fromkeys([question, spelled, full]))
        forms = _add_translation(wordings, rewrite or question)
        alone = len(forms)
        kinds = [_get_form_kind(text, translates, question, rewrite) for text, translates in forms]
        if full != spelled:
            kinds[wordings.index(full)] = FormKind.IN_FULL
        known = {0: vectors.alone}
        if context:
            known[alone] = vectors.in_context
            contextual = continuity.build_contextual_message(question, context)
            forms += _add_translation([contextual], contextual)
            kinds += [FormKind.IN_CONTEXT] * (len(forms) - alone)
        judged = any(scorer.compares_vectors for scorer in self._scorers)  # without the names, see `Query.nameless`
        names = await self.get_own_names(snapshot) if judged else frozenset()
        queries = await self._build_queries(analyzer, names, forms, known, timings)
        return _JudgedQuestion(wordings, tuple(queries), alone, tuple(kinds))

    async def _add_page(
        self, snapshot: Snapshot, page: PageText | None, judged: _JudgedQuestion, timings: dict[str, float]
    ) -> tuple[Snapshot, tuple[str, ...]]:
        """Adds the page to the view; returns the view, and the names of what was out of order."""
        if page is None or not len(snapshot):
            return snapshot, ()
        started = perf_counter()
        embed = judged.queries[0].vector is not None and has_vectors(snapshot)
        try:
            return await self._pages.lay_page_over(snapshot, page, judged.wordings, embed=embed), ()
        except EmbeddingUnavailable:
            return snapshot, ("page",)
        finally:
            timings["page"] = measure_milliseconds(started)

    def _order_in_context(
        self,
        snapshot: Snapshot,
        judged: _JudgedQuestion,
        scored: Sequence[ScoredChunk],
        scorer: Reranker,
        context: Context,
    ) -> tuple[list[ScoredChunk], list[float], bool]:
        """Returns the candidates in the order of the conversation, their probabilities, and whether it goes on with
        an article.
        """
        calibration = self._get_calibration(scorer)
        readings = np.array([item.readings for item in scored])
        alone, in_context = readings[:, : judged.alone].max(axis=1), readings[:, judged.alone :].max(axis=1)
        scale = calibration.typical - calibration.unrelated
        question = judged.queries[0]
        total = FULL_MATCH * sum(snapshot.get_idf(question.terms))
        chunks = [item.chunk for item in scored]
        read = continuity.Readings(
            (alone - calibration.cutoff) / scale,
            (in_context - calibration.cutoff) / scale,
            np.array([item.bm25 for item in scored]) / max(total, 1e-9),
            (calibration.unrelated - calibration.cutoff) / scale,
        )
        order, probabilities = continuity.weigh_candidates(
            question.text,
            chunks,
            read,
            context,
            continuity.Odds.from_probabilities(
                *([calibration.compute_probability(float(score)) for score in scores] for scores in (alone, in_context))
            ),
        )
        goes_on = continuity.is_continued(chunks, read, context)
        return [scored[row] for row in order], probabilities[order].tolist(), goes_on

    def _get_calibration(self, scorer: Reranker) -> CalibrationMap:
        calibration = self._calibrations.get(scorer.kind)
        if calibration is None:
            raise NotCalibrated(f"no calibration for scorer {scorer.kind} yet")
        return calibration

    async def _score_candidates(
        self, snapshot: Snapshot, queries: Sequence[Query], where: Filter, timings: dict[str, float]
    ) -> tuple[list[ScoredChunk], Reranker, tuple[str, ...]]:
        """Scores the candidates; returns them, the scorer that was used, and the names of what was out of order."""
        scorers = self._scorers

        async def score_by(scorer: Reranker, *degraded: str) -> tuple[list[ScoredChunk], Reranker, tuple[str, ...]]:
            scoring = Scoring(self._options, scorer, where, self._calibrations.get(scorer.kind))
            return await scoring.score_candidates(snapshot, queries, timings), scorer, degraded

        if queries[0].vector is None or not has_vectors(snapshot):
            queries = [replace(query, vector=None) for query in queries]
            return await score_by(scorers.keywords, "embedding")
        if scorers.fallback is None:
            return await score_by(scorers.reranker)
        if scorers.reranker.kind in self._calibrations or not len(snapshot):
            with suppress(RerankUnavailable):
                return await score_by(scorers.reranker)
        return await score_by(scorers.fallback, "rerank")

    async def _build_queries(
        self,
        analyzer: Analyzer,
        names: frozenset[str],
        forms: Sequence[tuple[str, str | None]],
        known: dict[int, Vector | None],
        timings: dict[str, float],
    ) -> list[Query]:
        """Builds the queries of a question.

        Args:
            analyzer: Cuts the texts into terms.
            names: The base's own names, without which chunks are judged.
            forms: The texts, each with the text that it translates, if any.
            known: Embeddings that the caller has, by place in `forms`.
            timings: Gets the milliseconds of the embedding.
        """
        started = perf_counter()
        texts = [text for text, _ in forms]
        nameless = {text: drop_names(text, names) for text in texts}
        wanted = list(dict.fromkeys([*texts, *nameless.values()]))

        async def embed_text(text: str) -> Vector:
            with start_span("embed"):
                return await self._embedder.embed_question(text)

        vectors = {texts[index]: vector for index, vector in known.items() if vector is not None}
        missing = [text for text in wanted if text not in vectors]
        try:
            vectors |= zip(missing, await asyncio.gather(*map(embed_text, missing)), strict=True)
        except EmbeddingUnavailable:
            vectors = {}
        timings["embed"] = measure_milliseconds(started)
        return [
            Query(
                text,
                tuple(analyzer.tokenize_question(text)),
                vectors.get(text),
                translates,
                vectors.get(nameless[text]) if nameless[text] != text else None,
            )
            for text, translates in forms
        ]

    def _judge_candidates(
        self, scored: Sequence[ScoredChunk], probabilities: Sequence[float], scorer: Reranker, count: int
    ) -> tuple[tuple[Candidate, ...], GateVerdict]:
        """Returns the first `count` candidates, and the verdict on those that may be answered from."""
        if not scored:
            return (), GateVerdict.REFUSE
        verdicts = self._options.gate.judge_all(probabilities)
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
                form=item.readings.index(max(item.readings)),
            )
            for item, probability, verdict in islice(zip(scored, probabilities, verdicts, strict=True), count)
        )
        return tuple(candidates), self._options.gate.choose_verdict(verdicts[: self._options.rerank_top_k])


def _add_translation(texts: Sequence[str], last: str) -> list[tuple[str, str | None]]:
    """Returns the texts, with the Chinese of `last` behind them if that is English."""
    chinese = translate_question(last)
    forms: list[tuple[str, str | None]] = [(text, None) for text in texts]
    return forms if chinese is None or chinese in texts else [*forms, (chinese, last)]


def _get_form_kind(text: str, translates: str | None, question: str, rewrite: str | None) -> FormKind:
    if translates is not None:
        return FormKind.TRANSLATED
    if text == question:
        return FormKind.ASKED
    return FormKind.REWRITTEN if text == rewrite else FormKind.SPELLED


def _count_recalled(scored: Sequence[ScoredChunk]) -> RecallCounts:
    return RecallCounts(
        vector=sum(item.vector_rank is not None for item in scored),
        keyword=sum(item.keyword_rank is not None for item in scored),
        fused=len(scored),
    )
