"""Measures the product: `python scripts/evaluate.py --set DIR`, `--dialogues FILE` for whole conversations.

Embeddings are kept, in DATA_DIR or in `--cache`, so that unchanged text is embedded once.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.evaluation.results import check_report
from app.logging import configure_logging
from app.settings import Settings, load_settings
from knowledge.errors import KnowledgeError
from scripts.commands import add_json_option, check_folders, parse_share, write_report
from scripts.evaluation.parts import PARTS, measure_parts
from scripts.evaluation.through_chat import measure_danger, measure_dialogues, measure_questions, measure_routing


async def _build_report(arguments: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    report: dict[str, Any] = {}
    if arguments.dialogues:
        report |= await measure_dialogues(arguments, settings)
    if arguments.danger:
        report |= await measure_danger(arguments, settings)
    if arguments.set and arguments.through == "chat":
        report |= await measure_questions(arguments, settings)
    elif arguments.routing and arguments.through == "chat":
        report |= await measure_routing(arguments, settings)
    elif any(getattr(arguments, part) for part in PARTS):
        report |= await measure_parts(arguments, settings)
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a report, 1 when something could not be read, run or written, 2 for wrong arguments, 3 when the
    gate does not let it pass.
    """
    options = _parse_arguments(arguments)
    try:
        report = asyncio.run(_build_report(options, load_settings()))
        write_report(report, options.json)
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
    add_json_option(parser)
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
    check_folders(parser, options.run, options.json)
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
    chat.add_argument("--fail-under", type=parse_share, metavar="X", help="正确的轮次占比低于 X（0 到 1）时以 3 退出")
    chat.add_argument("--fail-over", type=parse_share, metavar="X", help="误答的轮次占比高于 X（0 到 1）时以 3 退出")
    chat.add_argument("--cache", type=Path, default=Path(".cache"), metavar="DIR", help="向量缓存，默认 .cache")


def _find_misuse(options: argparse.Namespace) -> str:
    """What is wrong with options that do not go together; empty for nothing."""
    tasks = (*PARTS, "dialogues", "danger")
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
    return ""


if __name__ == "__main__":
    configure_logging("WARNING")
    raise SystemExit(main())
