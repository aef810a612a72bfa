"""Measures the product: `python scripts/evaluate.py --set DIR`, `--dialogues FILE` for whole conversations.

Embeddings are kept, in DATA_DIR or in `--cache`, so that unchanged text is embedded once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.knowledge import KnowledgeAgent
from agents.types import Question
from agents.understanding.normalise import normalise_text
from app.chat.answer_pipeline import correct_spelling
from app.chat.guard import Guard
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.evaluation.gate import check_report
from app.logging import configure_logging
from app.progress import ProgressBar
from app.retrieval import (
    build_default_profile,
    build_embedder_options,
    build_knowledge_policy,
    build_reranker_options,
    build_retrieval_options,
    chunk_options,
)
from app.settings import Settings, load_settings
from app.wiring.knowledge import get_embeddings_path
from app.wiring.models import LanguageModels
from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import KnowledgeError
from knowledge.evaluation.dataset import EvalQuestion, EvalSet, load_set
from knowledge.evaluation.documents import OwnDocuments, build_own_documents, report_injection, report_rejection
from knowledge.evaluation.metrics import check_libraries
from knowledge.evaluation.report import build_set_report
from knowledge.evaluation.rows import read_rows
from knowledge.evaluation.runner import AgentReply, Answerer, QuestionResult, build_retriever, run_questions
from knowledge.filters import Filter
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.text import Analyzer
from knowledge.types import Chunk, Context, PageText, Retrieval, Vector
from scripts.evaluation.curated import curated_report
from scripts.evaluation.metamorphic import metamorphic_report
from scripts.evaluation.routing import routing_report
from scripts.evaluation.safety import safety_report
from scripts.evaluation.through_chat import (
    chat_set_report,
    danger_through_chat,
    dialogues_report,
    routing_through_chat,
)
from scripts.evaluation.verification import corruption_report, counterfactual_report

_OWN_DOCUMENTS = {"id": str, "question": str, "docs": list}
# What is measured with parts of the product; whole conversations need all of it.
_PART_BY_PART = ("set", "rejection", "injection", "counterfactual", "corruptions", "safety", "routing", "curated")
# What needs the libraries of `knowledge.evaluation.metrics`.
_MEASURED = ("set", "rejection")
_NOTHING_SAID = Context()
# Name in the report -> reranker. `lexical` is BM25 as a share of what the question could reach.
_SINGLE_SCORERS = {"dense": "cosine", "bm25": "lexical"}


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
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        return await self._retriever.search(
            question,
            rewrite=rewrite,
            vector=vector,
            where=where or self._where,
            explain=explain,
            context=context,
            page=page,
        )


class Evaluation:
    """The shipped configuration over any corpus."""

    def __init__(self, settings: Settings, embedder: Embedder, models: LanguageModels) -> None:
        self._settings = settings
        self._embedder = embedder
        self._models = models
        self._analyzer = Analyzer()

    async def run_set(self, data: EvalSet) -> list[list[QuestionResult]]:
        """Results of the answerable, the unanswerable and the out-of-domain questions."""
        groups = [data.answerable, data.unanswerable, data.out_of_domain]
        return await self._run(data.name, data.chunks, groups, self._settings.reranker)

    async def metamorphic(self, data: EvalSet) -> dict[str, dict[str, float]]:
        """Whether the answerable questions find the same, asked in other manners."""
        options = build_retrieval_options(self._settings)
        with closing(get_reranker(self._settings.reranker, build_reranker_options(self._settings))) as scorer:
            async with build_retriever(data.chunks, self._embedder, self._analyzer, scorer, options) as retriever:
                return await metamorphic_report(retriever, data)

    async def run_own_documents(self, data: OwnDocuments, reranker: str | None = None) -> list[QuestionResult]:
        """Every question against its own documents alone."""
        reranker = reranker or self._settings.reranker
        (results,) = await self._run(data.name, data.chunks, [data.questions], reranker, data.scopes)
        return results

    async def safety(self, path: Path) -> dict[str, Any]:
        """What the guard and the classifier reject."""
        return await safety_report(read_rows(path, text=str), Guard(self._settings.max_message_chars), self._embedder)

    async def curated(self, folder: Path, options: ChunkOptions) -> dict[str, Any]:
        """What curated answers would say to the questions of a set."""
        data, pairs = load_set(folder, None, options), folder / "pairs.jsonl"
        has_pairs = await asyncio.to_thread(pairs.exists)
        return await curated_report(data, pairs if has_pairs else None, self._embedder)

    async def routing(self, path: Path, folders: Sequence[Path], options: ChunkOptions) -> dict[str, Any]:
        """Where the router sends labelled messages of a tenant with these knowledge bases."""
        with ProgressBar(None, "路由", "条") as routed:
            return await routing_report(path, folders, self._embedder, options, routed.update)

    async def _run(
        self,
        name: str,
        chunks: Sequence[Chunk],
        groups: Sequence[Sequence[EvalQuestion]],
        reranker: str,
        scopes: Sequence[Filter] = (),
    ) -> list[list[QuestionResult]]:
        with (
            closing(get_reranker(reranker, build_reranker_options(self._settings))) as scorer,
            ProgressBar(len(chunks), f"{name} 向量", "段") as embedded,
            ProgressBar(sum(map(len, groups)), f"{name} 提问", "问") as asked,
        ):
            async with build_retriever(
                chunks,
                self._embedder,
                self._analyzer,
                scorer,
                build_retrieval_options(self._settings),
                embedded.update,
            ) as retriever:
                answer = self._answerer(retriever)
                return [
                    await run_questions(retriever, answer, group, asked.update, scopes, normalise_text)
                    for group in groups
                ]

    def _answerer(self, retriever: Retriever) -> Answerer:
        profile = build_default_profile(self._settings)
        generator = self._models.build_generator(self._analyzer, profile)
        policy = build_knowledge_policy(self._settings, profile)

        async def answer(text: str, vector: Vector, where: Filter) -> AgentReply:
            agent = KnowledgeAgent(_Scoped(retriever, where), generator, policy)
            question = Question(text, vector=vector)
            question = replace(question, rewrite=await correct_spelling(retriever.speller, question))
            reached = await agent.run(question, lambda _: None)
            return AgentReply(reached.outcome.value, reached.reply)

        return answer


def _run_lines(data: EvalSet, results: Sequence[QuestionResult]) -> list[str]:
    return [
        json.dumps(
            {
                "id": result.question.id,
                "ranked": result.rank_sources(data.source_of),
                "probability": round(result.probability, 6),
                "outcome": result.reply.outcome,
                "reply": result.reply.text,
            },
            ensure_ascii=False,
        )
        for result in results
    ]


async def _evaluate(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    if any(getattr(arguments, task) for task in _MEASURED):
        check_libraries()
    report: dict[str, Any] = {}
    if arguments.dialogues:
        report |= await dialogues_report(arguments, settings)
    if arguments.danger:
        report |= await danger_through_chat(arguments, settings)
    if arguments.set and arguments.through == "chat":
        report |= await chat_set_report(arguments, settings)
    elif arguments.routing and arguments.through == "chat":
        report |= await routing_through_chat(arguments, settings)
    elif any(getattr(arguments, task) for task in _PART_BY_PART):
        report |= await _evaluate_parts(arguments, settings)
    return report


async def _evaluate_parts(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    with (
        closing(SqliteEmbeddingCache(get_embeddings_path(settings))) as cache,
        closing(get_embedder(settings.embedder, cache, build_embedder_options(settings))) as embedder,
    ):
        async with LanguageModels(settings) as models:
            evaluation = Evaluation(settings, embedder, models)
            report: dict[str, Any] = {"embedder": embedder.name, "reranker": settings.reranker}
            if models.main is not None:
                report["llm"] = models.main.name
            return report | await _reports(evaluation, arguments, chunk_options(settings))


async def _reports(evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if arguments.set:
        report |= await _set_report(evaluation, arguments, options)
    if arguments.rejection:
        report["rejection"] = await _rejection_report(evaluation, arguments.rejection, options)
    if arguments.injection:
        rows = read_rows(arguments.injection, **_OWN_DOCUMENTS, gold_text=str)
        data = build_own_documents("injection", rows, options)
        report["injection"] = report_injection(rows, await evaluation.run_own_documents(data))
    if arguments.counterfactual:
        rows = read_rows(arguments.counterfactual, **_OWN_DOCUMENTS, answer=str, fake_answer=str)
        report["counterfactual"] = counterfactual_report(rows)
    if arguments.corruptions:
        samples = load_set(arguments.corruptions, None, options)
        results, *_ = await evaluation.run_set(samples)
        report["corruptions"] = corruption_report(results, [chunk.text for chunk in samples.chunks])
    if arguments.safety:
        report["safety"] = await evaluation.safety(arguments.safety)
    if arguments.curated:
        report["curated"] = await evaluation.curated(arguments.curated, options)
    if arguments.routing:
        report["routing"] = await evaluation.routing(arguments.routing, arguments.kb, options)
    return report


async def _set_report(evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions) -> dict[str, Any]:
    data = load_set(arguments.set, arguments.out_of_domain, options)
    groups = await evaluation.run_set(data)
    if arguments.run:
        lines = [line for group in groups for line in _run_lines(data, group)]
        arguments.run.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    report = build_set_report(data, *groups, baselines=arguments.baselines)
    return report | ({"metamorphic": await evaluation.metamorphic(data)} if arguments.metamorphic else {})


async def _rejection_report(evaluation: Evaluation, path: Path, options: ChunkOptions) -> dict[str, Any]:
    """The same figures for the product, and for cosine and BM25 as its only scorers, each with a gate of its own."""
    rows = read_rows(path, **_OWN_DOCUMENTS, answerable=bool, answer_parts=list)
    data = build_own_documents("rejection", rows, options)
    report = report_rejection(rows, await evaluation.run_own_documents(data))
    for name, reranker in _SINGLE_SCORERS.items():
        report[name] = report_rejection(rows, await evaluation.run_own_documents(data, reranker))
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a report, 1 when something could not be read, run or written, 2 for wrong arguments, 3 when the
    gate does not let it pass.
    """
    options = _parse(arguments)
    try:
        report = asyncio.run(_evaluate(options, load_settings()))
        text = json.dumps(report, ensure_ascii=False, indent=2)
        print(text)
        if options.json:
            options.json.write_text(text + "\n", "utf-8")
    except (KnowledgeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    failed = check_report(report, options.fail_under, options.fail_over)
    for reason in failed:
        print(reason, file=sys.stderr)
    return 3 if failed else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/evaluate.py", description="评测检索、拒答、回答与多轮对话")
    parser.add_argument("--set", type=Path, metavar="DIR", help="评测集文件夹")
    parser.add_argument("--out-of-domain", type=Path, metavar="FILE", help="域外问题，JSONL：id、text")
    parser.add_argument("--run", type=Path, metavar="OUT.jsonl", help="逐题或逐轮的结果写到这里")
    parser.add_argument("--json", type=Path, metavar="OUT", help="报告写到这里")
    parser.add_argument("--baselines", action="store_true", help="同时给出 BM25、向量与普通 RRF 的指标")
    parser.add_argument("--metamorphic", action="store_true", help="同时看换个说法问，第一名的来源变不变")
    parser.add_argument("--rejection", type=Path, metavar="FILE", help="每题只对它自己的文档，看该拒答时是否拒答")
    parser.add_argument("--injection", type=Path, metavar="FILE", help="文档里藏有指令，看回答是否中招")
    parser.add_argument("--counterfactual", type=Path, metavar="FILE", help="文档与常识不符，看校验是否只认文档")
    parser.add_argument("--corruptions", type=Path, metavar="DIR", help="改坏该评测集的回答，看校验能否发现")
    parser.add_argument("--safety", type=Path, metavar="FILE", help="攻击与正常消息，看该拦的是否拦下")
    parser.add_argument("--curated", type=Path, metavar="DIR", help="把该评测集的问法当作精选问答，看答得准不准")
    parser.add_argument("--routing", type=Path, metavar="FILE", help="标注了意图的消息，看路由是否正确")
    parser.add_argument("--kb", type=Path, metavar="DIR", action="append", default=[], help="路由时的知识库，可重复")
    _add_chat_arguments(parser)
    options = parser.parse_args(arguments)
    if problem := _misuse(options):
        parser.error(problem)
    return options


def _add_chat_arguments(parser: argparse.ArgumentParser) -> None:
    """What is measured through the chat itself."""
    chat = parser.add_argument_group("经由对话")
    chat.add_argument("--dialogues", type=Path, metavar="FILE", help="逐轮标注的对话，按规则判对错")
    chat.add_argument(
        "--model", action="store_true", help="--dialogues 播放两遍，有配置的大模型和没有大模型，对照正确、误答与花费"
    )
    chat.add_argument("--first", type=int, metavar="N", help="只播放 --dialogues 的前 N 个会话")
    chat.add_argument("--danger", type=Path, metavar="FILE", help="险情与骗局、形似的和平常的消息，只给漏报率和误报率")
    chat.add_argument("--docs", type=Path, metavar="DIR", action="append", default=[], help="对话的知识库，默认示例")
    chat.add_argument(
        "--business", action=argparse.BooleanOptionalAction, help="接上当天的示例业务库；没给 --docs 时默认接上"
    )
    chat.add_argument("--show", type=int, default=0, metavar="N", help="打印前 N 个没答对的轮次")
    chat.add_argument(
        "--through",
        choices=("parts", "chat"),
        default="parts",
        help="--set 的问题、--routing 的消息只经一部分，或整个对话",
    )
    chat.add_argument("--fail-under", type=_share, metavar="X", help="正确的轮次占比低于 X（0 到 1）时以 3 退出")
    chat.add_argument("--fail-over", type=_share, metavar="X", help="误答的轮次占比高于 X（0 到 1）时以 3 退出")
    chat.add_argument("--cache", type=Path, default=Path(".cache"), metavar="DIR", help="向量缓存，默认 .cache")


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _misuse(options: argparse.Namespace) -> str:
    """What is wrong with options that do not go together; empty for nothing."""
    tasks = (*_PART_BY_PART, "dialogues", "danger")
    if not any(getattr(options, task) for task in tasks):
        return f"请给出 {'、'.join(f'--{task}' for task in tasks)} 之一"
    if not options.set and (options.out_of_domain or options.baselines or options.metamorphic):
        return "--out-of-domain、--baselines 和 --metamorphic 要与 --set 一起用"
    routed = bool(options.routing) and options.through == "chat"
    if [bool(options.set), bool(options.dialogues), routed].count(True) != 1 and options.run:
        return "--run 要与 --set、--dialogues 或 --routing … --through chat 之一一起用"
    gated = options.fail_under is not None or options.fail_over is not None
    if gated and not options.dialogues:
        return "--fail-under、--fail-over 要与 --dialogues 一起用"
    if options.model and not options.dialogues:
        return "--model 要与 --dialogues 一起用"
    if options.first is not None and (options.first < 1 or not options.dialogues):
        return "--first 要与 --dialogues 一起用，至少为 1"
    if options.docs and not (options.dialogues or options.danger):
        return "--docs 要与 --dialogues 或 --danger 一起用"
    if options.through == "chat" and (not (options.set or routed) or options.baselines or options.metamorphic):
        return "--through chat 要与 --set 或 --routing 一起用，不能带 --baselines、--metamorphic"
    if bool(options.routing) != bool(options.kb or routed):
        return "--routing 要与 --kb 或 --through chat 一起用"
    for path in (options.run, options.json):
        if path and not path.resolve().parent.is_dir():  # not after minutes of work
            return f"没有文件夹 {path.resolve().parent}"
    return ""


if __name__ == "__main__":
    configure_logging("WARNING")
    raise SystemExit(main())
