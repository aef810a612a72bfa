"""Changed statements on each database: what is executed sees a database that holds the caller's rows alone."""

from __future__ import annotations

import re
import sys
from collections import Counter

import pytest

from agents.business.engines.base import StatementFailed
from agents.business.scope import UnsafeQuery
from agents.business.types import Rows
from agents.errors import BusinessUnavailable
from tests.acceptance import LEFT, part
from tests.agents.business.mutants import HONEST, mutants
from tests.agents.business.shop import CALLER, Twins, foreign_texts, twins
from tests.agents.business.test_attacks import exceeds, shown

COUNT, SEED = part(60, 500), 20261122
# What MariaDB checks over tables and not over subqueries, which the guard makes of them, and `*` beside columns.
STRICTER = re.compile(r"GROUP BY|COUNT|SUM|AVG|MAX|MIN|\*, |, \*")


@pytest.mark.acceptance
@pytest.mark.parametrize("business_database", ["sqlite", "postgres", pytest.param("duckdb", marks=LEFT), "mysql"])
async def test_every_row_that_a_changed_statement_gives_is_the_callers_own(business_database: str) -> None:
    foreign = foreign_texts()
    counts: Counter[str] = Counter()
    async with twins(business_database, max_rows=500, timeout=30.0) as twin:
        for sql in HONEST:
            assert not exceeds(await twin.database.query(sql, CALLER), await twin.unguarded(sql) or []), sql
        keys = await owned_keys(twin)
        for sql in mutants(COUNT, SEED, twin.database.dialect):
            try:
                rows = await twin.database.query(sql, CALLER)
            except (UnsafeQuery, StatementFailed, BusinessUnavailable) as error:
                counts[type(error).__name__] += 1
                continue
            counts["executed"] += 1
            counts["rows"] += len(rows.values)
            check_owner(rows, keys, sql)
            text = repr(rows.values)
            assert not [value for value in foreign if value in text and value not in sql], sql
            expected = await twin.unguarded(sql)
            if expected is None:
                assert business_database == "mysql" and STRICTER.search(sql), sql
                continue
            surplus = exceeds(rows, expected)
            if " LIMIT " in sql.upper():  # which rows come first may differ, how many may not
                assert len(rows.values) == min(len(expected), 500), sql
            else:
                assert not surplus, (sql, surplus)
            counts["equal to the caller's own database"] += 1
    sys.stdout.write(f"\n{business_database}: {COUNT} mutants, {dict(counts)}\n")
    assert counts["executed"] >= COUNT // 5
    assert counts["UnsafeQuery"] >= COUNT // 5


async def owned_keys(twin: Twins) -> dict[str, set[str]]:
    """Table -> keys of the caller's rows, from the database that holds no others."""
    return {
        name: {str(key) for (key,) in await twin.unguarded(f"SELECT {table.key} FROM {name}") or []}
        for name, table in twin.database.schema.tables.items()
    }


def check_owner(rows: Rows, keys: dict[str, set[str]], sql: str) -> None:
    """Every value of a key column names a row of the caller's."""
    for place, field in enumerate(rows.fields):
        table = {"id": field.table, "order_id": "orders"}.get(field.column)
        if table and field.function in ("", "max", "min"):
            assert {row[place] for row in rows.values} - {None} <= keys[table], sql


async def test_the_oracle_sees_a_row_of_somebody_else() -> None:
    async with twins("sqlite") as twin:
        own = await twin.unguarded("SELECT id FROM orders")
        everybodys = await twin.everybodys("SELECT id FROM orders")
        assert own and shown(everybodys) - shown(own)
        assert [value for value in foreign_texts() if value in repr(everybodys)]
