from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.embeddings.hash import HashEmbedder
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.runner import AgentReply, build_retriever, run_questions
from knowledge.filters import Filter
from knowledge.ingest import MAX_TERM_CHARS
from knowledge.scoring import RetrievalOptions
from knowledge.types import Chunk, Vector
from tests.knowledge.builders import ANALYZER
from tests.knowledge.evaluation.files import corpus_set, document_set
from tests.knowledge.evaluation.results import chunk


async def silent(text: str, vector: Vector, where: Filter) -> AgentReply:
    return AgentReply("answered", text)


async def ranked(chunks: list[Chunk], questions: list[LabelledQuestion]) -> list[list[tuple[str, float]]]:
    async with build_retriever(chunks, HashEmbedder(), ANALYZER) as retriever:
        results = await run_questions(retriever, silent, questions)
    return [
        [(item.chunk.indexed_text, round(item.probability, 6)) for item in result.retrieval.candidates]
        for result in results
    ]


@pytest.mark.acceptance(only=True)
async def test_ids_and_order_of_arrival_change_neither_ranking_nor_probability(tmp_path: Path) -> None:
    data = load_set(document_set(tmp_path))
    expected = await ranked(list(data.chunks), list(data.answerable))
    assert all(expected)
    for seed in range(3):
        names = {item.entry: f"{random.Random(f'{seed}{item.entry}').random()}" for item in data.chunks}
        renamed = [
            replace(item, id=f"{names[item.entry]}-{item.ordinal}", entry=names[item.entry]) for item in data.chunks
        ]
        random.Random(seed).shuffle(renamed)
        assert await ranked(renamed, list(data.answerable)) == expected


async def test_texts_that_are_alike_rank_by_document_name() -> None:
    text = "退货运费由您承担。"
    for order in ("甲乙丙", "丙乙甲"):
        chunks = [replace(chunk(name, text), id=str(place), entry=str(place)) for place, name in enumerate(order)]
        async with build_retriever(chunks, HashEmbedder(), ANALYZER) as retriever:
            retrieval = await retriever.search("退货运费谁承担", explain=True)
        assert [item.chunk.document.name for item in retrieval.candidates] == ["丙", "乙", "甲"]


async def test_progress_counts_every_chunk_and_every_question(tmp_path: Path) -> None:
    data = load_set(corpus_set(tmp_path))
    chunks: list[int] = []
    asked: list[int] = []
    async with build_retriever(data.chunks, HashEmbedder(), ANALYZER, progress=chunks.append) as retriever:
        results = await run_questions(retriever, silent, data.answerable, asked.append)
    assert (sum(chunks), sum(asked)) == (len(data.chunks), len(data.answerable))
    assert [result.reply.text for result in results] == [question.text for question in data.answerable]


async def test_a_scope_limits_product_and_baselines_alike(tmp_path: Path) -> None:
    data = load_set(corpus_set(tmp_path))
    asked = replace(data.answerable[0], where=Filter(frozenset({"freight", "points"})))
    async with build_retriever(data.chunks, HashEmbedder(), ANALYZER) as retriever:
        (result,) = await run_questions(retriever, silent, [asked], baselines=True)
    assert set(result.rank_sources(data.source_of)) == {"freight", "points"}
    assert result.rank_baseline_sources("bm25", data.source_of) == ["freight"]
    assert set(result.rank_baseline_sources("dense", data.source_of)) == {"freight", "points"}


async def test_baselines_are_the_recalls_as_they_are(tmp_path: Path) -> None:
    data = load_set(document_set(tmp_path))
    options = RetrievalOptions(vector_top_k=3, bm25_top_k=2)
    async with build_retriever(data.chunks, HashEmbedder(), ANALYZER, options=options) as retriever:
        (result,) = await run_questions(retriever, silent, data.answerable[1:2], baselines=True)
        snapshot = retriever.index.get_snapshot()
        dense = await snapshot.search_dense(await retriever.embedder.embed_question(result.question.text), 3)
        lexical = await snapshot.search_lexical(ANALYZER.tokenize(result.question.text), 2)
    scores = {name: [(item.chunk.id, item.score) for item in found] for name, found in result.baselines.items()}
    assert scores["dense"] == [(hit.chunk_id, hit.score) for hit in dense]
    assert scores["bm25"] == [(hit.chunk_id, hit.score) for hit in lexical]
    assert scores["rrf"][0][0] == dense[0].chunk_id == lexical[0].chunk_id
    assert scores["rrf"][0][1] == pytest.approx(1 / 61)


async def test_tokens_that_ingestion_drops_are_dropped_here_too() -> None:
    token = "x" * (MAX_TERM_CHARS + 1)
    async with build_retriever([chunk("甲", token)], HashEmbedder(), ANALYZER) as retriever:
        assert await retriever.index.get_snapshot().search_lexical([token], 5) == []
