"""What every connection has to tell apart, pass on unchanged and stop, on each database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import create_engine, event, make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.engines.backends import Backend
from agents.business.engines.base import StatementFailed, StatementTooSlow
from agents.business.engines.general import GeneralEngine, _Run
from agents.errors import BusinessUnavailable
from tests.acceptance import LEFT
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
      order_id: {type: text, description: 订单号}
  tickets:
    description: 工单，是一个视图
    owner: holder
    columns:
      id: {type: text, description: 编号}
  goods:
    description: 商品目录
    columns:
      id: {type: text, description: 编号}
"""
MEMBERS = ("A1", "a1", "A1 ", "Á1", "B1")
# A column whose `=` takes letters of either case for the same.
LOOSE = {"sqlite": "VARCHAR(20) COLLATE NOCASE", "duckdb": "VARCHAR(20) COLLATE NOCASE", "mysql": "VARCHAR(20)"}
ENDLESS = "SELECT count(*) FROM range(40000) a, range(40000) b WHERE a.range * b.range % 7 = 3"
SIGNS = r"""12:30 :p1 %s %(p1)s ?1 $1 @1 %% 100% ''quoted'' "x" {id} -- /* 中文 """


@dataclass(frozen=True, slots=True)
class Club:
    kind: str
    url: str
    database: BusinessDatabase


@pytest.fixture(params=["sqlite", "postgres", pytest.param("duckdb", marks=LEFT), "mysql"])
async def club(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Club]:
    kind = request.param
    (tmp_path / "club.yaml").write_text(CLUB, "utf-8")
    async with empty_database(kind) as url:
        await _fill(url, LOOSE.get(kind, "VARCHAR(20)"))
        database = BusinessDatabase(BusinessOptions(url, tmp_path / "club.yaml", timeout=30.0))
        yield Club(kind, url, database)
        await database.close()


