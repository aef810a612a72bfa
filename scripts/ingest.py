"""Takes files and folders into the knowledge base: `python scripts/ingest.py PATH…`, and by many workers from folders
and object stores: `python scripts/ingest.py --distributed URL…`.

While a server runs on the same DATA_DIR the files are committed to the database and the server's index is waited for;
otherwise this process keeps the index itself. A server at HOST and PORT that works on another database is told of.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.auth.principal import DEFAULT_TENANT
from app.distributed.files import StoredFile, find_stored
from app.distributed.pipeline import RayOptions, run_ray
from app.distributed.service import MassIngestion, PreparedReader
from app.documents.files import FoundFile, SamePath, Skipped, find_files
from app.documents.progress import IngestionBar
from app.documents.types import Change, FileOutcome, FileReport, Labels
from app.documents.versions_schemas import MAX_AUTHOR_CHARS, MAX_REASON_CHARS
from app.private import keep_private
from app.settings import Settings, load_settings
from app.wiring.knowledge import KnowledgeBase, open_knowledge
from app.wiring.reading import open_reader
from knowledge.errors import KnowledgeError
from knowledge.parsing.registry import LEGACY, PARSERS
from knowledge.types import FaqColumns
from scripts.commands import lock_data_dir, parse_positive, parse_tenant
from scripts.other_server import warn_of_other_database

_LABELS = {
    FileOutcome.CREATED: "新增",
    FileOutcome.UPDATED: "更新",
    FileOutcome.UNCHANGED: "未变",
    FileOutcome.DRAFTED: "草稿",
    FileOutcome.FAILED: "失败",
}

_REASONS = {
    Skipped.LINK: "是符号链接，目录里的链接不会被导入",
    Skipped.UNSUPPORTED: f"类型不支持，可导入的类型是 {'、'.join(PARSERS | LEGACY)}",
    Skipped.PICTURE: "是图片，不随目录导入；要识别其中的文字，请直接写出文件名",
}
_SKIPPED = {Skipped.LINK: "符号链接", Skipped.UNSUPPORTED: "类型不支持", Skipped.PICTURE: "图片"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when every file answers, 1 when one failed or the index did not follow in time."""
    options = _parse_arguments(arguments)
    try:
        skipped: Counter[Skipped] = Counter()
        files: list[Any]
        if options.distributed:
            files = find_stored(options.paths, partial(_report_skipped, skipped), options.folder)
        else:
            files = find_files(map(Path, options.paths), partial(_report_skipped, skipped), options.folder)
        settings = load_settings()
        keep_private(settings.data_dir)
        if warning := warn_of_other_database(settings):
            print(warning, file=sys.stderr)
        with lock_data_dir(settings) as owns_index:
            return asyncio.run(_run_ingestion(settings, options, files, skipped, owns_index))
    except FileNotFoundError as error:
        print(f"找不到文件或目录：{error}", file=sys.stderr)
    except (KnowledgeError, SamePath) as error:
        print(str(error), file=sys.stderr)
    return 1


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/ingest.py", description="把文件或目录导入知识库")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="文件或目录；目录逐层查找，其中的符号链接不导入")
    parser.add_argument(
        "--distributed",
        action="store_true",
        help="用 Ray 由多个进程或多台机器解析、向量化；PATH 也可以是 s3://桶/目录 等",
    )
    parser.add_argument("--workers", type=parse_positive, default=2, metavar="N", help="--distributed 的进程数，默认 2")
    parser.add_argument("--ray", default="", metavar="地址", help="已有的 Ray 集群；不给时在本机临时启动一个")
    parser.add_argument(
        "--ray-memory", type=parse_positive, default=256, metavar="MB", help="本机 Ray 的对象内存，默认 256"
    )
    parser.add_argument(
        "--folder",
        metavar="目录",
        help="放到知识库的这个目录之下，子目录照旧；给了几个 PATH 时，其中的目录保留自己的名字。"
        "不给时用目录自己的名字，单个文件用它所在目录的名字",
    )
    parser.add_argument("--category", help="文档分类；不给时取目录下第一层子目录名")
    parser.add_argument("--tag", action="append", dest="tags", metavar="TAG", help="文档标签，可重复")
    parser.add_argument("--tenant", default=DEFAULT_TENANT, type=parse_tenant, help="租户，默认 default")
    parser.add_argument("--wait", type=float, default=300.0, metavar="秒", help="等待索引的最长时间，默认 300")
    parser.add_argument("--question-column", metavar="列", help="问答表里的问题列：表头里的名字，或列号（B）")
    parser.add_argument("--answer-column", metavar="列", help="问答表里的答案列；和 --question-column 一起给")
    parser.add_argument("--draft", action="store_true", help="只存为草稿：审核、发布之前不会用来回答")
    parser.add_argument("--author", default="", metavar="姓名", help="谁改的，记在版本里")
    parser.add_argument("--reason", default="", metavar="原因", help="为什么改，记在版本里")
    options = parser.parse_args(arguments)
    if len(options.author) > MAX_AUTHOR_CHARS or len(options.reason) > MAX_REASON_CHARS:
        parser.error(f"--author 最多 {MAX_AUTHOR_CHARS} 个字，--reason 最多 {MAX_REASON_CHARS} 个字")
    if bool(options.question_column) != bool(options.answer_column):
        parser.error("--question-column 和 --answer-column 要一起给")
    return options


