from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.engines.base import StatementFailed, StatementTooSlow
from agents.business.engines.registry import open_engine
from agents.business.sample.database import seed_database
from agents.business.schema import load_schema
from agents.business.types import Rows
from agents.errors import BusinessUnavailable
from knowledge.errors import InvalidConfiguration
from tests.acceptance import LEFT
from tests.agents.business.shop import CALLER, SHOP, TODAY, Twins, twin_databases, twins_in

SLOW = "SELECT count(*) AS n FROM orders a, orders b, orders c, orders d, points e, points f, points g, points h"
NUMBERED = """
identity: integer
tables:
  Accounts:
    description: 账户
    owner: UserId
    key: UserId
    columns:
      UserId: {type: integer, description: 编号}
      IdCard: {type: text, description: 身份证, mask: id_card}
      Card: {type: text, description: 银行卡, mask: bank_card}
      Phone: {type: integer, description: 手机号, mask: phone}
"""


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", "postgres", pytest.param("duckdb", marks=LEFT), "mysql"]
)
async def urls(request: pytest.FixtureRequest) -> AsyncIterator[list[str]]:
    """Made once: to fill them takes a second."""
    async with twin_databases(request.param) as made:
        yield made


@pytest.fixture
async def twin(urls: list[str]) -> AsyncIterator[Twins]:
    async with twins_in(urls, max_rows=3, timeout=3.0) as opened:
        yield opened


async def test_rows_are_alike_on_every_database_and_cut_at_the_limit(twin: Twins) -> None:
    rows = await twin.database.query("SELECT id, created_at, total, paid_at FROM orders ORDER BY id", CALLER)
    assert len(rows.values) == 3 and rows.more
    order, created, total, _ = rows.values[0]
    assert isinstance(order, str) and isinstance(total, float)
    assert isinstance(created, str) and len(created) == len("2026-11-22 00:06:00")
    one = await twin.database.query("SELECT joined_on FROM members LIMIT 1", CALLER)
    assert isinstance(one.values[0][0], str) and len(one.values[0][0]) == len("2026-11-22") and not one.more


async def test_an_unknown_caller_has_no_rows(twin: Twins) -> None:
    for caller in ("", "M9999", "' OR '1'='1", "m0002", "%"):
        assert (await twin.database.query("SELECT id FROM orders", caller)).values == ()


async def test_a_statement_that_takes_too_long_is_stopped(twin: Twins) -> None:
    with pytest.raises(StatementTooSlow):  # by itself it would take hours
        await twin.database.query(SLOW, CALLER)
    assert (await twin.database.query("SELECT id FROM members", CALLER)).values == ((CALLER,),)


async def test_the_connection_cannot_write_even_without_the_guard(twin: Twins) -> None:
    before = await twin.database.query("SELECT count(*) FROM orders", CALLER)
    for sql in ("DELETE FROM orders", "UPDATE members SET points = 1", "DROP TABLE coupons", "CREATE TABLE x (y TEXT)"):
        with pytest.raises((StatementFailed, BusinessUnavailable)):
            await twin.database._engine.fetch(sql, (), 1)
    assert await twin.database.query("SELECT count(*) FROM orders", CALLER) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT password_hash FROM members",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM yingda_sample",
        "SELECT randomblob(9)",
        "PRAGMA query_only=OFF",
        "ATTACH DATABASE 'x.db' AS x",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
    ],
)
async def test_sqlite_knows_only_what_is_listed_even_without_the_guard(tmp_path: Path, sql: str) -> None:
    with closing(sqlite3.connect(tmp_path / "x.sqlite3")) as made:
        made.executescript("CREATE TABLE members (id, password_hash); CREATE TABLE yingda_sample (made_on)")
    engine = open_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}", load_schema(SHOP).list_readable(), 1.0)
    assert await engine.fetch("SELECT id FROM members", (), 1) == []
    with pytest.raises(StatementFailed):
        await engine.fetch(sql, (), 1)
    await engine.close()


async def test_a_missing_file_is_an_outage_until_it_is_there(tmp_path: Path) -> None:
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{tmp_path / 'later.sqlite3'}", SHOP))
    with pytest.raises(BusinessUnavailable):
        await database.query("SELECT id FROM orders", CALLER)
    assert not (tmp_path / "later.sqlite3").exists()
    await seed_database(f"sqlite:///{tmp_path / 'later.sqlite3'}", TODAY)
    assert (await database.query("SELECT id FROM members", CALLER)).values == ((CALLER,),)
    await database.close()


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b""])
async def test_a_file_that_is_no_business_database_is_an_outage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.sqlite3").write_bytes(content)
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{tmp_path / 'x.sqlite3'}", SHOP))
    with pytest.raises(BusinessUnavailable):
        await database.query("SELECT id FROM orders", CALLER)
    await database.close()


async def test_a_server_that_is_not_there_is_an_outage() -> None:
    database = BusinessDatabase(BusinessOptions("postgresql://nobody@127.0.0.1:1/none", SHOP, timeout=1.0))
    with pytest.raises(BusinessUnavailable):
        await database.query("SELECT id FROM orders", CALLER)
    await database.close()


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "nonsense"])
def test_an_address_that_cannot_work_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidConfiguration, match="业务库地址"):
        open_engine(url, load_schema(SHOP).list_readable(), 1.0)


async def test_numbers_for_members_names_in_capitals_and_the_other_masks(tmp_path: Path) -> None:
    (tmp_path / "bank.yaml").write_text(NUMBERED, "utf-8")
    with closing(sqlite3.connect(tmp_path / "bank.sqlite3", isolation_level=None)) as made:
        made.execute("CREATE TABLE Accounts (UserId INTEGER, IdCard TEXT, Card TEXT, Phone INTEGER)")
        made.executemany(
            "INSERT INTO Accounts VALUES (?, ?, ?, ?)",
            [
                (7, "11010119900307123X", "6222021234567890123", 13800138000),
                (8, "x", None, 1),
                (9, "12345678", "12345", 12345678),
            ],
        )
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{tmp_path / 'bank.sqlite3'}", tmp_path / "bank.yaml"))
    assert (await shown(database, "7")).values == ((7, "110****123X", "****0123", "138****8000"),)
    assert (await shown(database, "8")).values == ((8, "****", None, "****"),)
    assert (await shown(database, "9")).values == ((9, "****", "****", "****"),)
    for caller in ("7 OR 1=1", "７", "-7", "", "7" * 30):
        assert (await shown(database, caller)).values == ()
    assert await database.has_value("7", "13800138000", {"Accounts": ("Phone",)}, at_end=True)
    assert not await database.has_value("8", "13800138000", {"Accounts": ("Phone",)}, at_end=True)
    await database.close()


async def shown(database: BusinessDatabase, caller: str) -> Rows:
    return await database.query("SELECT a.userid, a.IDCARD, Card, phone FROM accounts AS a", caller)
