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
from agents.types import Done, Question
from agents.understanding.normalise import normalise_text
from app.chat.answer_pipeline import correct_spelling
from app.chat.guard import Guard
from app.evaluation.results import check_report
from app.logging import configure_logging
from app.progress import ProgressBar
from app.retrieval import (
    build_default_profile,
    build_knowledge_policy,
    build_reranker_options,
    build_retrieval_options,
    chunk_options,
)
from app.settings import Settings, load_settings
from app.wiring.models import LanguageModels
from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
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
from knowledge.types import Chunk, Vector
from scripts.evaluation.curated import measure_curated
from scripts.evaluation.metamorphic import measure_manners
from scripts.evaluation.product import open_embedder
from scripts.evaluation.routing import measure_router
from scripts.evaluation.safety import measure_safety
from scripts.evaluation.through_chat import (
    measure_danger,
    measure_dialogues,
    measure_questions,
    measure_routing,
)
from scripts.evaluation.verification import measure_corruptions, measure_counterfactuals

_OWN_DOCUMENTS = {"id": str, "question": str, "docs": list}
# What is measured with parts of the product; whole conversations need all of it.
_PART_BY_PART = ("set", "rejection", "injection", "counterfactual", "corruptions", "safety", "routing", "curated")
# What needs the libraries of `knowledge.evaluation.metrics`.
_MEASURED = ("set", "rejection")
# Name in the report -> reranker. `lexical` is BM25 as a share of what the question could reach.
_SINGLE_SCORERS = {"dense": "cosine", "bm25": "lexical"}


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
        return await self._run_groups(data.name, data.chunks, groups, self._settings.reranker)

    async def measure_metamorphic(self, data: EvalSet) -> dict[str, dict[str, float]]:
        """Whether the answerable questions find the same, asked in other manners."""
        options = build_retrieval_options(self._settings)
        with closing(get_reranker(self._settings.reranker, build_reranker_options(self._settings))) as scorer:
            async with build_retriever(data.chunks, self._embedder, self._analyzer, scorer, options) as retriever:
                return await measure_manners(retriever, data)

    async def run_own_documents(self, data: OwnDocuments, reranker: str | None = None) -> list[QuestionResult]:
        """Every question against its own documents alone."""
        reranker = reranker or self._settings.reranker
        (results,) = await self._run_groups(data.name, data.chunks, [data.questions], reranker, data.scopes)
        return results

    async def measure_safety(self, path: Path) -> dict[str, Any]:
        """What the guard and the classifier reject."""
        return await measure_safety(read_rows(path, text=str), Guard(self._settings.max_message_chars), self._embedder)

    async def measure_curated(self, folder: Path, options: ChunkOptions) -> dict[str, Any]:
        """What curated answers would say to the questions of a set."""
        data, pairs = load_set(folder, None, options), folder / "pairs.jsonl"
        has_pairs = await asyncio.to_thread(pairs.exists)
        return await measure_curated(data, pairs if has_pairs else None, self._embedder)

    async def measure_routing(self, path: Path, folders: Sequence[Path], options: ChunkOptions) -> dict[str, Any]:
        """Where the router sends labelled messages of a tenant with these knowledge bases."""
        with ProgressBar(None, "路由", "条") as routed:
            return await measure_router(path, folders, self._embedder, options, routed.update)

    async def _run_groups(
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
                answer = self._build_answerer(retriever)
                return [
                    await run_questions(retriever, answer, group, asked.update, scopes, normalise_text)
                    for group in groups
                ]

    def _build_answerer(self, retriever: Retriever) -> Answerer:
        profile = build_default_profile(self._settings)
        generator = self._models.build_generator(self._analyzer, profile)
        agent = KnowledgeAgent(retriever, generator, build_knowledge_policy(self._settings, profile))

        async def answer(text: str, vector: Vector, where: Filter) -> AgentReply:
            question = Question(text, vector=vector, where=where)
            question = replace(question, rewrite=await correct_spelling(retriever.speller, question))
            async for event in agent.run(question):
                if isinstance(event, Done):
                    return AgentReply(event.answer.outcome.value, event.answer.reply)
            raise RuntimeError("the agent ended without an answer")

        return answer


def _build_lines(data: EvalSet, results: Sequence[QuestionResult]) -> list[str]:
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
        report |= await measure_dialogues(arguments, settings)
    if arguments.danger:
        report |= await measure_danger(arguments, settings)
    if arguments.set and arguments.through == "chat":
        report |= await measure_questions(arguments, settings)
    elif arguments.routing and arguments.through == "chat":
        report |= await measure_routing(arguments, settings)
    elif any(getattr(arguments, task) for task in _PART_BY_PART):
        report |= await _evaluate_parts(arguments, settings)
    return report


async def _evaluate_parts(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    with open_embedder(settings) as embedder:
        async with LanguageModels(settings) as models:
            evaluation = Evaluation(settings, embedder, models)
            report: dict[str, Any] = {"embedder": embedder.name, "reranker": settings.reranker}
            if models.main is not None:
                report["llm"] = models.main.name
            return report | await _measure_parts(evaluation, arguments, chunk_options(settings))


async def _measure_parts(
    evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions
) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if arguments.set:
        report |= await _measure_set(evaluation, arguments, options)
    if arguments.rejection:
        report["rejection"] = await _measure_rejection(evaluation, arguments.rejection, options)
    if arguments.injection:
        rows = read_rows(arguments.injection, **_OWN_DOCUMENTS, gold_text=str)
        data = build_own_documents("injection", rows, options)
        report["injection"] = report_injection(rows, await evaluation.run_own_documents(data))
    if arguments.counterfactual:
        rows = read_rows(arguments.counterfactual, **_OWN_DOCUMENTS, answer=str, fake_answer=str)
        report["counterfactual"] = measure_counterfactuals(rows)
    if arguments.corruptions:
        samples = load_set(arguments.corruptions, None, options)
        results, *_ = await evaluation.run_set(samples)
        report["corruptions"] = measure_corruptions(results, [chunk.text for chunk in samples.chunks])
    if arguments.safety:
        report["safety"] = await evaluation.measure_safety(arguments.safety)
    if arguments.curated:
        report["curated"] = await evaluation.measure_curated(arguments.curated, options)
    if arguments.routing:
        report["routing"] = await evaluation.measure_routing(arguments.routing, arguments.kb, options)
    return report


async def _measure_set(evaluation: Evaluation, arguments: argparse.Namespace, options: ChunkOptions) -> dict[str, Any]:
    data = load_set(arguments.set, arguments.out_of_domain, options)
    groups = await evaluation.run_set(data)
    if arguments.run:
        lines = [line for group in groups for line in _build_lines(data, group)]
        arguments.run.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    report = build_set_report(data, *groups, baselines=arguments.baselines)
    return report | ({"metamorphic": await evaluation.measure_metamorphic(data)} if arguments.metamorphic else {})


async def _measure_rejection(evaluation: Evaluation, path: Path, options: ChunkOptions) -> dict[str, Any]:
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
    options = _parse_arguments(arguments)
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


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
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
    if problem := _find_misuse(options):
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
    chat.add_argument("--fail-under", type=_parse_share, metavar="X", help="正确的轮次占比低于 X（0 到 1）时以 3 退出")
    chat.add_argument("--fail-over", type=_parse_share, metavar="X", help="误答的轮次占比高于 X（0 到 1）时以 3 退出")
    chat.add_argument("--cache", type=Path, default=Path(".cache"), metavar="DIR", help="向量缓存，默认 .cache")


def _parse_share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _find_misuse(options: argparse.Namespace) -> str:
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
