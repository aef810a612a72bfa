"""`scripts/calibrate.py --reader`: a company's own model labels questions about its base, for CALIBRATION_SET."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path

from agents.errors import GenerationError
from app.auth.principal import DEFAULT_TENANT
from app.errors import Conflict
from app.main import open_container
from app.private import keep_private
from app.progress import ProgressBar
from app.search.verdict_service import PASSAGES, TRIED, JudgingEstimate
from app.search.verdicts import BaseVerdict, fit_gate
from app.settings import Settings
from app.wiring.container import Container
from knowledge.calibration.fit import MIN_LABELLED
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.rows import write_rows
from scripts.evaluation.product import Setup, open_container_for


def add_reader_arguments(parser: argparse.ArgumentParser) -> None:
    """What belongs to `--reader`."""
    own = parser.add_argument_group("由大模型判断")
    own.add_argument("--docs", type=Path, metavar="DIR", action="append", help="知识库的文件；不给则用 DATA_DIR 里的")
    own.add_argument("--passages", type=int, default=PASSAGES, metavar="N", help=f"就几段出题，默认 {PASSAGES}")
    own.add_argument("--out", type=Path, metavar="OUT.jsonl", help="判断写到这里，给 CALIBRATION_SET 用")
    own.add_argument("--yes", action="store_true", help="不再问，直接开始")


async def judge_base(settings: Settings, options: argparse.Namespace) -> int:
    """Exit code: 0 with verdicts of both kinds, or where the estimate was not agreed to; 1 without. Raises
    InvalidConfiguration.
    """
    if options.out is None:
        raise InvalidConfiguration("--reader 要用 --out 说明判断写到哪个文件")
    async with _open_base(settings, options.docs or ()) as container:
        search = (await container.tenants.get_parts(DEFAULT_TENANT)).retriever
        try:
            prepared = container.judging.prepare(DEFAULT_TENANT, search, options.passages)
            verdicts, estimate = await prepared.try_some()
            print(_describe_estimate(estimate), file=sys.stderr)
            if not _ask_to_begin(options):
                return 0
            with ProgressBar(len(prepared.chunks), "出题与判断", "段") as bar:
                bar.update(TRIED)
                verdicts += await prepared.judge_rest(bar.update)
        except Conflict as error:
            raise InvalidConfiguration(str(error)) from error
        except GenerationError as error:
            print(f"大模型没有回答：{error}", file=sys.stderr)
            return 1
        write_rows(options.out, ({**asdict(each), "probability": round(each.probability, 4)} for each in verdicts))
        return _report_fit(verdicts, options.out, settings.similarity_threshold)


@asynccontextmanager
async def _open_base(settings: Settings, documents: Sequence[Path]) -> AsyncIterator[Container]:
    if documents:
        async with open_container_for(Setup(settings, Path(".cache"), tuple(documents))) as (container, _):
            yield container
        return
    keep_private(settings.data_dir)
    async with open_container(settings) as container:
        await container.startup.prepare()
        await container.reader.wait()
        yield container


def _describe_estimate(found: JudgingEstimate) -> str:
    """Of what is still to be done."""
    priced = f"，费用约 {found.cost:.2f}" if found.cost else "（没有设 LLM_PRICES，不算费用）"
    tokens = f"{found.prompt_tokens} / {found.completion_tokens}"
    return f"预计还要约 {math.ceil(found.seconds / 60)} 分钟，收发 {tokens} 个 token{priced}"


def _ask_to_begin(options: argparse.Namespace) -> bool:
    if options.yes:
        return True
    if not sys.stdin.isatty():
        print("要开始，请加 --yes", file=sys.stderr)
        return False
    return input("开始吗？[y/N] ").strip().lower() in ("y", "yes", "是")


def _report_fit(verdicts: Sequence[BaseVerdict], path: Path, threshold: float) -> int:
    fitted = fit_gate(verdicts, threshold)
    if fitted is None:
        print(f"明确的判断 {len(verdicts)} 个，两类各要 {MIN_LABELLED} 个以上才校准；请加大 --passages")
        return 1
    print(
        f"有答案的问题 {fitted.answerable} 个，没有的 {fitted.unanswerable} 个\n"
        f"不用大模型的门槛：AUROC {fitted.auroc:.3f}，"
        f"留出的一半上平衡正确率 {fitted.right_before:.1%}，按判断校准之后 {fitted.right_after:.1%}\n"
        f"设置 CALIBRATION_SET={path} 并重启，门槛即按这些判断校准"
    )
    return 0
