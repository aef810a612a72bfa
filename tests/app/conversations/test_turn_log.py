from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from app.conversations.repository import ConversationRepository
from app.conversations.rows import read_proposal
from app.conversations.tables import Conversation, StoredTurn
from app.db.engine import Database
from app.db.outbox import PendingEvent
from app.db.tables import OutboxEvent
from app.turns.types import NewTurn, Opening
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import turn


def nothing(turns: Sequence[NewTurn]) -> list[PendingEvent]:
    return []


async def numbers(database: Database, session: str) -> list[tuple[str, int]]:
    query = select(StoredTurn.id, StoredTurn.number).where(StoredTurn.session_id == session).order_by(StoredTurn.number)
    async with database.read() as connection:
        return [(row.id, row.number) for row in await connection.execute(query)]


async def test_the_last_turns_come_in_the_order_they_were_said(database: Database) -> None:
    log, repository = build_turn_log(database, nothing), ConversationRepository(database)
    for number in range(5):
        await log.append_turn(turn(number))
    rows = await repository.load_last_turns("t", "s", 3)
    assert [(row.id, row.standalone, row.response) for row in rows] == [
        (f"m{number}", f"完整问题{number}", {"回复": number}) for number in (2, 3, 4)
    ]
    assert rows[0].created_at == turn(2).created_at
    assert await repository.load_last_turns("t", "s", 0) == []


async def test_what_was_rejected_is_kept_and_not_looked_back_at(database: Database) -> None:
    log, repository = build_turn_log(database, nothing), ConversationRepository(database)
    for number in range(6):
        await log.append_turn(turn(number, outcome="rejected" if number in (1, 4) else "answered"))
    assert [row.id for row in await repository.load_last_turns("t", "s", 2)] == ["m3", "m5"]
    assert await repository.load_earlier_questions("t", "s", 2, 5) == ["完整问题0", "完整问题2"]
    assert len(await numbers(database, "s")) == 6


async def test_only_the_last_turn_that_was_taken_proposes_something(database: Database) -> None:
    log, repository = build_turn_log(database, nothing), ConversationRepository(database)
    told, proposal = (
        json.dumps({"data": data}).encode()
        for data in ({"intent": "ticket"}, {"proposal": {"action": "ticket", "fields": {}, "expires": 0}})
    )
    for number, (response, outcome, proposed) in enumerate(
        [(told, "answered", False), (proposal, "answered", True), (told, "rejected", True), (told, "answered", False)]
    ):
        await log.append_turn(replace(turn(number, outcome=outcome), response=response))
        [last] = await repository.load_last_turns("t", "s", 1)
        assert (read_proposal(last) is not None) is proposed
    assert await repository.load_last_turns("t", "another", 1) == []


async def test_turns_that_arrive_together_are_numbered_in_the_order_they_came(database: Database) -> None:
    log = build_turn_log(database, nothing)
    await log.append_turn(turn(100))
    await asyncio.gather(
        *(log.append_turn(turn(number, f"s{number % 3}")) for number in range(30)), log.append_turn(turn(101))
    )
    for session in range(3):
        assert await numbers(database, f"s{session}") == [(f"m{3 * i + session}", i + 1) for i in range(10)]
    assert await numbers(database, "s") == [("m100", 1), ("m101", 2)]


async def test_what_arrives_while_a_transaction_is_written_shares_the_next(database: Database) -> None:
    batches: list[int] = []

    def counted(turns: Sequence[NewTurn]) -> list[PendingEvent]:
        batches.append(len(turns))
        return []

    log = build_turn_log(database, counted)
    await asyncio.gather(*(log.append_turn(turn(number)) for number in range(20)))
    assert sum(batches) == 20
    assert len(batches) <= 2


