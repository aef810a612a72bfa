"""How a database stands to this code, seen without changing it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import URL, Connection, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from app.db.engine import DIALECTS
from app.db.migrate import TABLE, find_head, list_revisions, read_revision
from app.errors import DatabaseDamaged
from knowledge.damage import is_damage

CONNECT_SECONDS = 10.0
RESTORE = ".venv/bin/python scripts/backup.py restore 备份的目录"
_DRIVERS = {"sqlite": "aiosqlite", "postgresql": "asyncpg"}


class SchemaAge(StrEnum):
    """Where a database is beside the migrations of this code."""

    NOTHING = "nothing"
    EMPTY = "empty"
    OLDER = "older"
    NEWER = "newer"


class DatabaseTrouble(Exception):
    """A database that cannot be asked; the message says why, without the password."""


@dataclass(frozen=True, slots=True)
class SchemaState:
    """revision: of the database, empty without tables; head: of this code; may_create: whether this account could
    make the tables that are missing.
    """

    revision: str
    head: str
    behind: SchemaAge
    may_create: bool = True


def compare_revision(revision: str) -> SchemaAge:
    """Compares a revision with this code's."""
    if not revision:
        return SchemaAge.EMPTY
    if revision == find_head():
        return SchemaAge.NOTHING
    return SchemaAge.OLDER if revision in list_revisions() else SchemaAge.NEWER


async def inspect_schema(url: str) -> SchemaState:
    """Raises DatabaseTrouble."""
    address = parse_url(url)
    if address.get_backend_name() == "sqlite":
        revision, may_create = read_sqlite_revision(Path(str(address.database))), True
    else:
        revision, may_create = await _ask_server(address)
    return SchemaState(revision, find_head(), compare_revision(revision), may_create)


def parse_url(url: str) -> URL:
    """Raises DatabaseTrouble for what no database of this product can be at."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise DatabaseTrouble("不是 SQLAlchemy 地址") from error
    driver = _DRIVERS.get(address.get_backend_name())
    if driver is None:
        raise DatabaseTrouble(f"不支持 {address.get_backend_name()}，只能是 {'、'.join(DIALECTS)}")
    if "+" not in address.drivername or address.get_driver_name() != driver:
        raise DatabaseTrouble(f"驱动要写成 {address.get_backend_name()}+{driver}://")
    if not find_spec(driver):
        raise DatabaseTrouble(
            f"没有安装 {driver}：.venv/bin/python -m pip install -r requirements.txt，或单装 {driver}"
        )
    return address


def read_sqlite_revision(path: Path) -> str:
    """Reads the migration of a SQLite file; empty if there is no file. Raises DatabaseTrouble."""
    if not path.exists():
        return ""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).fetchone()
            row = connection.execute(f"SELECT version_num FROM {TABLE}").fetchone() if there else None
    except sqlite3.Error as error:
        raise DatabaseTrouble(f"{path} 读不了：{error}") from error
    return str(row[0]) if row else ""


def require_whole(url: str) -> None:
    """Raises DatabaseDamaged for a SQLite file that is none, or was cut off, with the command that restores it."""
    address = make_url(url)
    if address.get_backend_name() != "sqlite":
        return
    path = Path(str(address.database))
    try:
        read_sqlite_revision(path)
    except DatabaseTrouble as trouble:
        if isinstance(error := trouble.__cause__, sqlite3.Error) and is_damage(error):
            raise DatabaseDamaged(
                f"主数据库 {path} 已损坏（{error}），服务不启动，也没有改动它。"
                f"请把它连同 {path.name}-wal、{path.name}-shm 移到别处，再用最近的备份恢复：{RESTORE}"
            ) from trouble


async def _ask_server(address: URL) -> tuple[str, bool]:
    from asyncpg import PostgresError

    engine = create_async_engine(address, connect_args={"timeout": CONNECT_SECONDS}, hide_parameters=True)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_read_revision)
    except (OSError, SQLAlchemyError, PostgresError, TypeError) as error:  # TypeError: an option that nobody knows
        raise DatabaseTrouble(f"{address!r} 连不上：{_get_first_line(error)}") from error
    finally:
        await engine.dispose()


def _read_revision(connection: Connection) -> tuple[str, bool]:
    allowed = bool(connection.execute(text("SELECT has_schema_privilege(current_schema(), 'CREATE')")).scalar())
    return read_revision(connection), allowed


def _get_first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
