from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from app.db import outbox
from app.db.base import now
from app.db.engine import Database
from app.db.outbox import Handler, Outbox, PendingEvent
from app.db.tables import OutboxEvent
from app.gaps.repository_unanswered import UnansweredRepository, count_questions
from app.performance.repository import UsageRepository, count
from app.performance.tables import UsageCounter


def counts(day: str, tenant: str = "t", **values: int) -> PendingEvent:
    return PendingEvent(tenant, "turns", {"day": day, "counts": values, "gaps": []})


async def put(database: Database, *events: PendingEvent) -> None:
    await database.transact(lambda connection: outbox.add(connection, events))


async def waiting(database: Database) -> list[tuple[str, int]]:
    async with database.read() as connection:
        rows = await connection.execute(select(OutboxEvent.kind, OutboxEvent.attempts))
        return [(row.kind, row.attempts) for row in rows]


def handlers(**by_kind: Handler) -> Mapping[str, Sequence[Handler]]:
    return {kind: [handler] for kind, handler in by_kind.items()}


def failing(connection: Connection, events: Sequence[PendingEvent]) -> None:
    count(connection, events)
    if any(event.payload["counts"].get("bad") for event in events):
        raise ValueError("poison")


async def test_effects_add_up_and_the_events_are_gone(database: Database) -> None:
    today = now().date().isoformat()
    await put(database, counts(today, turns=3, cached=1), counts(today, turns=2), counts(today, "other", turns=9))
    box = Outbox(database, handlers(turns=count))
    assert await box.settle_due() == 3
    assert await box.settle_due() == 0
    await put(database, counts(today, turns=1))
    await box.settle_due()
    assert await UsageRepository(database).load_days("t", 1) == {today: {"cached": 1, "turns": 6}}
    assert await waiting(database) == []


async def test_what_was_written_before_a_restart_is_done_after_it_once(url: str, database: Database) -> None:
    today = now().date().isoformat()
    await put(database, counts(today, turns=1))
    reopened = Database(url)
    try:
        for _ in range(2):
            await Outbox(reopened, handlers(turns=count)).settle_due()
        assert await UsageRepository(reopened).load_days("t", 1) == {today: {"turns": 1}}
    finally:
        await reopened.close()


@pytest.mark.parametrize("attempts", [0, 3])
async def test_a_clock_that_was_set_back_by_a_day_holds_no_event_up(database: Database, attempts: int) -> None:
    await put(database, counts(now().date().isoformat(), turns=1))
    async with database.write() as connection:
        await connection.execute(update(OutboxEvent).values(due_at=now() + timedelta(days=1), attempts=attempts))
    assert await Outbox(database, handlers(turns=count)).settle_due() == 1
    assert await waiting(database) == []


async def test_an_event_that_fails_waits_and_leaves_no_half_effect(database: Database) -> None:
    today = now().date().isoformat()
    await put(database, counts(today, turns=1), counts(today, turns=1, bad=1))
    box = Outbox(database, handlers(turns=failing))
    await box.settle_due()
    assert await UsageRepository(database).load_days("t", 1) == {today: {"turns": 1}}
    assert await waiting(database) == [("turns", 1)]
    assert await box.settle_due() == 0
    await database.transact(lambda connection: connection.execute(update(OutboxEvent).values(due_at=now())) and None)
    await Outbox(database, handlers(turns=count)).settle_due()
    assert await UsageRepository(database).load_days("t", 1) == {today: {"bad": 1, "turns": 2}}


async def test_an_event_of_an_unknown_kind_is_kept(database: Database) -> None:
    await put(database, PendingEvent("t", "of a later version", {}))
    await Outbox(database, {}).settle_due()
    assert await waiting(database) == [("of a later version", 1)]


async def test_usage_is_of_the_days_asked_for_and_of_the_tenant(database: Database) -> None:
    today = now().date()
    days = [(today - timedelta(days=ago)).isoformat() for ago in range(4)]
    await put(database, *(counts(day, turns=1) for day in days), counts(days[0], "other", turns=5))
    await Outbox(database, handlers(turns=count)).settle_due()
    assert list(await UsageRepository(database).load_days("t", 3)) == days[:3]
    assert await UsageRepository(database).load_days("other", 30) == {days[0]: {"turns": 5}}


async def test_a_question_asked_again_is_one_gap(database: Database) -> None:
    def gap(at: str, outcome: str, digest: str = "h") -> dict[str, Any]:
        return {"hash": digest, "question": "怎么修手表", "outcome": outcome, "at": f"2026-03-0{at}T00:00:00+00:00"}

    first = PendingEvent(
        "t", "turns", {"gaps": [gap("1", "clarify"), gap("2", "no_evidence"), gap("1", "clarify", "g")]}
    )
    await put(database, first, PendingEvent("t", "turns", {"gaps": [gap("3", "no_evidence")]}))
    await Outbox(database, handlers(turns=count_questions)).settle_due()
    gaps, total = await UnansweredRepository(database).load_page("t", limit=1)
    assert total == 2
    assert [(item.id, item.count, item.outcome, item.first_seen.day, item.last_seen.day) for item in gaps] == [
        ("h", 3, "no_evidence", 1, 3)
    ]
    assert await UnansweredRepository(database).load_page("other") == ([], 0)


@pytest.mark.parametrize("events", [[], [PendingEvent("t", "turns", {"day": "2026-03-01", "counts": {}, "gaps": []})]])
async def test_nothing_to_count_is_no_row(database: Database, events: list[PendingEvent]) -> None:
    await put(database, *events)
    await Outbox(database, {"turns": [count, count_questions]}).settle_due()
    async with database.read() as connection:
        assert (await connection.execute(select(UsageCounter.name))).all() == []
