"""What every connection has to tell apart, pass on unchanged and stop, on each database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.engines.backends import BACKENDS
from agents.business.engines.base import StatementTooSlow
from agents.business.engines.general import GeneralEngine
from agents.errors import BusinessUnavailable
from tests.agents.business.shop import empty_database

CLUB = """
tables:
  members:
    description: 会员
    owner: id
    columns:
      id: {type: text, description: 会员编号}
  orders:
    description: 订单
    owner: member_id
    columns:
      id: {type: text, description: 订单号}
      note: {type: text, description: 备注}
  items:
    description: 商品
    owner: {column: order_id, table: orders, key: id}
    columns:
      id: {type: text, description: 编号}
  goods:
    description: 商品目录
    columns:
      id: {type: text, description: 编号}
"""
MEMBERS = ("A1", "a1", "A1 ", "Á1")
LOOSE = {"sqlite": "VARCHAR(20) COLLATE NOCASE", "duckdb": "VARCHAR(20) COLLATE NOCASE", "mysql": "VARCHAR(20)"}
"""A column whose `=` takes letters of either case for the same."""
SIGNS = r"""12:30 :p1 %s %(p1)s ?1 $1 @1 %% 100% ''quoted'' "x" {id} -- /* 中文 """


@dataclass(frozen=True, slots=True)
class Club:
    kind: str
    database: BusinessDatabase


@pytest.fixture(params=["sqlite", "postgres", "duckdb", "mysql"])
async def club(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Club]:
    kind = request.param
    (tmp_path / "club.yaml").write_text(CLUB, "utf-8")
    async with empty_database(kind) as url:
        await _fill(url, LOOSE.get(kind, "VARCHAR(20)"))
        database = BusinessDatabase(BusinessOptions(url, tmp_path / "club.yaml", timeout=2.0))
        yield Club(kind, database)
        await database.close()


async def _fill(url: str, column: str) -> None:
    statements: list[tuple[str, list[dict[str, Any]]]] = [
        (f"CREATE TABLE members (id {column})", []),
        (f"CREATE TABLE orders (id {column}, member_id {column}, note VARCHAR(20))", []),
        (f"CREATE TABLE items (id VARCHAR(20), order_id {column})", []),
        ("CREATE TABLE goods (id VARCHAR(20))", []),
        ("INSERT INTO members VALUES (:id)", [{"id": member} for member in MEMBERS]),
        ("INSERT INTO orders VALUES (:id, :id, 'x')", [{"id": member} for member in MEMBERS]),
        ("INSERT INTO items VALUES (:id, :id)", [{"id": member} for member in MEMBERS]),
        ("INSERT INTO goods VALUES ('g1')", []),
    ]
    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        engine = create_async_engine(address)
        async with engine.begin() as connection:
            for statement, rows in statements:
                await connection.execute(text(statement), rows or None)
        await engine.dispose()
        return
    other = create_engine(address)
    with other.begin() as connection_:
        for statement, rows in statements:
            connection_.execute(text(statement), rows or None)
    other.dispose()


async def test_members_are_told_apart_by_every_letter_whatever_the_columns_compare(club: Club) -> None:
    for member in MEMBERS:
        for table in ("members", "orders", "items"):
            rows = await club.database.query(f"SELECT id FROM {table}", member)
            assert rows.values == ((member,),), (table, member)
    for stranger in ("á1", "A1  ", " A1", "１", "A", "%"):
        assert (await club.database.query("SELECT id FROM orders", stranger)).values == (), stranger
    assert await club.database.holds("A1", "a1", {"orders": ("id",)})
    assert not await club.database.holds("A1", "a1 ", {"orders": ("id",)}) or club.kind == "mysql"


async def test_signs_of_drivers_and_of_comments_are_only_text(club: Club) -> None:
    sql = f"SELECT id, '{SIGNS}' AS signs FROM orders WHERE note <> ':p1 %s ?' AND note LIKE '%' LIMIT 5"
    (row,) = (await club.database.query(sql, "A1")).values
    assert row == ("A1", SIGNS.replace("''", "'"))


async def test_rows_of_everybody_need_no_member_in_the_statement(club: Club) -> None:
    assert (await club.database.query("SELECT id FROM goods", "A1")).values == (("g1",),)


async def test_many_at_once_get_their_own_rows(club: Club) -> None:
    found = await asyncio.gather(*(club.database.query("SELECT id FROM orders", MEMBERS[n % 4]) for n in range(24)))
    assert [rows.values for rows in found] == [((MEMBERS[n % 4],),) for n in range(24)]


@pytest.fixture
def stuck() -> GeneralEngine:
    """A database without a clock of its own, and a driver that nothing interrupts."""
    backend = BACKENDS["clickhouse"]
    return GeneralEngine(make_url("duckdb:///:memory:"), backend, 0.2)


async def test_what_nothing_interrupts_fails_in_time_and_then_connections_are_busy(stuck: GeneralEngine) -> None:
    endless = "SELECT count(*) FROM range(40000) a, range(40000) b WHERE a.range * b.range % 7 = 3"
    started = time.monotonic()
    found = await asyncio.gather(*(stuck.fetch(endless, (), 1) for _ in range(5)), return_exceptions=True)
    assert time.monotonic() - started < 10
    kinds = {type(error) for error in found}
    assert kinds == {StatementTooSlow, BusinessUnavailable}
    await stuck.close()
