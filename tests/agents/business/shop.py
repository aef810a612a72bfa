"""The sample shop for tests: on each database, and beside it a twin that never held anything but one member's rows."""

from __future__ import annotations

import atexit
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agents.business.agent import BusinessAgent, BusinessParts
from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.engines.base import Engine, StatementFailed
from agents.business.engines.registry import open_engine
from agents.business.offline.queries import DeclaredQueries, load_queries
from agents.business.replies import load_replies
from agents.business.sample.database import DRIVERS, build_sample_rows, seed_database
from agents.business.schema import load_schema
from agents.business.sql_writer import SqlWriter
from agents.business.types import OfflineQueries, Plan
from agents.errors import BusinessUnavailable
from agents.llm.chat import ChatModel
from tests.agents.business.mysql import mysql_database
from tests.services import postgres_database

TODAY = date(2026, 11, 22)
SHOP = Path(__file__).parents[3] / "agents/business/shop.yaml"
CALLER = "M0002"
MANY, SECONDS = 100_000, 10.0
FILES = ("sqlite", "duckdb")
FOLDER = mkdtemp(prefix="yingda-shop-")
atexit.register(rmtree, FOLDER, ignore_errors=True)
# Twins in files are made once: the product only reads them.
MADE: dict[str, list[str]] = {}
# Written anew, to check the masks of the product.
MASKED = {
    "phone": lambda value: f"{value[:3]}****{value[-4:]}",
    "name": lambda value: f"{value[0]}*",
    "email": lambda value: f"{value[0]}***{value[value.index('@') :]}",
    "address": lambda value: f"{value[:6]}****",
}


class NoQueries:
    """An offline layer that knows no question."""

    def plan(self, text: str, today: date) -> Plan | None:
        return None


class Plain:
    """A database as it is, without the guard: `statement` over all of its rows; None when it fails there."""

    def __init__(self, engine: AsyncEngine | Engine) -> None:
        self._engine = engine

    async def rows(self, sql: str) -> list[tuple[Any, ...]] | None:
        if not isinstance(self._engine, AsyncEngine):
            try:
                return await self._engine.fetch(sql, (), MANY)
            except (StatementFailed, BusinessUnavailable):
                return None
        try:
            async with self._engine.connect() as connection:
                return [tuple(row) for row in await connection.exec_driver_sql(sql)]
        except DBAPIError:
            return None


