"""What `scripts/evaluate.py` measures with parts of the product: retrieval, answers, and what stands around them."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.knowledge import KnowledgeAgent
from agents.types import Findings, Question
from agents.understanding.normalise import normalise_text
from agents.understanding.spelling import correct_spelling
from agents.understanding.utterance import Utterance
from app.chat.guard import Guard
from app.progress import ProgressBar
from app.retrieval import (
    build_default_profile,
    build_knowledge_policy,
    build_reranker_options,
    build_retrieval_options,
    chunk_options,
)
from app.settings import Settings
from app.wiring.models import LanguageModels
from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.dataset import EvalSet, load_set
from knowledge.evaluation.documents import build_own_documents, report_injection, report_rejection
from knowledge.evaluation.metrics import check_libraries
from knowledge.evaluation.report import build_set_report
from knowledge.evaluation.rows import read_rows, write_rows
from knowledge.evaluation.runner import AgentReply, Answerer, QuestionResult, build_retriever, run_questions
from knowledge.filters import Filter
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.text import Analyzer
from knowledge.types import Chunk, QuestionVectors, Vector
from scripts.evaluation.curated import measure_curated
from scripts.evaluation.metamorphic import measure_manners
from scripts.evaluation.product import open_embedder
from scripts.evaluation.routing import measure_router
from scripts.evaluation.safety import measure_safety
from scripts.evaluation.verification import measure_corruptions, measure_counterfactuals

# The options that name something to measure.
PARTS = ("set", "rejection", "injection", "counterfactual", "corruptions", "safety", "routing", "curated")
# What needs the libraries of `knowledge.evaluation.metrics`.
_WITH_METRICS = ("set", "rejection")
_OWN_DOCUMENTS = {"id": str, "question": str, "docs": list}
# Name in the report -> reranker. `lexical` is BM25 as a share of what the question could reach.
_SINGLE_SCORERS = {"dense": "cosine", "bm25": "lexical"}


@asynccontextmanager
async def open_retriever(
    settings: Settings,
    embedder: Embedder,
    chunks: Sequence[Chunk],
    *,
    reranker: str = "",
    title: str = "",
) -> AsyncIterator[Retriever]:
    """The product's retriever over these chunks. reranker: "" for the configured one; title: of the bar of progress."""
    options, name = build_retrieval_options(settings), reranker or settings.reranker
    with (
        closing(get_reranker(name, build_reranker_options(settings))) as scorer,
        ProgressBar(len(chunks), f"{title} 向量", "段") as bar,
    ):
        async with build_retriever(chunks, embedder, Analyzer(), scorer, options, bar.update) as retriever:
            bar.close()
            yield retriever


class Evaluation:
    """The shipped configuration over any corpus."""

    def __init__(self, settings: Settings, embedder: Embedder, models: LanguageModels) -> None:
        self.settings = settings
        self.embedder = embedder
        self._models = models

    async def run_set(self, data: EvalSet, *, reranker: str = "", baselines: bool = False) -> list[QuestionResult]:
        """What came of every question. reranker: "" for the configured one; baselines: of the recalls alone, too."""
        async with open_retriever(
            self.settings, self.embedder, data.chunks, reranker=reranker, title=data.name
        ) as retriever:
            answer, questions = self._build_answerer(retriever), data.questions
            with ProgressBar(len(questions), f"{data.name} 提问", "问") as bar:
                return await run_questions(
                    retriever, answer, questions, bar.update, normalise_text, baselines=baselines
                )

    def _build_answerer(self, retriever: Retriever) -> Answerer:
        profile = build_default_profile(self.settings)
        generator = self._models.build_generator(Analyzer(), profile)
        agent = KnowledgeAgent(retriever, generator, build_knowledge_policy(self.settings, profile))

        async def answer(text: str, vector: Vector, where: Filter) -> AgentReply:
            question = Question(await correct_spelling(retriever.speller, Utterance(text)), where=where)
            reached = await agent.run(question, Findings(QuestionVectors(vector)), lambda _: None)
            return AgentReply(reached.outcome.value, reached.reply)

        return answer


async def measure_parts(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """Figures of all that is asked for, by the names of the options."""
    if any(getattr(arguments, part) for part in _WITH_METRICS):
        check_libraries()
    with open_embedder(settings) as embedder:
        async with LanguageModels(settings) as models:
            evaluation = Evaluation(settings, embedder, models)
            report: dict[str, Any] = {"embedder": embedder.name, "reranker": settings.reranker}
            if models.main is not None:
                report["llm"] = models.main.name
            return report | await _measure_each(evaluation, arguments, chunk_options(settings))


async def _measure_each(evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if arguments.set:
        report |= await _measure_set(evaluation, arguments, options)
    if arguments.rejection:
        report["rejection"] = await _measure_rejection(evaluation, arguments.rejection, options)
    if arguments.injection:
        rows = read_rows(arguments.injection, **_OWN_DOCUMENTS, gold_text=str)
        data = build_own_documents("injection", rows, options)
        report["injection"] = report_injection(rows, await evaluation.run_set(data))
    if arguments.counterfactual:
        rows = read_rows(arguments.counterfactual, **_OWN_DOCUMENTS, answer=str, fake_answer=str)
        report["counterfactual"] = measure_counterfactuals(rows)
    if arguments.corruptions:
        samples = load_set(arguments.corruptions, None, options)
        results = await evaluation.run_set(replace(samples, questions=samples.answerable))
        report["corruptions"] = measure_corruptions(results, [chunk.text for chunk in samples.chunks])
    if arguments.safety:
        guard = Guard(evaluation.settings.max_message_chars)
        report["safety"] = await measure_safety(read_rows(arguments.safety, text=str), guard, evaluation.embedder)
    if arguments.curated:
        pairs = next(arguments.curated.glob("pairs.jsonl"), None)
        report["curated"] = await measure_curated(
            load_set(arguments.curated, None, options), pairs, evaluation.embedder
        )
    if arguments.routing:
        report["routing"] = await measure_router(arguments.routing, arguments.kb, evaluation.embedder, options)
    return report


async def _measure_set(evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions) -> dict[str, Any]:
    data = load_set(arguments.set, arguments.out_of_domain, options)
    results = await evaluation.run_set(data, baselines=arguments.baselines)
    if arguments.run:
        write_rows(arguments.run, (_build_row(data, result) for result in results))
    report = build_set_report(data, results, baselines=arguments.baselines)
    if arguments.metamorphic:
        async with open_retriever(evaluation.settings, evaluation.embedder, data.chunks, title=data.name) as retriever:
            report["metamorphic"] = await measure_manners(retriever, data)
    return report


async def _measure_rejection(evaluation: Evaluation, path: Path, options: ChunkOptions) -> dict[str, Any]:
    """The same figures for the product, and for cosine and BM25 as its only scorers, each with a gate of its own."""
    rows = read_rows(path, **_OWN_DOCUMENTS, answerable=bool, answer_parts=list)
    data = build_own_documents("rejection", rows, options)
    report = report_rejection(rows, await evaluation.run_set(data))
    for name, reranker in _SINGLE_SCORERS.items():
        report[name] = report_rejection(rows, await evaluation.run_set(data, reranker=reranker))
    return report


def _build_row(data: EvalSet, result: QuestionResult) -> dict[str, Any]:
    return {
        "id": result.question.id,
        "ranked": result.rank_sources(data.source_of),
        "probability": round(result.probability, 6),
        "outcome": result.reply.outcome,
        "reply": result.reply.text,
    }
