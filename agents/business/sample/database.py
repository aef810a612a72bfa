"""Fills a business database with sample rows: the same rows for the same day, wherever SQLAlchemy can create
the tables.
"""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from random import Random

from sqlalchemy import URL, Connection, create_engine, inspect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.engines.backends import find_backend
from agents.business.engines.base import map_driver_errors
from agents.business.engines.registry import parse_address
from agents.business.sample.people import Row, build_coupons, build_members, settle_member
from agents.business.sample.purchases import DAYS, RECENT, Purchases
from agents.business.sample.tables import MARKER, METADATA
from agents.errors import BusinessUnavailable
from knowledge.errors import InvalidConfiguration

SEED = 5
MEMBERS, ORDERS = 40, 300
# Members whose orders are in every state; the last member has bought nothing yet.
RICH = 6
DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}


def build_sample_rows(today: date) -> dict[str, list[Row]]:
    """Returns rows by table, in an order that foreign keys allow."""
    rng = Random(SEED)
    people = build_members(rng, MEMBERS, today)
    purchases = Purchases(rng, today)
    for member in people[:RICH]:
        for age in RECENT:
            purchases.add_purchase(member, age, "unpaid" if age == 0 else "shipped" if age == 2 else "")
    ages = sorted(rng.randint(1, DAYS - 1) for _ in range(ORDERS - len(purchases.orders)))
    for age in ages:
        purchases.add_purchase(people[int(rng.random() ** 1.5 * (MEMBERS - 1))], age)
    points = [entry for member in people for entry in _build_points(rng, member, purchases)]
    return {
        "members": people,
        "orders": purchases.orders,
        "order_items": purchases.order_items,
        "shipments": purchases.shipments,
        "refunds": purchases.refunds,
        "invoices": purchases.invoices,
        "points": points,
        "coupons": [row for member in people[:-1] for row in build_coupons(rng, member, today)],
        MARKER.name: [{"made_on": today}],
    }


async def seed_database(url: str, today: date) -> dict[str, list[Row]]:
    """Creates the tables anew and returns what is in them.

    Raises InvalidConfiguration for tables that are not samples, BusinessUnavailable where nothing can be written.
    """
    address = parse_address(url)
    if address.get_backend_name() == "sqlite" and address.database:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    rows = build_sample_rows(today)
    try:
        if driver := DRIVERS.get(address.get_backend_name()):
            await _seed_async(address.set(drivername=driver), rows)
        else:
            await asyncio.to_thread(_seed_elsewhere, address, rows)
    except (SQLAlchemyError, OSError) as error:
        raise BusinessUnavailable(f"写不进 {address!r}：{error}") from error
    return rows


async def _seed_async(address: URL, rows: dict[str, list[Row]]) -> None:
    with map_driver_errors(address, "asyncpg"):
        engine = create_async_engine(address)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_fill_tables, rows)
    finally:
        await engine.dispose()


def _seed_elsewhere(address: URL, rows: dict[str, list[Row]]) -> None:
    with map_driver_errors(address, find_backend(address.get_backend_name()).package):
        engine = create_engine(address)
    try:
        with engine.begin() as connection:
            _fill_tables(connection, rows)
    finally:
        engine.dispose()


def _build_points(rng: Random, member: Row, purchases: Purchases) -> list[Row]:
    orders = [order for order in purchases.orders if order["member_id"] == member["id"]]
    if not orders:
        return []
    numbers = {order["id"] for order in orders}
    refunds = [refund for refund in purchases.refunds if refund["order_id"] in numbers]
    return settle_member(rng, member, orders, refunds, purchases.today)


def _fill_tables(connection: Connection, rows: dict[str, list[Row]]) -> None:
    there = set(inspect(connection).get_table_names())
    if MARKER.name not in there and (foreign := sorted(there & METADATA.tables.keys())):
        raise InvalidConfiguration(f"库里已有 {'、'.join(foreign)}，不是示例数据，不覆盖；请换一个空库")
    METADATA.drop_all(connection)
    METADATA.create_all(connection)
    for table in METADATA.sorted_tables:
        connection.execute(table.insert(), rows[table.name])