@dataclass(frozen=True, slots=True)
class Twins:
    """`database`: the product over everybody's rows; `raw`: everybody's rows; `own`: the caller's alone, masked."""

    url: str
    database: BusinessDatabase
    raw: Plain
    own: Plain

    async def unguarded(self, sql: str) -> list[tuple[Any, ...]] | None:
        """What a statement gives where nothing but the caller's rows ever was; None when it fails there."""
        return await self.own.rows(sql)

    async def everybodys(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement gives over all rows, nothing masked."""
        rows = await self.raw.rows(sql)
        assert rows is not None, sql
        return rows

    def agent(self, model: ChatModel | None = None, queries: OfflineQueries | None = None) -> BusinessAgent:
        """queries: in the place of the shop's own."""
        schema = self.database.schema
        writer = SqlWriter(model, schema, self.database.dialect, 20.0) if model else None
        queries, replies = queries or shop_queries(), load_replies(SHOP, schema)
        return BusinessAgent(BusinessParts(self.database, queries, replies, writer, lambda: TODAY))


def business_parts(url: str = "sqlite:///nowhere.sqlite3") -> BusinessParts:
    """Of the shop, offline; without a database it is out of reach."""
    database = BusinessDatabase(BusinessOptions(url, SHOP))
    return BusinessParts(database, shop_queries(), load_replies(SHOP, database.schema), today=lambda: TODAY)


@cache
def shop_queries() -> DeclaredQueries:
    """Read once: checking every question of the shop takes seconds."""
    return load_queries(SHOP, load_schema(SHOP))


@asynccontextmanager
async def twins(kind: str, **options: Any) -> AsyncIterator[Twins]:
    """kind: sqlite, postgres, duckdb or mysql; options: of BusinessOptions."""
    async with twin_databases(kind) as urls, twins_in(urls, **options) as opened:
        yield opened


@asynccontextmanager
async def twins_in(urls: Sequence[str], **options: Any) -> AsyncIterator[Twins]:
    """urls: of `twin_databases`; options: of BusinessOptions."""
    async with AsyncExitStack() as stack:
        database = BusinessDatabase(BusinessOptions(urls[0], SHOP, **options))
        stack.push_async_callback(database.close)
        yield Twins(urls[0], database, *[await _plain(url, stack) for url in urls])


@asynccontextmanager
async def twin_databases(kind: str) -> AsyncIterator[list[str]]:
    """Addresses of everybody's rows and of the caller's own, which the product only reads."""
    async with AsyncExitStack() as stack:
        urls = MADE.get(kind) or [await stack.enter_async_context(empty_database(kind)) for _ in range(2)]
        if kind not in MADE:
            for url in urls:
                await seed_database(url, TODAY)
            await _keep_own(urls[1])
        if kind in FILES:
            MADE[kind] = urls
        yield urls


@asynccontextmanager
async def empty_database(kind: str) -> AsyncIterator[str]:
    """The address of a database of the test's own."""
    match kind:
        case "sqlite" | "duckdb":
            yield f"{kind}:///{FOLDER}/{token_hex(8)}.{kind}"
        case "postgres":
            async with postgres_database() as url:
                yield url
        case "mysql":
            with mysql_database() as url:
                yield url


async def _plain(url: str, stack: AsyncExitStack) -> Plain:
    """SQLite and PostgreSQL are asked past the product; others as it connects, since two ways into a file of DuckDB's
    must be alike.
    """
    engine: AsyncEngine | Engine
    if driver := DRIVERS.get(make_url(url).get_backend_name()):
        engine = create_async_engine(make_url(url).set(drivername=driver))
        stack.push_async_callback(engine.dispose)
    else:
        engine = open_engine(url, load_schema(SHOP).list_readable(), SECONDS)
        stack.push_async_callback(engine.close)
    return Plain(engine)


def foreign_texts() -> frozenset[str]:
    """Texts that stand in other members' rows and never in the caller's, hidden columns included."""
    rows = build_sample_rows(TODAY)
    orders = {row["id"] for row in rows["orders"] if row["member_id"] == CALLER}
    own: set[str] = set()
    others: set[str] = set()
    for table, entries in rows.items():
        for row in entries:
            mine = CALLER in (row.get("member_id"), row["id"] if table == "members" else None)
            mine = mine or row.get("order_id") in orders
            texts = {value for value in row.values() if isinstance(value, str) and len(value) >= 5}
            (own if mine else others).update(texts)
            if table == "members" and mine:
                others.add(row["password_hash"])
    return frozenset(others - own)


async def _keep_own(url: str) -> None:
    """Leaves the listed columns of the caller's rows, masked."""
    address = make_url(url)
    if driver := DRIVERS.get(address.get_backend_name()):
        engine = create_async_engine(address.set(drivername=driver))
        async with engine.begin() as connection:
            await connection.run_sync(_leave_own)
        await engine.dispose()
    else:
        other = create_engine(address)
        with other.begin() as connection:
            _leave_own(connection)
        other.dispose()


def _leave_own(connection: Connection) -> None:
    schema = load_schema(SHOP)
    mine = {"members": "id = :caller", "orders": "member_id = :caller"}
    by_order = "order_id IN (SELECT id FROM own_orders)"
    connection.execute(text("DROP TABLE yingda_sample"))
    for table in sorted(schema.tables.values(), key=lambda table: table.name != "orders"):
        owner = table.owner
        assert owner is not None
        where = mine.get(table.name, by_order if owner.table else "member_id = :caller")
        columns = ", ".join(table.columns)
        given = {"caller": CALLER} if ":caller" in where else {}
        rows = connection.execute(text(f"SELECT {columns} FROM {table.name} WHERE {where}"), given).all()
        connection.execute(text(f"CREATE TABLE own_{table.name} AS SELECT {columns} FROM {table.name} WHERE 1 = 0"))
        if rows:
            values = ", ".join(f":{column}" for column in table.columns)
            connection.execute(
                text(f"INSERT INTO own_{table.name} VALUES ({values})"), [_masked(table.columns, row) for row in rows]
            )
    for name in reversed(list(schema.tables)):
        cascade = " CASCADE" if connection.dialect.name == "postgresql" else ""
        connection.execute(text(f"DROP TABLE {name}{cascade}"))
        connection.execute(text(f"ALTER TABLE own_{name} RENAME TO {name}"))


def _masked(columns: Any, row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: MASKED[column.mask](value) if column.mask else value
        for (name, column), value in zip(columns.items(), row, strict=True)
    }
