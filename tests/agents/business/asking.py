"""Questions with the rows that are right for them: asked of the offline layer and, by hand-written SQL, of the seed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from agents.business.database import BusinessDatabase
from agents.business.types import OfflineQueries, Plan, Rows

TODAY = date(2026, 11, 22)
HERE = Path(__file__).parent
SHOP = HERE.parents[2] / "agents/business/shop.yaml"


@dataclass(frozen=True)
class Case:
    """`sql` over the unguarded seed, with :caller; its column names are those of the answer. None: no plan is right."""

    text: str
    caller: str
    sql: str | None = None
    # Of a message with several questions.
    sqls: Sequence[str] = ()


def cases(name: str) -> list[Case]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def expected(sql: str, caller: str, seed: Path) -> tuple[list[str], set[tuple[object, ...]]]:
    with closing(sqlite3.connect(seed)) as connection:
        found = connection.execute(sql, {"caller": caller} if ":caller" in sql else {})
        return [column[0] for column in found.description], set(found.fetchall())


async def asked(case: Case, queries: OfflineQueries, database: BusinessDatabase) -> tuple[Plan | None, Rows | None]:
    plan = queries.plan(case.text, TODAY)
    return plan, None if plan is None else await database.query(plan.sql, case.caller)


async def is_right(case: Case, queries: OfflineQueries, database: BusinessDatabase, seed: Path) -> bool:
    """Whether the rows are the expected ones, looking at the expected columns alone."""
    plan = queries.plan(case.text, TODAY)
    wanted = case.sqls or ([case.sql] if case.sql else [])
    if plan is None or not wanted:
        return plan is None and not wanted
    told = [await database.query(part.sql, case.caller) for part in (plan, *plan.also)]
    return all(any(_same(rows, *expected(sql, case.caller, seed)) for rows in told) for sql in wanted)


def _same(rows: Rows, names: list[str], wanted: set[tuple[object, ...]]) -> bool:
    places = {field.name: place for place, field in enumerate(rows.fields)}
    if not set(names) <= places.keys():
        return False
    return {tuple(row[places[name]] for name in names) for row in rows.values} == wanted


async def wrong(
    name: str, queries: OfflineQueries, database: BusinessDatabase, seed: Path, *, every: int = 1
) -> tuple[list[str], float]:
    """The questions with other rows than the right ones, and the share of right ones; every: of one in so many."""
    asking = cases(name)[::every]
    failed = [case.text for case in asking if not await is_right(case, queries, database, seed)]
    return failed, 1 - len(failed) / len(asking)