async def _fill(url: str, column: str, note: str = "x") -> None:
    statements: list[tuple[str, list[dict[str, Any]]]] = [
        (f"CREATE TABLE members (id {column})", []),
        (f"CREATE TABLE orders (id {column}, member_id {column}, note VARCHAR(20))", []),
        (f"CREATE TABLE items (id VARCHAR(20), order_id {column})", []),
        ("CREATE TABLE goods (id VARCHAR(20))", []),
        (f"CREATE TABLE filed (id {column}, member_id {column})", []),
        ("CREATE VIEW tickets AS SELECT id, member_id AS holder FROM filed", []),
        ("INSERT INTO members VALUES (:id)", [{"id": member} for member in MEMBERS]),
        ("INSERT INTO orders VALUES (:id, :id, :note)", [{"note": note, "id": member} for member in MEMBERS]),
        ("INSERT INTO items VALUES (:id, :id)", [{"id": member} for member in MEMBERS]),
        ("INSERT INTO filed VALUES (:id, :id)", [{"id": member} for member in MEMBERS]),
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


async def _on_postgres(url: str, statement: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


async def test_members_are_told_apart_by_every_letter_whatever_the_columns_compare(club: Club) -> None:
    for member in MEMBERS:
        for table in ("members", "orders", "items", "tickets"):
            rows = await club.database.query(f"SELECT id FROM {table}", member)
            assert rows.values == ((member,),), (table, member)
    for stranger in ("á1", "A1  ", " A1", "１", "A", "%"):
        assert (await club.database.query("SELECT id FROM orders", stranger)).values == (), stranger
    assert await club.database.has_value("A1", "a1", {"orders": ("id",)})
    assert not await club.database.has_value("A1", "a1 ", {"orders": ("id",)}) or club.kind == "mysql"


async def test_signs_of_drivers_and_of_comments_are_only_text(club: Club) -> None:
    sql = f"SELECT id, '{SIGNS}' AS signs FROM orders WHERE note <> ':p1 %s ?' AND note LIKE '%' LIMIT 5"
    (row,) = (await club.database.query(sql, "A1")).values
    assert row == ("A1", SIGNS.replace("''", "'"))


async def test_rows_of_everybody_need_no_member_in_the_statement(club: Club) -> None:
    assert (await club.database.query("SELECT id FROM goods", "A1")).values == (("g1",),)


async def test_many_at_once_get_their_own_rows(club: Club) -> None:
    found = await asyncio.gather(*(club.database.query("SELECT id FROM orders", MEMBERS[n % 4]) for n in range(24)))
    assert [rows.values for rows in found] == [((MEMBERS[n % 4],),) for n in range(24)]


@pytest.mark.parametrize("member", ["B1", "nobody"])
async def test_an_error_tells_nothing_of_the_rows_of_others(club: Club, member: str) -> None:
    """Without a fence around the caller's own rows, PostgreSQL divides by zero for a stranger's item."""
    if club.kind == "postgres":
        await _on_postgres(club.url, "ANALYZE")
    sql = f"SELECT id FROM items WHERE 1 / (CASE WHEN order_id = '{member}' THEN 0 ELSE 1 END) = 1"
    assert (await club.database.query(sql, "A1")).values == (("A1",),)


async def test_an_error_shows_no_value(club: Club) -> None:
    try:
        assert (await club.database.query("SELECT id FROM orders WHERE id = 5", "A1")).values == ()
    except StatementFailed as error:
        assert str(error) and "A1" not in str(error)
        assert club.kind in ("postgres", "duckdb")


async def test_who_asks_is_in_no_error_for_the_model_to_read(tmp_path: Path) -> None:
    (tmp_path / "club.yaml").write_text(CLUB, "utf-8")
    async with empty_database("postgres") as url:
        await _on_postgres(url, "CREATE TABLE members (id INTEGER)")
        database = BusinessDatabase(BusinessOptions(f"{url}?sslmode=prefer", tmp_path / "club.yaml"))
        with pytest.raises(BusinessUnavailable) as raised:
            await database.query("SELECT id FROM members", "7431")
        assert "7431" not in str(raised.value)
        await database.close()


async def test_a_newer_file_in_its_place_is_read(tmp_path: Path) -> None:
    (tmp_path / "club.yaml").write_text(CLUB, "utf-8")
    here = f"sqlite:///{tmp_path}/club.sqlite3"
    await _fill(here, "VARCHAR(20)")
    database = BusinessDatabase(BusinessOptions(here, tmp_path / "club.yaml"))
    assert (await database.query("SELECT note FROM orders", "A1")).values == (("x",),)
    await _fill(f"sqlite:///{tmp_path}/newer.sqlite3", "VARCHAR(20)", note="newer")
    (tmp_path / "club.sqlite3").unlink()
    with pytest.raises(BusinessUnavailable):
        await database.query("SELECT note FROM orders", "A1")
    (tmp_path / "newer.sqlite3").rename(tmp_path / "club.sqlite3")
    assert (await database.query("SELECT note FROM orders", "A1")).values == (("newer",),)
    await database.close()


def test_what_nobody_waits_for_any_more_is_not_begun(stuck: GeneralEngine) -> None:
    run = _Run("interrupt")
    run.stop()
    assert stuck._fetch(run, ENDLESS, (), 1) == []


@pytest.fixture
def stuck() -> Iterator[GeneralEngine]:
    """A database without a clock of its own, and a driver that the engine cannot interrupt; at the end the test does,
    for each statement would compute for ten seconds more.
    """
    engine, opened = GeneralEngine(make_url("duckdb:///:memory:"), Backend("duckdb", "duckdb-engine"), 1.0), list[Any]()
    event.listen(engine._engine, "connect", lambda connection, _: opened.append(connection))
    yield engine
    for connection in opened:
        with suppress(duckdb.ConnectionException):  # it may be closed already
            connection.interrupt()


async def test_what_nothing_interrupts_fails_in_time_and_then_connections_are_busy(stuck: GeneralEngine) -> None:
    found = await asyncio.gather(*(stuck.fetch(ENDLESS, (), 1) for _ in range(5)), return_exceptions=True)
    kinds = {type(error) for error in found}
    assert kinds == {StatementTooSlow, BusinessUnavailable}
    await stuck.close()
