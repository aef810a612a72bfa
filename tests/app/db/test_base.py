from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Column, MetaData, Table, Text, create_engine, insert, select, text

from app.db.base import is_due, match_keys, now

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("ahead", "longest", "due"),
    [
        (-MINUTE, timedelta(), True),
        (MINUTE, 5 * MINUTE, False),
        (DAY, 5 * MINUTE, True),
        (DAY, timedelta(), True),
        (DAY, 2 * DAY, False),
    ],
)
def test_what_lies_further_ahead_than_anybody_sets_it_was_set_before_the_clock_was_set_back(
    ahead: timedelta, longest: timedelta, due: bool
) -> None:
    assert is_due(now() + ahead, longest) is due


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [("a", "b", "2")],
        [("a", "b", "1"), ("a", "b", "3"), ("a", "c", "2"), ("d", "c", "2")],
        [("a", "b", "no"), ("a", "c", "2")],
    ],
)
def test_rows_of_several_keys_are_found_by_the_index(keys: list[tuple[str, str, str]]) -> None:
    table = Table("t", MetaData(), *(Column(name, Text, primary_key=True) for name in "xyz"))
    rows = [(x, y, z) for x in "ad" for y in "bc" for z in "123"]
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(insert(table), [dict(zip("xyz", row, strict=True)) for row in rows])
        query = select(table).where(match_keys(tuple(table.columns), keys))
        assert sorted(map(tuple, connection.execute(query))) == sorted(set(keys) & set(rows))
        sql = query.compile(connection, compile_kwargs={"literal_binds": True})
        plan = [row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"))]
    assert not keys or not any(step.startswith("SCAN") for step in plan), plan
    engine.dispose()
