"""Sources of documents: `python scripts/sources.py list`, `show ID`, `add NAME WHERE`, `sync ID`.

All work while a server runs; what `add` and `sync` ask for, the server does, now or at its next start.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pydantic import ValidationError

from app.auth.principal import DEFAULT_TENANT
from app.db.migrate import open_migrated
from app.errors import AppError, Conflict
from app.jobs.repository import RunRepository
from app.net.targets import check_url
from app.settings import Settings
from app.sources.folder import check_folder
from app.sources.repository import SourceRepository
from app.sources.schemas import SourceIn, WebsiteIn
from app.sources.service import KIND, ONE
from app.sources.types import FolderConfig, WatchedSource
from knowledge.errors import InvalidConfiguration
from scripts.commands import parse_tenant, run_with_settings

MOST = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 where there is no such source, 2 for what cannot be, of the configuration or of a new source."""
    options = _parse_arguments(arguments)
    try:
        return run_with_settings(lambda settings: _run_command(options, settings), (InvalidConfiguration, AppError))
    except ValidationError as error:
        for problem in error.errors():
            print(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}", file=sys.stderr)
        return 2


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/sources.py", description="数据来源：列出、查看、添加、同步")
    parser.add_argument("--tenant", type=parse_tenant, default=DEFAULT_TENANT)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="全部来源，与最近一次同步")
    show = commands.add_parser("show", help="一个来源，与它出错的网页或文件")
    show.add_argument("id")
    add = commands.add_parser("add", help="添加网站或文件夹")
    add.add_argument("name", help="名称，也是版本记录里的作者")
    add.add_argument("where", help="起始页或站点地图的网址，或服务器上文件夹的绝对路径")
    add.add_argument("--depth", type=int, default=2, help="网站：跟几层链接")
    add.add_argument("--max-pages", type=int, default=200, help="网站：一次最多几页")
    add.add_argument("--folder", default="", help="文档放在哪个目录下")
    add.add_argument("--interval", type=int, default=1440, metavar="MINUTES", help="每隔几分钟同步一次；0 只手动")
    sync = commands.add_parser("sync", help="让服务现在同步一次")
    sync.add_argument("id")
    return parser.parse_args(arguments)


async def _run_command(options: argparse.Namespace, settings: Settings) -> int:
    async with open_migrated(settings.sql_url) as database:
        rows = SourceRepository(database)
        if options.command == "list":
            counts = await rows.count_items(options.tenant)
            for source in await rows.list_all(options.tenant):
                print(_format_source(source, counts.get(source.id, {}).get("current", 0)))
            return 0
        if options.command == "add":
            print(_format_source(await _add_source(options, settings, rows), 0))
            return 0
        found = await rows.get(options.tenant, options.id)
        if found is None:
            print(f"没有数据来源 {options.id}", file=sys.stderr)
            return 1
        if options.command == "sync":
            run = await RunRepository(database).add(options.tenant, KIND, {ONE: found.id})
            print(f"任务 {run.id}：{run.state}")
        else:
            await _show_source(options.tenant, found, rows)
        return 0


async def _add_source(options: argparse.Namespace, settings: Settings, rows: SourceRepository) -> WatchedSource:
    """Adds the source that the options describe. Raises ValidationError, AppError."""
    common = {"name": options.name, "folder": options.folder, "interval_minutes": options.interval}
    # refused here as over HTTP: the server that syncs would only tell of it later
    if "://" in options.where:
        check_url(options.where, settings.fetch_policy)
        website = WebsiteIn(url=options.where, depth=options.depth, max_pages=options.max_pages)
        new = SourceIn(**common, website=website).new
    else:
        check_folder(options.where, settings.list_roots(options.tenant))
        new = SourceIn(**common, path=options.where).new
    made = await rows.add(options.tenant, new, settings.sources_per_tenant)
    if made is None:
        raise Conflict(f"最多可以有 {settings.sources_per_tenant} 个数据来源", code="too_many_sources")
    return made


async def _show_source(tenant_id: str, source: WatchedSource, rows: SourceRepository) -> None:
    states = (await rows.count_items(tenant_id)).get(source.id, {})
    print(_format_source(source, states.get("current", 0)))
    print("  ".join(f"{state} {count}" for state, count in sorted(states.items())))
    failing, total = await rows.load_page(tenant_id, source.id, state=None, failing=True, text="", offset=0, limit=MOST)
    for item in failing:
        print(f"  {item.locator}  {item.error_code}  {item.error}")
    print(f"出错 {total} 个")


def _format_source(source: WatchedSource, current: int) -> str:
    where = source.config.path if isinstance(source.config, FolderConfig) else source.config.url
    return f"{source.id}  {source.name}  {where}  {current} 篇  {_describe_last_sync(source)}"


def _describe_last_sync(source: WatchedSource) -> str:
    if source.last is None:
        return "还没有同步过"
    ended = source.last["finished_at"][:16].replace("T", " ")
    if error := source.last["error"]:
        return f"{ended} 失败：{error['message']}"
    return f"{ended} {'已看完' if source.last['complete'] else '没有看完'}"


if __name__ == "__main__":
    sys.exit(main())
