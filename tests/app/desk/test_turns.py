from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import count
from typing import Any

from app.conversations.repository import ConversationRepository
from app.conversations.turn_log import TurnLog
from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.desk.types import Event, Sender, State
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import turn
from tests.app.desk.building import assigned, key, opening, queued

BODY = b'{"data":{"agent":"knowledge","sources":[]}}'


def log_of(database: Database, desk: HumanDesk) -> TurnLog[Any]:
    return build_turn_log(database, lambda turns: [], on_desk=desk.feed.record_changes)


async def test_a_turn_that_asks_for_a_person_is_kept_with_its_place_in_the_queue(
    database: Database, desk: HumanDesk
) -> None:
    log = log_of(database, desk)
    assert await log.append_turn(turn(1, opening=opening(priority=2, caller="m1")))
    session = await desk.sessions.find(key())
    assert session is not None
    assert (session.state, session.priority, session.caller, session.user_id) == (State.QUEUED, 2, "m1", "u")
    standing = desk.feed.get_standing(key())
    assert standing is not None and standing.state is State.QUEUED


async def test_no_word_of_the_bot_is_kept_while_a_person_has_the_session(database: Database, desk: HumanDesk) -> None:
    log = log_of(database, desk)
    await assigned(desk)
    kept = await asyncio.gather(
        log.append_turn(turn(1)), log.append_turn(turn(2, "free")), log.append_turn(turn(3, for_desk=True))
    )
    assert list(kept) == [False, True, True]
    conversations = ConversationRepository(database)
    assert [row.id for row in await conversations.load_last_turns("t", "s", 9)] == ["m3"]
    assert [row.id for row in await conversations.load_last_turns("t", "free", 9)] == ["m2"]
    messages = await desk.messages.load_after(key(), 0)
    assert [message.content for message in messages if message.sender is Sender.CUSTOMER] == ["问题3"]


async def test_a_message_for_a_person_who_left_is_not_lost_but_the_bots(database: Database, desk: HumanDesk) -> None:
    log = log_of(database, desk)
    await assigned(desk)
    await desk.service.resolve(key())
    assert not await log.append_turn(turn(1, for_desk=True))
    assert await log.append_turn(turn(1))
    session = await desk.sessions.find(key())
    assert session is not None and session.state is State.BOT
    assert [entry.event for entry in await desk.sessions.load_history(key())][-1] is Event.RETURN


async def test_an_accept_in_the_middle_of_an_answer_stops_it(database: Database, desk: HumanDesk) -> None:
    """Whichever commits first: either the bot's turn stands before the accept, or it is not kept."""
    log = log_of(database, desk)
    numbers = count(100)
    for attempt in range(20):
        session = f"race-{attempt}"
        await desk.service.request_person(key(session))
        await desk.service.leave_queue(key(session))

        async def ask_and_accept(session: str = session) -> datetime:
            await desk.service.request_person(key(session))
            accepted = await desk.service.accept_session(key(session), "amy")
            assert accepted.assigned_at is not None
            return accepted.assigned_at

        number = next(numbers)
        bot = log.append_turn(turn(number, session, response=BODY, created_at=datetime.now(UTC)))
        kept, _ = await asyncio.gather(bot, ask_and_accept())
        rows = await ConversationRepository(database).load_last_turns("t", session, 9)
        assert [row.id for row in rows] == ([f"m{number}"] if kept else [])
        assert not await log.append_turn(turn(next(numbers), session))


async def test_failures_count_anew_after_a_person_had_the_session(database: Database, desk: HumanDesk) -> None:
    log = log_of(database, desk)
    await log.append_turn(turn(1, outcome="no_evidence", response=BODY, created_at=datetime.now(UTC)))
    assert await desk.sessions.find_last_outcome(key()) == ("no_evidence", "knowledge")
    await assigned(desk)
    await desk.service.resolve(key())
    assert await desk.sessions.find_last_outcome(key()) is None
    await log.append_turn(turn(2, outcome="clarify", response=BODY, created_at=datetime.now(UTC)))
    await log.append_turn(turn(3, outcome="rejected", response=BODY, created_at=datetime.now(UTC)))
    assert await desk.sessions.find_last_outcome(key()) == ("clarify", "knowledge")


async def test_what_is_said_while_a_customer_waits_is_there_for_whoever_accepts(
    database: Database, desk: HumanDesk
) -> None:
    log = log_of(database, desk)
    await queued(desk)
    assert await log.append_turn(turn(1, client_id="c1"))
    assert await log.append_turn(turn(2, reply="您的订单 YS1 已发货", rows_of="m1"))
    said = [(item.sender, item.content) for item in await desk.messages.load_after(key(), 0)][1:]
    assert said[:3] == [(Sender.CUSTOMER, "问题1"), (Sender.BOT, "答"), (Sender.CUSTOMER, "问题2")]
    assert said[3][0] is Sender.BOT and "YS1" not in said[3][1]
    standing, session = desk.feed.get_standing(key()), await desk.sessions.find(key())
    assert standing is not None and session is not None and standing.messages == session.messages == 5
    assert [row.outcome for row in await ConversationRepository(database).load_last_turns("t", "s", 9)] == [
        "answered"
    ] * 2


async def test_a_request_that_meets_a_waiting_session_raises_it_and_does_not_queue_twice(
    database: Database, desk: HumanDesk
) -> None:
    log = log_of(database, desk)
    first = await queued(desk)
    assert await log.append_turn(turn(1, opening=opening(priority=2, emotion=0.8)))
    session = await desk.sessions.find(key())
    assert session is not None
    assert (session.priority, session.emotion, session.queued_at) == (2, 0.8, first.queued_at)
    assert [entry.event for entry in await desk.sessions.load_history(key())] == [Event.REQUEST]


async def test_where_the_queue_silences_the_bot_no_turn_of_it_is_kept_there(
    database: Database, desk: HumanDesk
) -> None:
    log = build_turn_log(database, lambda turns: [], on_desk=desk.feed.record_changes, answering=False)
    await queued(desk)
    assert not await log.append_turn(turn(1))
    assert await log.append_turn(turn(2, for_desk=True))
    said = [item.content for item in await desk.messages.load_after(key(), 0) if item.sender is not Sender.SYSTEM]
    assert said == ["问题2"]
