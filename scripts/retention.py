"""How long data is kept: `python scripts/retention.py show`, `set`, `apply --dry-run`, `apply`, `vacuum`.

All but `vacuum` work while a server runs, which applies the periods by itself once a day.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.db.engine import Database
from app.db.migrate import open_migrated
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.history.repository_texts import purge
from app.retention.repository_growing_tables import KINDS
from app.retention.service import Retention
from app.settings import Settings
from app.wiring.erasure import forget_conversations
from app.wiring.knowledge import get_embeddings_path, open_embeddings
from scripts.commands import lock_data_dir, parse_tenant, run_with_settings

COMMON = "common"
MAX_DAYS = 36500


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 where a server is in the way, 2 for a configuration that cannot work."""
    options = _parse_arguments(arguments)
    return run_with_settings(lambda settings: _run_command(options, settings))


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/retention.py", description="查看、设置与执行数据保留期")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="每张会增长的表：租户、保留天数、行数、到期行数、最早一行")
    apply = commands.add_parser("apply", help="删除到期的数据")
    apply.add_argument("--dry-run", action="store_true", help="只列出会删除多少行")
    for command in (show, apply):
        command.add_argument("--tenant", type=parse_tenant, help="只看这个租户；不给则为全部租户和共用的向量缓存")
    own = commands.add_parser("set", help="给一个租户设置自己的保留期")
    own.add_argument("kind", choices=KINDS)
    own.add_argument("days", type=_parse_days, help=f"天数，0 为不删；{COMMON} 为恢复成全局设置")
    own.add_argument("--tenant", required=True, type=parse_tenant)
    commands.add_parser("vacuum", help="停止服务后，把删除腾出的空间还给系统（SQLite）")
    return parser.parse_args(arguments)


async def _run_command(options: argparse.Namespace, settings: Settings) -> int:
    if options.command == "vacuum":
        return await _release_space(settings)
    async with _open_retention(settings) as retention:
        match options.command:
            case "set":
                await retention.repository.set_period(options.tenant, options.kind, options.days)
                print(f"租户 {options.tenant} 的 {options.kind}：{_describe_period(options.days)}")
            case "apply":
                await _apply_periods(retention, options)
            case _:
                await _show_tables(retention, options.tenant or "")
    return 0


@asynccontextmanager
async def _open_retention(settings: Settings) -> AsyncIterator[Retention]:
    async with open_migrated(settings.sql_url) as database:
        with closing(open_embeddings(settings, database)) as embeddings:
            yield Retention(database, settings.retention_days, embeddings, forget_conversations, purge)


async def _show_tables(retention: Retention, owner: str) -> None:
    print("kind\ttable\ttenant\tdays\trows\tover\toldest")
    for item in await retention.load_status(owner):
        values = item.kind, item.table, item.tenant or "-", item.days, item.rows, item.over, item.oldest or "-"
        print(*values, sep="\t")


async def _apply_periods(retention: Retention, options: argparse.Namespace) -> None:
    removed = await retention.apply(options.tenant or "", dry_run=options.dry_run)
    done = "会删除" if options.dry_run else "已删除"
    for item in removed:
        print(f"{done} {item.rows} 行：{item.table}（租户 {item.tenant or '共用'}）")
    if not removed:
        print("没有到期的数据", file=sys.stderr)


async def _release_space(settings: Settings) -> int:
    with lock_data_dir(settings) as held:
        if not held:  # SQLite writes its whole file anew, for which nobody else may use it
            print(f"DATA_DIR={settings.data_dir} 正被服务或另一个命令使用：请先停止它", file=sys.stderr)
            return 1
        database = Database(settings.sql_url)
        try:
            await database.vacuum()
            with closing(SqliteEmbeddingCache(get_embeddings_path(settings))) as embeddings:
                embeddings.vacuum()
        finally:
            await database.close()
    print("空间已还给系统")
    return 0


def _parse_days(text: str) -> int | None:
    if text == COMMON:
        return None
    if not text.isdecimal() or int(text) > MAX_DAYS:
        raise argparse.ArgumentTypeError(f"须为 0 到 {MAX_DAYS} 的整数，或 {COMMON}")
    return int(text)


def _describe_period(days: int | None) -> str:
    if days is None:
        return "按全局设置"
    return f"保留 {days} 天" if days else "不删"


if __name__ == "__main__":
    raise SystemExit(main())
