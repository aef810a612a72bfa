"""Measures the product's own retriever and knowledge agent: `python scripts/evaluate.py --set DIR`.

Embeddings are kept in DATA_DIR, so that unchanged text is embedded once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tqdm import tqdm

from agents.knowledge import KnowledgeAgent
from agents.llm.registry import get_generator
from agents.types import Done, Question
from app.db.embedding_cache import SqliteEmbeddingCache
from app.knowledge_ops.assembly import embeddings_path
from app.retrieval import generator_options, knowledge_policy, retrieval_options
from app.settings import Settings, load_settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import KnowledgeError
from knowledge.evaluation.dataset import EvalSet, load_set, read_rows
from knowledge.evaluation.documents import OwnDocuments, injection_report, own_documents, rejection_report
from knowledge.evaluation.report import set_report
from knowledge.evaluation.runner import Answerer, Reply, Result, build_retriever, run_questions
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.text import Analyzer
from knowledge.types import Chunk, Filter, Retrieval, Vector


class _Scoped:
    """The retriever, limited to some documents, as the knowledge agent sees it."""

    def __init__(self, retriever: Retriever, where: Filter) -> None:
        self._retriever, self._where = retriever, where

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter | None = None,
        explain: bool = False,
    ) -> Retrieval:
        return await self._retriever.search(
            question, rewrite=rewrite, vector=vector, where=where or self._where, explain=explain
        )


class Evaluation:
    """The shipped configuration over any corpus."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        self._settings = settings
        self._embedder = embedder
        self._analyzer = Analyzer()

    async def run_set(self, data: EvalSet) -> list[list[Result]]:
        """Results of the answerable, the unanswerable and the out-of-domain questions."""
        groups = [data.answerable, data.unanswerable, data.out_of_domain]
        return await self._run(data.chunks, groups, data.name, [])

    async def run_own_documents(self, data: OwnDocuments) -> list[Result]:
        """Every question against its own documents alone."""
        (results,) = await self._run(data.chunks, [data.questions], data.name, data.scopes)
        return results

    async def _run(
        self, chunks: Sequence[Chunk], groups: Sequence[Sequence[Any]], name: str, scopes: Sequence[Filter]
    ) -> list[list[Result]]:
        settings = self._settings
        with tqdm(total=len(chunks), desc=f"{name} 向量", unit="段", file=sys.stderr) as bar:
            built = build_retriever(
                chunks,
                self._embedder,
                self._analyzer,
                get_reranker(settings.reranker),
                retrieval_options(settings),
                bar.update,
            )
            retriever = await built.__aenter__()
        try:
            with tqdm(total=sum(map(len, groups)), desc=f"{name} 提问", unit="问", file=sys.stderr) as bar:
                answer = self._answerer(retriever)
                return [await run_questions(retriever, answer, group, bar.update, scopes) for group in groups]
        finally:
            await built.__aexit__(None, None, None)

    def _answerer(self, retriever: Retriever) -> Answerer:
        generator = get_generator("extractive", generator_options(self._settings, self._analyzer))
        policy = knowledge_policy(self._settings)

        async def answer(text: str, vector: Vector, where: Filter) -> Reply:
            agent = KnowledgeAgent(_Scoped(retriever, where), generator, policy)
            async for event in agent.run(Question(text, vector=vector)):
                if isinstance(event, Done):
                    return Reply(event.answer.outcome.value, event.answer.reply)
            raise RuntimeError("the agent ended without an answer")

        return answer


def _run_lines(data: EvalSet, results: Sequence[Result]) -> list[str]:
    return [
        json.dumps(
            {
                "id": result.question.id,
                "ranked": result.ranked(data.source_of),
                "probability": round(result.probability, 6),
                "outcome": result.reply.outcome,
                "reply": result.reply.text,
            },
            ensure_ascii=False,
        )
        for result in results
    ]


async def _evaluate(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    cache = SqliteEmbeddingCache(embeddings_path(settings))
    embedder = get_embedder(settings.embedder, cache)
    evaluation = Evaluation(settings, embedder)
    report: dict[str, Any] = {"embedder": embedder.name, "reranker": settings.reranker}
    try:
        if arguments.set:
            data = load_set(arguments.set, arguments.out_of_domain)
            groups = await evaluation.run_set(data)
            report |= set_report(data, *groups, baselines=arguments.baselines)
            if arguments.run:
                lines = [line for group in groups for line in _run_lines(data, group)]
                arguments.run.write_text("\n".join(lines) + "\n", "utf-8")
        if arguments.rejection:
            rows = read_rows(arguments.rejection)
            results = await evaluation.run_own_documents(own_documents("rejection", rows))
            report["rejection"] = rejection_report(rows, results)
        if arguments.injection:
            rows = read_rows(arguments.injection)
            results = await evaluation.run_own_documents(own_documents("injection", rows))
            report["injection"] = injection_report(rows, results)
    finally:
        embedder.close()
        cache.close()
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description="评测检索、拒答与回答")
    parser.add_argument("--set", type=Path, metavar="DIR", help="评测集文件夹")
    parser.add_argument("--out-of-domain", type=Path, metavar="FILE", help="域外问题，JSONL：id、text")
    parser.add_argument("--run", type=Path, metavar="OUT.jsonl", help="逐题结果写到这里")
    parser.add_argument("--json", type=Path, metavar="OUT", help="报告写到这里")
    parser.add_argument("--baselines", action="store_true", help="同时给出 BM25、向量与普通 RRF 的指标")
    parser.add_argument("--rejection", type=Path, metavar="FILE", help="每题只对它自己的文档，看该拒答时是否拒答")
    parser.add_argument("--injection", type=Path, metavar="FILE", help="文档里藏有指令，看回答是否中招")
    arguments = parser.parse_args()
    if not (arguments.set or arguments.rejection or arguments.injection):
        parser.error("请给出 --set、--rejection 或 --injection")
    try:
        report = asyncio.run(_evaluate(arguments, load_settings()))
    except (KnowledgeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    text = json.dumps(report, ensure_ascii=False, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
