"""Runs questions through the product's own retriever and knowledge agent over an evaluation set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np

from knowledge.calibration.calibrator import Calibrator, LabelledQuestion
from knowledge.embeddings.base import Embedder
from knowledge.filters import Filter
from knowledge.fusion import fuse_rankings
from knowledge.ingest import tokenize_texts
from knowledge.rerankers.base import Reranker
from knowledge.retriever import Retriever
from knowledge.scoring import RetrievalOptions
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from knowledge.types import Chunk, Hit, IndexChange, IndexedChunk, QuestionVectors, Retrieval, Vector

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What the customer would get; `outcome` is the chat contract's."""

    outcome: str
    text: str


# Of a question that was only searched.
NOT_ASKED = AgentReply("", "")
# The knowledge agent over a retriever: question, its embedding, which documents count.
Answerer = Callable[[str, Vector, Filter], Awaitable[AgentReply]]

ANSWERED = frozenset({"answered", "partially_answered", "low_confidence"})
BASELINES = ("bm25", "dense", "rrf")


@dataclass(frozen=True, slots=True)
class RecalledChunk:
    """A chunk as one recall sees it; `score` is the recall's own."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question through retrieval, and through the agent where that was asked."""

    question: LabelledQuestion
    retrieval: Retrieval
    reply: AgentReply = NOT_ASKED
    # By name of BASELINES, what each finds, best first; empty where that was not looked at.
    baselines: Mapping[str, Sequence[RecalledChunk]] = field(default_factory=dict)

    @property
    def probability(self) -> float:
        return self.retrieval.confidence

    @property
    def is_answered(self) -> bool:
        return self.reply.outcome in ANSWERED

    def find_passing_threshold(self, least: int) -> float:
        """Returns the highest threshold at which at least `least` candidates pass; 0 where there are fewer."""
        probabilities = sorted((one.probability for one in self.retrieval.candidates), reverse=True)
        return probabilities[least - 1] if len(probabilities) >= least else 0.0

    def rank_sources(self, source_of: Callable[[Chunk], str]) -> list[str]:
        """Returns the corpus ids in final order, each once."""
        return list(dict.fromkeys(source_of(candidate.chunk) for candidate in self.retrieval.candidates))

    def rank_baseline_sources(self, name: str, source_of: Callable[[Chunk], str]) -> list[str]:
        """Returns the corpus ids in the order of a baseline, each once."""
        return list(dict.fromkeys(source_of(found.chunk) for found in self.baselines[name]))


@asynccontextmanager
async def build_retriever(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    analyzer: Analyzer,
    reranker: Reranker | None = None,
    options: RetrievalOptions | None = None,
    progress: Progress | None = None,
) -> AsyncIterator[Retriever]:
    """Builds a calibrated retriever over an index in memory that holds these chunks, for the length of a block."""
    index = await build_index(chunks, embedder, analyzer, progress)
    try:
        retriever = Retriever(index, embedder, analyzer, reranker, options)
        await Calibrator(retriever).refresh()
        yield retriever
    finally:
        await index.close()


async def build_index(
    chunks: Sequence[Chunk], embedder: Embedder, analyzer: Analyzer, progress: Progress | None = None
) -> MemoryIndex:
    """Builds an index in memory that holds these chunks, tokenised as in ingestion. The caller closes it."""
    vectors = await embedder.embed_passages([chunk.indexed_text for chunk in chunks], progress)
    documents = await tokenize_texts(analyzer, chunks)
    vocabulary: dict[str, int] = {}
    terms = [[vocabulary.setdefault(term, len(vocabulary)) for term in document] for document in documents]
    rows = zip(chunks, vectors, terms, strict=True)
    indexed = tuple(IndexedChunk(chunk, vector, np.array(ids, np.int32)) for chunk, vector, ids in rows)
    index = MemoryIndex()
    await index.apply(IndexChange(1, indexed, new_terms=tuple(vocabulary)))
    return index


async def run_questions(
    retriever: Retriever,
    answer: Answerer | None,
    questions: Sequence[LabelledQuestion],
    progress: Progress | None = None,
    searched: Callable[[str], str] = str,
    *,
    baselines: bool = False,
) -> list[QuestionResult]:
    """Runs questions through retrieval and agent; embeddings come from the cache.

    Args:
        retriever: Searches.
        answer: Answers from the result; None for no answers.
        questions: The questions.
        progress: Called with the progress.
        searched: What is made of a question before it is embedded and searched.
        baselines: Whether each recall is looked at by itself, too.

    Returns:
        For each question all its candidates and the agent's reply.
    """
    texts = [searched(question.text) for question in questions]
    vectors = await retriever.embedder.embed_questions(texts)
    results = []
    for question, text, vector in zip(questions, texts, vectors, strict=True):
        where = question.where
        retrieval = await retriever.search(text, vectors=QuestionVectors(vector), where=where, explain=True)
        reply = NOT_ASKED if answer is None else await answer(question.text, vector, where)
        found = await _search_baselines(retriever, text, vector, where) if baselines else {}
        results.append(QuestionResult(question, retrieval, reply, found))
        if progress is not None:
            progress(1)
    return results


async def _search_baselines(
    retriever: Retriever, text: str, vector: Vector, where: Filter
) -> dict[str, tuple[RecalledChunk, ...]]:
    """Returns what each recall alone finds, and their fusion without reranking."""
    snapshot, options = retriever.index.get_snapshot(), retriever.options
    dense = await snapshot.search_dense(vector, options.vector_top_k, where)
    lexical = await snapshot.search_lexical(retriever.analyzer.tokenize(text), options.bm25_top_k, where)
    weighted = (options.vector_weight, dense), (options.keyword_weight, lexical)
    fused = fuse_rankings(((weight, [hit.chunk_id for hit in hits]) for weight, hits in weighted), options.rrf_k)
    by_name = {"bm25": lexical, "dense": dense, "rrf": [Hit(*pair) for pair in fused.items()]}
    return {
        name: tuple(RecalledChunk(snapshot.get_chunk(hit.chunk_id), hit.score) for hit in by_name[name])
        for name in BASELINES
    }
