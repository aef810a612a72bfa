"""Runs questions through the product's own retriever and knowledge agent over an evaluation set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np

from knowledge.calibration.calibrator import Calibrator
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.dataset import EvalQuestion
from knowledge.rerankers.base import Reranker
from knowledge.retriever import RetrievalOptions, Retriever
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from knowledge.types import Candidate, Chunk, Filter, IndexChange, IndexedChunk, Retrieval, Vector

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the customer would get; `outcome` is the chat contract's."""

    outcome: str
    text: str


Answerer = Callable[[str, Vector, Filter], Awaitable[Reply]]
"""The knowledge agent over a retriever: question, its embedding, which documents count."""

ANSWERED = frozenset({"answered", "partially_answered", "low_confidence"})


@dataclass(frozen=True, slots=True)
class Result:
    """One question through retrieval and agent."""

    question: EvalQuestion
    retrieval: Retrieval
    reply: Reply

    @property
    def probability(self) -> float:
        return self.retrieval.confidence

    @property
    def answered(self) -> bool:
        return self.reply.outcome in ANSWERED

    def ranked(self, source_of: Callable[[Chunk], str], key: Callable[[Candidate], float] | None = None) -> list[str]:
        """Corpus ids, best first, each once; in final order, or by `key`, descending."""
        candidates = self.retrieval.candidates
        if key is not None:
            candidates = tuple(sorted(candidates, key=lambda candidate: -key(candidate)))
        return list(dict.fromkeys(source_of(candidate.chunk) for candidate in candidates))


@asynccontextmanager
async def build_retriever(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    analyzer: Analyzer,
    reranker: Reranker | None = None,
    options: RetrievalOptions | None = None,
    progress: Progress | None = None,
) -> AsyncIterator[Retriever]:
    """A calibrated retriever over an index in memory that holds these chunks."""
    index = MemoryIndex()
    vectors = await embedder.passages([chunk.indexed_text for chunk in chunks], progress)
    vocabulary: dict[str, int] = {}
    indexed = [
        IndexedChunk(
            chunk,
            vector,
            np.array(
                [vocabulary.setdefault(term, len(vocabulary)) for term in analyzer.tokens(chunk.indexed_text)], np.int32
            ),
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
    await index.apply(IndexChange(1, tuple(indexed), new_terms=tuple(vocabulary)))
    retriever = Retriever(index, embedder, analyzer, reranker, options)
    await Calibrator(retriever).start()
    try:
        yield retriever
    finally:
        await index.close()


async def run_questions(
    retriever: Retriever,
    answer: Answerer,
    questions: Sequence[EvalQuestion],
    progress: Progress | None = None,
    scopes: Sequence[Filter] = (),
) -> list[Result]:
    """Every question with all its candidates and the agent's reply; embeddings come from the cache.

    scopes: which documents count for each question, one to one; empty: all.
    """
    vectors = await retriever.embedder.queries([question.text for question in questions])
    results = []
    for question, vector, where in zip(questions, vectors, scopes or [Filter()] * len(questions), strict=True):
        retrieval = await retriever.search(question.text, vector=vector, where=where, explain=True)
        results.append(Result(question, retrieval, await answer(question.text, vector, where)))
        if progress is not None:
            progress(1)
    return results
