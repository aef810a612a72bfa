"""Whose a conversation is, decided by SQL: several processes over one database, whatever they believed before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from app.conversations.access import Access
from app.conversations.repository import ConversationRepository
from app.conversations.repository_holders import HolderRepository
from app.conversations.rules import hash_token
from app.conversations.types import Holder
from app.db.engine import Database
from app.errors import Forbidden, NotFound
from app.turns.types import NewTurn
from app.types import Proof, SessionKey
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import turn

KEY = SessionKey("t", "s")
LIFETIME = timedelta(hours=1)


class Process:
    """What one process has of all this; `clock` is its time."""

    def __init__(self, database: Database) -> None:
        self.holders = HolderRepository(database)
        self.clock = SimpleNamespace(now=datetime.now(UTC))
        self.access = Access(self.holders, LIFETIME, lambda: self.clock.now)
        self.log = build_turn_log(database, lambda turns: [], lifetime=LIFETIME)

    async def said(self, number: int, proof: Proof) -> str:
        """A turn; the secret that it issued."""
        claim = await self.access.claim(KEY, proof)
        await self.log.append_turn(self.turn(number, claim=claim))
        return claim.issued

    @staticmethod
    def turn(number: int, **fields: Any) -> NewTurn:
        return turn(number, **({"response": b'{"data":{}}'} | fields))


@pytest.fixture
async def two(database: Database, url: str) -> AsyncIterator[tuple[Process, Process]]:
    """Two processes over one database."""
    second = Database(url)
    yield Process(database), Process(second)
    await second.close()


async def test_of_those_who_begin_a_session_at_once_one_gets_it(two: tuple[Process, Process]) -> None:
    claims = [await process.access.claim(KEY, Proof()) for process in (*two, *two)]
    assert all(claim.first and claim.issued for claim in claims)
    kept = await asyncio.gather(
        *(
            process.log.append_turn(Process.turn(number, claim=claim))
            for number, (process, claim) in enumerate(zip((*two, *two), claims, strict=True))
        ),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in kept) == ["Forbidden", "Forbidden", "Forbidden", "bool"]
    winner = claims[[result is True for result in kept].index(True)]
    holder = await two[0].holders.find(KEY)
    assert holder is not None and holder.digest == winner.digest == hash_token("t", "s", winner.issued)
    await two[1].access.require(KEY, Proof(token=winner.issued))


async def test_a_refused_turn_leaves_nothing_and_costs_those_beside_it_nothing(
    two: tuple[Process, Process], database: Database
) -> None:
    one, other = two
    await one.said(1, Proof())
    late = await other.access.claim(SessionKey("t", "new"), Proof())
    beside = Process.turn(2, session="free")
    results = await asyncio.gather(
        one.log.append_turn(Process.turn(3, claim=late)), one.log.append_turn(beside), return_exceptions=True
    )
    assert isinstance(results[0], Forbidden) and results[1] is True
    rows = await ConversationRepository(database).load_last_turns("t", "s", 9)
    assert [row.id for row in rows] == ["m1"]


async def test_two_members_cannot_take_one_session_over(two: tuple[Process, Process]) -> None:
    token = await two[0].said(1, Proof())
    claims = [
        await process.access.claim(KEY, Proof(f"M{number}", token)) for number, process in enumerate(two, start=1)
    ]
    kept = await asyncio.gather(
        *(
            process.log.append_turn(Process.turn(number, claim=claim))
            for number, (process, claim) in enumerate(zip(two, claims, strict=True), start=2)
        ),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in kept) == ["Forbidden", "bool"]
    holder = await two[0].holders.find(KEY)
    assert holder is not None and holder.caller in ("M1", "M2") and holder.digest != hash_token("t", "s", token)
    with pytest.raises(Forbidden):
        await two[0].access.require(KEY, Proof(token=token))


async def test_use_renews_a_secret_and_time_ends_it(two: tuple[Process, Process]) -> None:
    process, _ = two
    token = await process.said(1, Proof())
    for _ in range(3):
        process.clock.now += LIFETIME * 0.9
        await process.access.require(KEY, Proof(token=token))
    process.clock.now += LIFETIME * 1.1
    with pytest.raises(Forbidden, match="过期"):
        await process.access.require(KEY, Proof(token=token))


async def test_a_secret_is_for_its_session_and_tenant_alone(two: tuple[Process, Process]) -> None:
    process, _ = two
    token = await process.said(1, Proof())
    for key in (SessionKey("t", "other"), SessionKey("other", "s")):
        with pytest.raises(NotFound):
            await process.access.require(key, Proof(token=token))
    assert hash_token("t", "s", token) not in {hash_token("t", "other", token), hash_token("other", "s", token)}


@pytest.mark.parametrize("proof", [Proof(trusted=True), Proof("M1", trusted=True)], ids=["company", "named"])
async def test_a_trusted_key_needs_no_secret_and_gets_none(two: tuple[Process, Process], proof: Proof) -> None:
    process, _ = two
    assert await process.said(1, proof) == ""
    assert await process.holders.find(KEY) == Holder(proof.caller)
    await process.access.require(KEY, Proof(trusted=True))
    for stranger in (Proof(), Proof("M2"), Proof(token="ys-x"), Proof("M2", trusted=True)):
        if stranger.trusted and not proof.caller:
            continue
        with pytest.raises(Forbidden):
            await process.access.claim(KEY, stranger)


async def test_what_was_deleted_meanwhile_is_not_begun_by_an_old_secret(
    two: tuple[Process, Process], database: Database
) -> None:
    process, _ = two
    claim = await process.access.claim(KEY, Proof(token=await process.said(1, Proof())))
    async with database.write() as connection:
        await connection.exec_driver_sql("DELETE FROM conversations")
    with pytest.raises(Forbidden):
        await process.log.append_turn(Process.turn(2, claim=claim))


async def test_a_new_session_costs_no_look_up_and_an_existing_one_costs_one(two: tuple[Process, Process]) -> None:
    process, _ = two
    token = await process.said(1, Proof())
    looked, find = [], process.holders.find

    async def counted(key: SessionKey) -> Holder | None:
        looked.append(key)
        return await find(key)

    process.holders.find = counted  # type: ignore[method-assign]
    assert (await process.access.claim(SessionKey("t", "made-here"), Proof(), new=True)).is_settled
    assert (await process.access.claim(KEY, Proof(trusted=True))).is_settled
    await process.access.require(KEY, Proof(trusted=True))
    assert looked == []
    await process.access.claim(KEY, Proof(token=token))
    assert looked == [KEY]


async def test_what_staff_file_keeps_its_id(two: tuple[Process, Process]) -> None:
    process, other = two
    assert await process.holders.reserve(KEY, "") == ""
    with pytest.raises(Forbidden):
        await other.access.claim(KEY, Proof())
    assert await process.holders.reserve(SessionKey("t", "m"), "M1") == "M1"
    await other.access.claim(SessionKey("t", "m"), Proof("M1"))
