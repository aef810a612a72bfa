from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.channels.repository import ChannelRepository, delete_for_sessions, hash_platform_id
from app.channels.types import InboundMessage, QueueStatus, SentReply
from app.db import leased_queue
from app.db.base import now
from app.db.engine import Database

ACCOUNT, OTHER = ("t", "shop"), ("u", "shop2")
WORKER = "w"
FIRST = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def message(id: str, second: int = 0, peer: str = "u1", place: str = "here") -> InboundMessage:
    return InboundMessage(id, peer, f"text of {id}", {"place": place}, FIRST + timedelta(seconds=second))


async def accepted(repository: ChannelRepository, *messages: InboundMessage, account: tuple[str, str] = ACCOUNT) -> int:
    given = [(one, f"s-{one.id}") for one in messages]
    return await repository.add_messages(account, given)


async def test_a_message_is_kept_once(database: Database) -> None:
    repository = ChannelRepository(database)
    counts = await asyncio.gather(*(accepted(repository, message("m1")) for _ in range(5)))
    assert sum(counts) == 1
    assert await accepted(repository, message("m1"), account=OTHER) == 1


async def test_a_conversation_keeps_its_session_and_its_last_address(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("m1"), message("m2", 1, place="there"), message("m3", 2, "u2"))
    (first,) = [
        one for one in await repository.claim_messages([ACCOUNT], 9, WORKER) if one.id == hash_platform_id("m1")
    ]
    await repository.settle_message(first, WORKER, QueueStatus.DONE, [("r1", {"text": "一"})])
    (second,) = await repository.claim_messages([ACCOUNT], 9, WORKER)
    assert second.session_id == first.session_id == "s-m1"
    (reply,) = await repository.claim_replies([ACCOUNT], 9, WORKER)
    assert reply.address == {"place": "there"}


async def test_messages_of_a_conversation_come_one_by_one_as_they_were_sent(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("late", 5), message("early", 1), message("another", 9, "u2"))
    claimed = await repository.claim_messages([ACCOUNT], 9, WORKER)
    assert [one.text for one in claimed] == ["text of early", "text of another"]
    assert await repository.claim_messages([ACCOUNT], 9, WORKER) == []
    await repository.settle_message(claimed[0], WORKER, QueueStatus.DONE, [])
    assert [one.text for one in await repository.claim_messages([ACCOUNT], 9, WORKER)] == ["text of late"]


async def test_nobody_gets_what_another_works_on(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, *(message(f"m{number}", peer=f"u{number}") for number in range(8)))
    found = await asyncio.gather(*(repository.claim_messages([ACCOUNT], 4, WORKER) for _ in range(4)))
    names = [one.id for claimed in found for one in claimed]
    assert len(names) == len(set(names)) == 8


async def test_what_a_killed_process_left_is_taken_up(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("m1"))
    with monkeypatch.context() as patch:
        patch.setattr(leased_queue, "LEASE", timedelta(0))
        assert len(await repository.claim_messages([ACCOUNT], 9, "killed")) == 1
    (again,) = await repository.claim_messages([ACCOUNT], 9, WORKER)
    await repository.settle_message(again, WORKER, QueueStatus.DONE, [("r1", {})])
    await repository.settle_message(again, WORKER, QueueStatus.DONE, [("r2", {})])
    rows, total = await repository.list_replies(ACCOUNT, 9, 0, None)
    assert ([row.id for row in rows], total) == (["r1"], 1)


async def test_pieces_are_sent_in_order_and_one_that_is_dead_keeps_none_back(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("m1"))
    (one,) = await repository.claim_messages([ACCOUNT], 9, WORKER)
    await repository.settle_message(
        one, WORKER, QueueStatus.DONE, [(f"r{number}", {"n": number}) for number in (1, 2, 3)]
    )
    sent = []
    for status in (QueueStatus.DONE, QueueStatus.DEAD, QueueStatus.DONE):
        (reply,) = await repository.claim_replies([ACCOUNT], 9, WORKER)
        sent.append(reply.payload["n"])
        await repository.settle_replies([SentReply(reply, status)], WORKER)
    assert sent == [1, 2, 3]
    assert await repository.count_replies([ACCOUNT]) == {"shop": {"done": 2, "dead": 1}}
    assert await repository.retry_reply(ACCOUNT, "r2")
    assert not await repository.retry_reply(OTHER, "r2")
    assert [reply.payload["n"] for reply in await repository.claim_replies([ACCOUNT], 9, WORKER)] == [2]


async def test_a_reply_that_a_response_waits_for_is_given_out_once(database: Database) -> None:
    repository = ChannelRepository(database)
    await repository.add_messages(ACCOUNT, [(message("m1"), "s1")], now() + timedelta(seconds=60))
    (one,) = await repository.claim_messages([ACCOUNT], 9, WORKER)
    assert await repository.claim_awaited_reply(ACCOUNT, one.id) is None
    await repository.settle_message(one, WORKER, QueueStatus.DONE, [("r1", {"n": 1}), ("r2", {"n": 2})])
    assert await repository.claim_replies([ACCOUNT], 9, WORKER) == []
    taken = await asyncio.gather(*(repository.claim_awaited_reply(ACCOUNT, one.id) for _ in range(2)))
    assert sorted(piece["n"] for piece in taken if piece) in ([1], [1, 2])


async def test_a_platform_that_asks_again_gets_what_was_not_sent_yet(database: Database) -> None:
    repository = ChannelRepository(database)
    await repository.add_messages(ACCOUNT, [(message("m1"), "s1")], now() - timedelta(seconds=1))
    (one,) = await repository.claim_messages([ACCOUNT], 9, WORKER)
    await repository.settle_message(one, WORKER, QueueStatus.DONE, [("r1", {"n": 1})])
    await repository.add_messages(ACCOUNT, [(message("m1"), "s9")], now() + timedelta(seconds=60))
    assert await repository.claim_replies([ACCOUNT], 9, WORKER) == []
    assert await repository.claim_awaited_reply(ACCOUNT, one.id) == {"n": 1}


async def test_what_the_desk_says_is_taken_over_once(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("m1"))
    both = [repository.add_desk_replies(ACCOUNT, "s-m1", (0, 2), [(f"r{number}", {})]) for number in (1, 2)]
    await asyncio.gather(*both)
    assert (await repository.list_replies(ACCOUNT, 9, 0, None))[1] == 1


async def test_a_cursor_moves(database: Database) -> None:
    repository = ChannelRepository(database)
    assert await repository.find_cursor(ACCOUNT) == ""
    for cursor in ("c1", "c2"):
        await repository.move_cursor(ACCOUNT, cursor)
    assert (await repository.find_cursor(ACCOUNT), await repository.find_cursor(OTHER)) == ("c2", "")


async def test_what_is_forgotten_is_gone_and_nothing_else(database: Database) -> None:
    repository = ChannelRepository(database)
    await accepted(repository, message("m1"), message("m2", peer="u2"))
    for one in await repository.claim_messages([ACCOUNT], 9, WORKER):
        await repository.settle_message(one, WORKER, QueueStatus.DONE, [(f"r-{one.session_id}", {})])
    await database.transact(lambda connection: delete_for_sessions(connection, "t", ["s-m1"]))
    rows, _ = await repository.list_replies(ACCOUNT, 9, 0, None)
    assert [row.session_id for row in rows] == ["s-m2"]
    assert await accepted(repository, message("m1"), message("m2", peer="u2")) == 1
