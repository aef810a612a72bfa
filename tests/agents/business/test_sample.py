from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.sample.database import build_sample_rows, seed_database
from agents.business.schema import load_schema
from agents.errors import BusinessUnavailable
from knowledge.errors import InvalidConfiguration
from scripts.seed_business import main
from tests.services import postgres_database

TODAY = date(2026, 11, 22)
SHOP = Path(__file__).parents[3] / "agents/business/shop.yaml"


def test_the_same_day_gives_the_same_rows_and_another_day_others() -> None:
    assert build_sample_rows(TODAY) == build_sample_rows(TODAY)
    assert build_sample_rows(TODAY)["orders"] != build_sample_rows(date(2026, 11, 23))["orders"]


def test_every_column_of_the_shipped_description_is_in_the_tables_and_every_code_has_a_meaning() -> None:
    rows = build_sample_rows(TODAY)
    for table in load_schema(SHOP).tables.values():
        for column in table.columns.values():
            codes = {row[column.name] for row in rows[table.name]} - {None}
            assert codes, (table.name, column.name)
            if column.values:
                assert codes <= column.values.keys(), column.name


@pytest.mark.parametrize("today", [TODAY, date(2027, 1, 3), date(2028, 2, 29)])
def test_nothing_happens_after_today_and_everything_in_its_order(today: date) -> None:
    rows = build_sample_rows(today)
    orders = {order["id"]: order for order in rows["orders"]}
    assert all(order["created_at"].date() <= today for order in orders.values())
    for parcel in rows["shipments"]:
        moments = [orders[parcel["order_id"]]["paid_at"], parcel["shipped_at"], parcel["updated_at"]]
        assert moments == sorted(moments)
        assert parcel["updated_at"].date() <= today
    for refund in rows["refunds"]:
        assert orders[refund["order_id"]]["created_at"] < refund["applied_at"]
        assert refund["refunded_at"] is None or refund["applied_at"] < refund["refunded_at"]
        assert (refund["refunded_at"] or refund["applied_at"]).date() <= today


def test_amounts_add_up() -> None:
    rows = build_sample_rows(TODAY)
    for order in rows["orders"]:
        goods = sum(item["amount"] for item in rows["order_items"] if item["order_id"] == order["id"])
        assert order["total"] == goods - order["discount"] + order["shipping_fee"]
    for member in rows["members"]:
        mine = [entry for entry in rows["points"] if entry["member_id"] == member["id"]]
        assert member["points"] == sum(entry["amount"] for entry in mine) == sum(entry["remaining"] for entry in mine)


def test_a_second_run_makes_fresh_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/new/shop.sqlite3"
    assert main(["--url", url, "--today", "2026-11-01"]) == main(["--url", url, "--today", "2026-11-22"]) == 0
    assert "会员 M0001" in capsys.readouterr().out
    with closing(sqlite3.connect(tmp_path / "new/shop.sqlite3")) as database:
        assert database.execute("SELECT count(*), max(date(created_at)) FROM orders").fetchone() == (300, "2026-11-22")


async def test_a_database_with_tables_of_its_own_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "own.sqlite3")) as database:
        database.execute("CREATE TABLE orders (id TEXT)")
        database.commit()
    with pytest.raises(InvalidConfiguration, match="orders"):
        await seed_database(f"sqlite:///{tmp_path}/own.sqlite3", TODAY)


async def test_a_place_that_cannot_be_used_is_named() -> None:
    with pytest.raises(InvalidConfiguration, match="mysql"):
        await seed_database("mysql://127.0.0.1/shop", TODAY)
    with pytest.raises(BusinessUnavailable):
        await seed_database("postgresql://nobody@127.0.0.1:1/shop", TODAY)


async def test_postgresql_holds_the_same_rows() -> None:
    async with postgres_database() as url:
        rows = await seed_database(url, TODAY)
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            found = await connection.execute(text("SELECT id, total, created_at FROM orders ORDER BY id"))
            got = [(row.id, float(row.total), row.created_at) for row in found]
        await engine.dispose()
    assert got == sorted((order["id"], order["total"], order["created_at"]) for order in rows["orders"])
