"""Brings the database to the schema of this code: `python scripts/upgrade.py [--check]`.

A server does the same when it starts. By itself it is for releases without a pause: the new code upgrades while the
processes of the old one go on answering, which are replaced after that one by one.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.db.migrate import open_migrated
from app.db.schema_state import DatabaseTrouble, SchemaAge, SchemaState, inspect_schema
from app.private import keep_private
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when the schema is that of this code, 1 when it is not, 2 for what cannot be asked or upgraded."""
    parser = argparse.ArgumentParser(prog="scripts/upgrade.py", description="把数据库升级到这份代码的结构")
    parser.add_argument("--check", action="store_true", help="只说差在哪里，不升级")
    options = parser.parse_args(arguments)
    try:
        return asyncio.run(_upgrade_database(load_settings(), check=options.check))
    except (InvalidConfiguration, DatabaseTrouble) as error:
        print(error, file=sys.stderr)
        return 2


async def _upgrade_database(settings: Settings, *, check: bool) -> int:
    before = await inspect_schema(settings.sql_url)
    if before.behind is SchemaAge.NEWER:
        print(f"数据库的结构 {before.revision} 比代码（{before.head}）新，请换上新版代码", file=sys.stderr)
        return 2
    if check or before.behind is SchemaAge.NOTHING:
        print(_describe_schema(before))
        return 0 if before.behind is SchemaAge.NOTHING else 1
    keep_private(settings.data_dir)
    async with open_migrated(settings.sql_url):
        pass  # it is upgraded as it is opened
    print(f"{_describe_schema(before)}，已升级到 {before.head}")
    return 0


def _describe_schema(found: SchemaState) -> str:
    return f"数据库的结构：{found.revision or '还没有表'}（代码：{found.head}）"


if __name__ == "__main__":
    raise SystemExit(main())
