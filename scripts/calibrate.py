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
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from agents.understanding.normalise import normalise_text
from app.progress import ProgressBar
from app.retrieval import chunk_options
from app.settings import Settings, load_settings
from knowledge.errors import KnowledgeError, MissingDependency
from knowledge.evaluation.cutoffs import Cutoff, Probabilities, Recommendation, choose_cutoff, list_cutoffs
from knowledge.evaluation.dataset import EvalSet, load_set
from knowledge.evaluation.runner import run_questions
from scripts.commands import check_folders, parse_share
from scripts.evaluation.parts import open_retriever
from scripts.evaluation.product import open_embedder
from scripts.evaluation.reader_verdicts import add_reader_arguments, judge_base

# Every fifth row of the curve is printed.
_TABLE_STEP = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a recommendation that keeps the limit, 1 without one or when something could not be read."""
    options = _parse_arguments(arguments)
    try:
        settings = load_settings()
        if options.reader:
            return asyncio.run(judge_base(settings, options))
        data = load_set(options.set, options.out_of_domain, chunk_options(settings))
        probabilities = asyncio.run(_measure_probabilities(settings, data))
        rates = list_cutoffs(probabilities)
        best = choose_cutoff(rates, options.max_false_answer)
        _print_table(probabilities, rates, best, options.max_false_answer)
        if options.json:
            text = json.dumps(_build_report(data, settings, probabilities, rates, best), ensure_ascii=False, indent=2)
            options.json.write_text(text + "\n", "utf-8")
        if options.png:
            _plot_curve(options.png, data.name, rates, best, settings.similarity_threshold)
    except (KnowledgeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if best.met else 1


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/calibrate.py", description="按标注集给出各个门槛的误答率与误拒率，并推荐一个"
    )
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--set", type=Path, metavar="DIR", help="评测集文件夹")
    kinds.add_argument("--reader", action="store_true", help="请配置的大模型就知识库出题、判断，校准不用大模型的门槛")
    add_reader_arguments(parser)
    parser.add_argument("--out-of-domain", type=Path, metavar="FILE", help="域外问题，JSONL：id、text")
    parser.add_argument(
        "--max-false-answer", type=parse_share, metavar="RATE", help="误答率上限；不给则取两种错误率平均最低的"
    )
    parser.add_argument("--png", type=Path, metavar="OUT.png", help="曲线图写到这里")
    parser.add_argument("--json", type=Path, metavar="OUT", help="全部数字写到这里")
    options = parser.parse_args(arguments)
    check_folders(parser, options.png, options.json, options.out)
    return options


async def _measure_probabilities(settings: Settings, data: EvalSet) -> Probabilities:
    questions = data.questions
    with open_embedder(settings) as embedder:
        async with open_retriever(settings, embedder, data.chunks, title=data.name) as retriever:
            with ProgressBar(len(questions), "提问", "问") as asked:
                results = await run_questions(retriever, None, questions, asked.update, searched=normalise_text)
            least = retriever.options.gate.min_surviving
    return Probabilities(
        [result.find_passing_threshold(least) for result in results if result.question.answerable],
        [result.find_passing_threshold(least) for result in results if not result.question.answerable],
    )


def _print_table(
    probabilities: Probabilities, rates: Sequence[Cutoff], best: Recommendation, limit: float | None
) -> None:
    print(f"能回答的问题 {len(probabilities.answerable)} 个，不能回答的问题 {len(probabilities.open_ones)} 个\n")
    print("  门槛    误拒率    误答率")
    for rate in rates[::_TABLE_STEP]:
        print(_format_row(rate))
    criterion = "误拒率与误答率的平均最低" if limit is None else f"误答率不超过 {limit:.1%} 的门槛里误拒率最低"
    print(f"\n推荐 SIMILARITY_THRESHOLD={best.cutoff.threshold:g}（标准：{criterion}；并列时取最高的门槛）")
    print(_format_row(best.cutoff))
    if not best.met:
        print("没有门槛能满足这个上限，上面是误答率最低的一个", file=sys.stderr)


def _format_row(rate: Cutoff) -> str:
    return f"  {rate.threshold:.2f}   {rate.false_refusal:7.1%}   {rate.false_answer:7.1%}"


def _build_report(
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


def _plot_curve(path: Path, title: str, rates: Sequence[Cutoff], best: Recommendation, current: float) -> None:
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
