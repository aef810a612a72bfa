from __future__ import annotations

import asyncio

import pytest
from sqlalchemy.exc import NoResultFound

from app.db.conversations import ConversationRepository, TurnRow
from app.db.engine import Database
from app.db.models import now


def turn(number: int) -> TurnRow:
    return TurnRow(f"m{number}", f"问题{number}", f"完整问题{number}", "答", "answered", {"回复": number}, now())


async def test_the_last_turns_come_in_the_order_they_were_said(database: Database) -> None:
    repository = ConversationRepository(database)
    await repository.ensure("t", "s", user_id="u", channel="web")
    turns = [turn(i) for i in range(5)]
    for item in turns:
        await repository.append("t", "s", item)
    assert await repository.last("t", "s", 3) == turns[2:]
    assert await repository.last("t", "s", 0) == []


async def test_a_session_is_created_once(database: Database) -> None:
    repository = ConversationRepository(database)
    await asyncio.gather(*(repository.ensure("t", "s") for _ in range(5)))
    await repository.append("t", "s", turn(1))
    await repository.ensure("t", "s")
    assert len(await repository.last("t", "s", 9)) == 1


async def test_turns_that_arrive_together_all_stay(database: Database) -> None:
    repository = ConversationRepository(database)
    await repository.ensure("t", "s")
    await asyncio.gather(*(repository.append("t", "s", turn(i)) for i in range(10)))
    assert {item.id for item in await repository.last("t", "s", 99)} == {f"m{i}" for i in range(10)}


async def test_a_session_id_is_another_session_for_another_tenant(database: Database) -> None:
    repository = ConversationRepository(database)
    await repository.ensure("one", "s")
    await repository.append("one", "s", turn(1))
    assert await repository.last("two", "s", 9) == []
    with pytest.raises(NoResultFound):
        await repository.append("two", "s", turn(2))
