"""What each SIMILARITY_THRESHOLD would cost on a labelled set: `python scripts/calibrate.py --set DIR`; with `--reader`
the company's own model labels questions about its base.

The product's own retriever, calibrated on the set's documents, gives every question its probability.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from agents.understanding.normalise import normalise_text
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.progress import ProgressBar, show_progress
from app.retrieval import build_embedder_options, build_reranker_options, build_retrieval_options, chunk_options
from app.settings import Settings, load_settings
from app.wiring.knowledge import get_embeddings_path
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import KnowledgeError, MissingDependency
from knowledge.evaluation.cutoffs import Cutoff, Probabilities, Recommendation, choose_cutoff, list_cutoffs
from knowledge.evaluation.dataset import EvalQuestion, EvalSet, load_set
from knowledge.evaluation.runner import build_retriever
from knowledge.rerankers.registry import get_reranker
from knowledge.retriever import Retriever
from knowledge.text import Analyzer
from knowledge.types import QuestionVectors, Retrieval
from scripts.evaluation.reader_verdicts import add_reader_arguments, judge_base

# Every fifth row of the curve is printed.
_TABLE_STEP = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a recommendation that keeps the limit, 1 without one or when something could not be read."""
    options = _parse(arguments)
    try:
        settings = load_settings()
        if options.reader:
            return asyncio.run(judge_base(settings, options))
        data = load_set(options.set, options.out_of_domain, chunk_options(settings))
        probabilities = asyncio.run(_probabilities(settings, data))
        rates = list_cutoffs(probabilities)
        best = choose_cutoff(rates, options.max_false_answer)
        _print(probabilities, rates, best, options.max_false_answer)
        if options.json:
            text = json.dumps(_report(data, settings, probabilities, rates, best), ensure_ascii=False, indent=2)
            options.json.write_text(text + "\n", "utf-8")
        if options.png:
            _plot(options.png, data.name, rates, best, settings.similarity_threshold)
    except (KnowledgeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if best.met else 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/calibrate.py", description="按标注集给出各个门槛的误答率与误拒率，并推荐一个"
    )
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--set", type=Path, metavar="DIR", help="评测集文件夹")
    kinds.add_argument("--reader", action="store_true", help="请配置的大模型就知识库出题、判断，校准不用大模型的门槛")
    add_reader_arguments(parser)
    parser.add_argument("--out-of-domain", type=Path, metavar="FILE", help="域外问题，JSONL：id、text")
    parser.add_argument(
        "--max-false-answer", type=_rate, metavar="RATE", help="误答率上限；不给则取两种错误率平均最低的"
    )
    parser.add_argument("--png", type=Path, metavar="OUT.png", help="曲线图写到这里")
    parser.add_argument("--json", type=Path, metavar="OUT", help="全部数字写到这里")
    options = parser.parse_args(arguments)
    for path in (options.png, options.json, options.out):
        if path and not path.resolve().parent.is_dir():  # not after minutes of work
            parser.error(f"没有文件夹 {path.resolve().parent}")
    return options


def _rate(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("须在 0 到 1 之间")
    return value


async def _probabilities(settings: Settings, data: EvalSet) -> Probabilities:
    with (
        closing(SqliteEmbeddingCache(get_embeddings_path(settings))) as cache,
        closing(get_embedder(settings.embedder, cache, build_embedder_options(settings))) as embedder,
        closing(get_reranker(settings.reranker, build_reranker_options(settings))) as reranker,
        ProgressBar(len(data.chunks), f"{data.name} 向量", "段") as embedded,
    ):
        async with build_retriever(
            data.chunks, embedder, Analyzer(), reranker, build_retrieval_options(settings), embedded.update
        ) as retriever:
            embedded.close()
            answerable = await _ask(retriever, data.answerable)
            return Probabilities(answerable, await _ask(retriever, (*data.unanswerable, *data.out_of_domain)))


async def _ask(retriever: Retriever, questions: Sequence[EvalQuestion]) -> list[float]:
    texts = [normalise_text(question.text) for question in questions]
    vectors = await retriever.embedder.embed_questions(texts)
    pairs = zip(texts, vectors, strict=True)
    return [
        _deciding(await retriever.search(text, vectors=QuestionVectors(vector), explain=True), retriever)
        for text, vector in show_progress(pairs, len(texts), "提问", "问")
    ]


def _deciding(retrieval: Retrieval, retriever: Retriever) -> float:
    """The highest threshold at which this question is answered: that of the last candidate that has to survive."""
    place = retriever.options.gate.min_surviving - 1
    ordered = sorted((candidate.probability for candidate in retrieval.candidates), reverse=True)
    return ordered[place] if place < len(ordered) else 0.0


def _print(probabilities: Probabilities, rates: Sequence[Cutoff], best: Recommendation, limit: float | None) -> None:
    print(f"能回答的问题 {len(probabilities.answerable)} 个，不能回答的问题 {len(probabilities.open_ones)} 个\n")
    print("  门槛    误拒率    误答率")
    for rate in rates[::_TABLE_STEP]:
        print(_row(rate))
    criterion = "误拒率与误答率的平均最低" if limit is None else f"误答率不超过 {limit:.1%} 的门槛里误拒率最低"
    print(f"\n推荐 SIMILARITY_THRESHOLD={best.cutoff.threshold:g}（标准：{criterion}；并列时取最高的门槛）")
    print(_row(best.cutoff))
    if not best.met:
        print("没有门槛能满足这个上限，上面是误答率最低的一个", file=sys.stderr)


def _row(rate: Cutoff) -> str:
    return f"  {rate.threshold:.2f}   {rate.false_refusal:7.1%}   {rate.false_answer:7.1%}"


def _report(
    data: EvalSet,
    settings: Settings,
    probabilities: Probabilities,
    rates: Sequence[Cutoff],
    best: Recommendation,
) -> dict[str, Any]:
    return {
        "set": data.name,
        "reranker": settings.reranker,
        "answerable": len(probabilities.answerable),
        "open": len(probabilities.open_ones),
        "cutoffs": [asdict(rate) for rate in rates],
        "recommended": asdict(best.cutoff),
        "within_limit": best.met,
    }


def _plot(path: Path, title: str, rates: Sequence[Cutoff], best: Recommendation, current: float) -> None:
    """English words: few servers have a font with Chinese characters."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("--png 需要 matplotlib：请运行 pip install -r requirements.txt") from error
    figure = Figure(figsize=(7, 4.2), dpi=150, layout="constrained")  # without pyplot it is always drawn by Agg
    axes = figure.add_subplot()
    thresholds = [rate.threshold for rate in rates]
    axes.plot(thresholds, [rate.false_refusal for rate in rates], color="#1f6feb", label="false refusals")
    axes.plot(thresholds, [rate.false_answer for rate in rates], color="#d1242f", label="false answers")
    axes.axvline(best.cutoff.threshold, color="#1a7f37", label=f"recommended {best.cutoff.threshold:g}")
    axes.axvline(current, color="#6e7781", linestyle=":", label=f"SIMILARITY_THRESHOLD {current:g}")
    axes.set(xlabel="threshold on the calibrated probability", ylabel="share of questions", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(title if title.isascii() else "labelled set")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, format="png")


if __name__ == "__main__":
    raise SystemExit(main())
