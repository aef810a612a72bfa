"""The sample shop for tests: on both databases, and beside it a twin that never held anything but one member's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agents.business.agent import BusinessAgent, BusinessParts
from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.generation import SqlWriter
from agents.business.offline.queries import load_queries
from agents.business.replies import load_replies
from agents.business.sample.database import sample_rows, seed
from agents.business.schema import load_schema
from agents.business.types import OfflineQueries, Plan
from agents.llm.model import ChatModel
from tests.services import postgres_database

TODAY = date(2026, 11, 22)
SHOP = Path(__file__).parents[3] / "agents/business/shop.yaml"
CALLER = "M0002"
MASKED = {
    "phone": lambda value: f"{value[:3]}****{value[-4:]}",
    "name": lambda value: f"{value[0]}*",
    "email": lambda value: f"{value[0]}***{value[value.index('@') :]}",
    "address": lambda value: f"{value[:6]}****",
}
"""Written anew, to check the masks of the product."""


class NoQueries:
    """An offline layer that knows no question."""

    def plan(self, text: str, today: date) -> Plan | None:
        return None


@dataclass(frozen=True, slots=True)
class Twins:
    """`database`: the product over everybody's rows; `raw`: everybody's rows; `own`: the caller's alone, masked."""

    url: str
    database: BusinessDatabase
    raw: AsyncEngine
    own: AsyncEngine

    async def unguarded(self, sql: str) -> list[tuple[Any, ...]] | None:
        """What a statement gives where nothing but the caller's rows ever was; None when it fails there."""
        try:
            async with self.own.connect() as connection:
                return [tuple(row) for row in await connection.exec_driver_sql(sql)]
        except DBAPIError:
            return None

    async def everybodys(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement gives over all rows, nothing masked."""
        async with self.raw.connect() as connection:
            return [tuple(row) for row in await connection.exec_driver_sql(sql)]

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
def shop_queries() -> OfflineQueries:
    """Read once: checking every question of the shop takes seconds."""
    return load_queries(SHOP, load_schema(SHOP))


@asynccontextmanager
async def twins(kind: str, folder: Path, **options: Any) -> AsyncIterator[Twins]:
    """kind: sqlite or postgres; options: of BusinessOptions."""
    async with AsyncExitStack() as stack:
        if kind == "sqlite":
            urls = [f"sqlite+aiosqlite:///{folder / name}.sqlite3" for name in ("all", "own")]
        else:
            urls = [await stack.enter_async_context(postgres_database()) for _ in range(2)]
        engines = [create_async_engine(url) for url in urls]
        for url, engine in zip(urls, engines, strict=True):
            await seed(url, TODAY)
            stack.push_async_callback(engine.dispose)
        await _keep_own(engines[1])
        database = BusinessDatabase(BusinessOptions(urls[0], SHOP, **options))
        stack.push_async_callback(database.close)
        yield Twins(urls[0], database, *engines)


def foreign_texts() -> frozenset[str]:
    """Texts that stand in other members' rows and never in the caller's, hidden columns included."""
    rows = sample_rows(TODAY)
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


async def _keep_own(engine: AsyncEngine) -> None:
    """Leaves the listed columns of the caller's rows, masked."""
    schema = load_schema(SHOP)
    mine = {"members": "id = :caller", "orders": "member_id = :caller"}
    by_order = "order_id IN (SELECT id FROM own_orders)"
    async with engine.begin() as connection:
        await connection.execute(text("DROP TABLE yingda_sample"))
        for table in sorted(schema.tables.values(), key=lambda table: table.name != "orders"):
            owner = table.owner
            assert owner is not None
            where = mine.get(table.name, by_order if owner.table else "member_id = :caller")
            columns = ", ".join(table.columns)
            rows = (
                await connection.execute(text(f"SELECT {columns} FROM {table.name} WHERE {where}"), {"caller": CALLER})
            ).all()
            made = f"CREATE TABLE own_{table.name} AS SELECT {columns} FROM {table.name} WHERE 1 = 0"
            await connection.execute(text(made))
            if rows:
                values = ", ".join(f":{column}" for column in table.columns)
                await connection.execute(
                    text(f"INSERT INTO own_{table.name} VALUES ({values})"),
                    [_masked(table.columns, row) for row in rows],
                )
        for name in reversed(list(schema.tables)):
            await connection.execute(text(f"DROP TABLE {name}" + ("" if "sqlite" in str(engine.url) else " CASCADE")))
            await connection.execute(text(f"ALTER TABLE own_{name} RENAME TO {name}"))


def _masked(columns: Any, row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: MASKED[column.mask](value) if column.mask else value
        for (name, column), value in zip(columns.items(), row, strict=True)
    }