async def test_a_turn_is_in_sql_when_append_returns(database: Database) -> None:
    log = build_turn_log(database, nothing)

    async def appended(number: int) -> bool:
        await log.append_turn(turn(number, f"s{number % 7}"))
        async with database.read() as connection:
            found = await connection.execute(select(StoredTurn.id).where(StoredTurn.id == f"m{number}"))
            return found.first() is not None

    assert all(await asyncio.gather(*(appended(number) for number in range(40))))


async def test_a_bad_turn_fails_alone(database: Database) -> None:
    commits: list[None] = []
    log = build_turn_log(database, nothing, lambda: commits.append(None))
    await log.append_turn(turn(1))
    results = await asyncio.gather(
        log.append_turn(turn(2)), log.append_turn(turn(1)), log.append_turn(turn(3, "other")), return_exceptions=True
    )
    assert results[0] is results[2] is True
    assert isinstance(results[1], IntegrityError)
    assert await numbers(database, "s") == [("m1", 1), ("m2", 2)]
    assert await numbers(database, "other") == [("m3", 1)]


async def test_the_events_of_a_turn_are_kept_with_it_or_not_at_all(database: Database) -> None:
    log = build_turn_log(database, lambda turns: [PendingEvent(item.tenant, "kind", {"id": item.id}) for item in turns])
    await log.append_turn(turn(1))
    with pytest.raises(IntegrityError):
        await log.append_turn(turn(1))
    async with database.read() as connection:
        events = (await connection.execute(select(OutboxEvent.tenant_id, OutboxEvent.payload))).all()
    assert [tuple(event) for event in events] == [("t", {"id": "m1"})]


async def test_a_session_is_opened_once_and_keeps_its_user(database: Database) -> None:
    log = build_turn_log(database, nothing)
    await asyncio.gather(*(log.append_turn(turn(number)) for number in range(5)))
    await log.append_turn(turn(5, user_id="other", channel="app"))
    async with database.read() as connection:
        rows = (await connection.execute(select(Conversation.user_id, Conversation.channel, Conversation.turns))).all()
    assert [tuple(row) for row in rows] == [("u", "web", 6)]


async def test_a_session_id_is_another_session_for_another_tenant(database: Database) -> None:
    log, repository = build_turn_log(database, nothing), ConversationRepository(database)
    await log.append_turn(turn(1, tenant="one"))
    assert await repository.has_turns("one", "s")
    assert not await repository.has_turns("two", "s")
    assert await repository.load_last_turns("two", "s", 9) == []


async def test_a_waiter_that_leaves_takes_no_turn_along(database: Database) -> None:
    log = build_turn_log(database, nothing)
    leaving = asyncio.create_task(log.append_turn(turn(1)))
    staying = asyncio.create_task(log.append_turn(turn(2)))
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    await log.close()
    async with database.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(StoredTurn))).scalar_one() == 2


async def test_closing_writes_what_is_pending(database: Database) -> None:
    log = build_turn_log(database, nothing)
    waiting = [asyncio.create_task(log.append_turn(turn(number))) for number in range(3)]
    await asyncio.sleep(0)
    await log.close()
    assert len(await numbers(database, "s")) == 3
    await asyncio.gather(*waiting)


OPENING = Opening(False, True, "asked", 0, 0.0, "", "", {}, "", "")


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("durable", "fields", "synchronous"),
    [(False, {}, 1), (True, {}, 2), (False, {"opening": OPENING}, 2)],
)
async def test_a_turn_waits_for_the_disk_if_all_do_or_a_person_is_concerned(
    database: Database, durable: bool, fields: dict[str, Any], synchronous: int
) -> None:
    asked: list[object] = []
    transact = database.transact

    async def recorded(work: Any, **options: Any) -> Any:
        def asks(connection: Connection) -> Any:
            asked.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())
            return work(connection)

        return await transact(asks, **options)

    database.transact = recorded  # type: ignore[method-assign]
    log = build_turn_log(database, nothing, durable=durable)
    assert await log.append_turn(turn(1, **fields))
    assert asked == [synchronous]
