"""Measures speed and memory of the product: `python scripts/benchmark.py retrieval --set DIR`, scale, http, ttft, ...

Every ratio is taken within one run. Each subcommand takes `[--json OUT]`.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.settings import load_settings
from knowledge.errors import KnowledgeError
from knowledge.stores.registry import STORES
from scripts.benchmarks import http, ingest, retrieval, scale
from scripts.commands import add_json_option, check_folders, parse_positive, write_report


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a report, 1 when something could not be read, run or written."""
    options = _parse_arguments(arguments)
    try:
        write_report(options.run(options, load_settings()), options.json)
    except (KnowledgeError, OSError, subprocess.CalledProcessError) as error:  # the last one: a size in its own process
        print(error, file=sys.stderr)
        return 1
    return 0


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/benchmark.py", description="测速度与内存；比值都在同一次运行里取")
    commands = parser.add_subparsers(dest="command", required=True, metavar="命令")
    command = _add_command(commands, "retrieval", "一个评测集上，检索各步的耗时")
    command.add_argument("--set", type=Path, required=True, metavar="DIR", help="评测集文件夹")
    _add_number(command, "--questions", retrieval.QUESTIONS, "问几句")
    command.set_defaults(
        run=lambda options, settings: asyncio.run(retrieval.run_retrieval(options.set, options.questions, settings))
    )
    command = _add_command(commands, "scale", "合成的大知识库；召回率不到 0.95 的耗时不算数")
    command.add_argument(
        "--chunks", type=parse_positive, nargs="+", required=True, metavar="N", help="片段数，可以给几个"
    )
    command.add_argument(
        "--store", choices=tuple(STORES), nargs="+", metavar="S", help="存储，可以给几个；默认是 VECTOR_STORE"
    )
    _add_number(command, "--questions", scale.QUESTIONS, "问几句")
    command.set_defaults(
        run=lambda options, settings: scale.run_scale(
            options.chunks, options.questions, options.store or [settings.vector_store], settings
        )
    )
    command = _add_command(commands, "http", "命中缓存与不命中时每秒的请求数，旁边是空的 FastAPI 接口")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--rounds", http.ROUNDS, "轮数")
    command.set_defaults(run=lambda options, settings: http.run_http(settings, options.set, options.rounds))
    command = _add_command(commands, "ttft", "首个 token 的时间，减去大模型自己的延迟与问题的向量")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--turns", http.ALONE, "问几句")
    command.set_defaults(run=lambda options, settings: http.run_ttft(settings, options.set, options.turns))
    command = _add_command(commands, "ingest", "导入文档的速度，旁边是直接调用向量模型；以及导入期间回答慢多少")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--rounds", ingest.ROUNDS, "轮数")
    command.set_defaults(run=lambda options, settings: ingest.run_ingest(settings, options.set, options.rounds))
    options = parser.parse_args(arguments)
    check_folders(parser, options.json)
    return options


def _add_command(commands: Any, name: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=description, description=description)
    add_json_option(parser)
    return parser


def _add_number(parser: argparse.ArgumentParser, name: str, default: int, description: str) -> None:
    parser.add_argument(
        name, type=parse_positive, default=default, metavar="N", help=f"{description}（默认 {default}）"
    )


if __name__ == "__main__":
    raise SystemExit(main())