def _report_skipped(skipped: Counter[Skipped], path: Path, why: Skipped) -> None:
    skipped[why] += 1
    print(f"跳过  {path}：{_REASONS[why]}")


async def _run_ingestion(
    settings: Settings, options: argparse.Namespace, files: list[Any], skipped: Counter[Skipped], owns_index: bool
) -> int:
    if not owns_index:
        print("服务正在运行：文件写入数据库后由服务更新索引")
    if options.distributed:
        limits = RayOptions(options.workers, options.ray_memory, options.ray)
        with run_ray(limits):  # first: it forks, which is safe while no client of a store has threads
            reports = await _ingest_distributed(settings, options, files, owns_index, limits)
        return _print_reports(reports, skipped, options.wait)
    async with open_knowledge(settings, owns_index=owns_index, wait_seconds=options.wait) as base:
        reports = await _ingest_files(base, settings, options, files)
    return _print_reports(reports, skipped, options.wait)


async def _ingest_distributed(
    settings: Settings, options: argparse.Namespace, files: list[StoredFile], owns_index: bool, limits: RayOptions
) -> list[FileReport]:
    """Inside `run_ray`. A run that is killed is begun again and goes on where it was."""
    async with open_reader(settings) as here:
        reader, reports = PreparedReader(here), []
        async with open_knowledge(settings, owns_index=owns_index, wait_seconds=options.wait, reader=reader) as base:
            labels = Labels(options.category, tuple(options.tags) if options.tags else None)
            mass = MassIngestion(base, reader, labels, _read_change(options))
            work = await mass.build_work(settings, options.tenant, files, _read_columns(options))
            with IngestionBar([1] * len(files), "导入") as bar:
                async for report in mass.run(work, limits):
                    reports.append(report)
                    bar.finish_file(report.name)
            ready = await base.ingestion.wait_until_indexed(
                options.tenant, max((one.revision for one in reports), default=0)
            )
        return [replace(report, ready=ready and report.error is None) for report in reports]


def _read_columns(options: argparse.Namespace) -> FaqColumns | None:
    return FaqColumns(options.question_column, options.answer_column) if options.question_column else None


def _read_change(options: argparse.Namespace) -> Change:
    return Change(options.author, options.reason, options.draft)


async def _ingest_files(
    base: KnowledgeBase, settings: Settings, options: argparse.Namespace, files: list[FoundFile]
) -> list[FileReport]:
    reports: list[FileReport] = []
    tags = tuple(options.tags) if options.tags else None
    columns, change = _read_columns(options), _read_change(options)
    with IngestionBar([file.size for file in files], "导入") as bar:
        for category, group in groupby(files, key=lambda file: file.category):
            chosen = options.category if options.category is not None else category or None
            contents = bar.read_files(group, settings.max_upload_bytes)
            reports += await base.ingestion.add(options.tenant, contents, chosen, tags, bar.show_step, columns, change)
    return reports


def _print_reports(reports: list[FileReport], skipped: Counter[Skipped], waited: float) -> int:
    for report in reports:
        detail = f"：{report.error}" if report.error else f"（{report.chunks} 个片段）"
        if report.same_as:
            detail = f"（内容与《{report.same_as}》相同）"
        if report.previous:
            detail += f"，替换了《{report.previous.path}》第 {report.previous.version} 版"
        print(f"{_LABELS[report.outcome]}  {report.path}{detail}")
        for notice in report.notices:
            print(f"      {notice.message}")
    count = Counter(report.outcome for report in reports)
    shown = [outcome for outcome in _LABELS if count[outcome] or outcome is not FileOutcome.DRAFTED]
    told = [f"{_LABELS[outcome]} {count[outcome]}" for outcome in shown]
    print(f"共 {len(reports)} 个文件：" + "，".join(told))
    if skipped:
        counts = "，".join(f"{_SKIPPED[why]} {skipped[why]}" for why in Skipped if skipped[why])
        print(f"跳过 {skipped.total()} 个文件：{counts}")
    if count[FileOutcome.DRAFTED]:
        print("草稿还不会用来回答：请在管理后台的文档页里试一试、提交审核并发布")
    if any(not report.ready for report in reports if report.error is None):
        print(f"已写入数据库，但索引在 {waited:g} 秒内没有跟上；服务会继续更新，请查看服务日志", file=sys.stderr)
        return 1
    return 1 if count[FileOutcome.FAILED] else 0


if __name__ == "__main__":
    raise SystemExit(main())
