from __future__ import annotations

import asyncio

import pytest

from agents.understanding.utterance import Utterance
from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.desk.types import Actor, DeskMessage, Duty, Event, Sender, State
from app.errors import Conflict, NotFound
from app.tickets.repository import TicketFilter, TicketRepository
from app.transcripts.repository import TranscriptRepository
from app.turns.types import Message
from app.wiring.erasure import forget_conversations
from tests.app.desk.building import TENANT, assigned, desk_over, key, queued


async def said(desk: HumanDesk, session: str = "s", after: int = 0) -> list[DeskMessage]:
    return await desk.messages.load_after(key(session), after)


@pytest.mark.parametrize("rounds", [3])
async def test_of_fifty_who_accept_at_once_exactly_one_wins(database: Database, rounds: int) -> None:
    processes = [desk_over(database) for _ in range(5)]
    for number in range(rounds):
        session = f"s{number}"
        await queued(processes[0], session)
        tries = [processes[i % 5].service.accept_session(key(session), f"staff-{i}") for i in range(50)]
        results = await asyncio.gather(*tries, return_exceptions=True)
        winners = [result for result in results if not isinstance(result, BaseException)]
        losers = [result for result in results if isinstance(result, Conflict)]
        assert (len(winners), len(losers)) == (1, 49)
        assert {error.details["agent_id"] for error in losers} == {winners[0].agent_id}
        assert [entry.event for entry in await processes[0].sessions.load_history(key(session))] == [
            Event.REQUEST,
            Event.ACCEPT,
        ]


async def test_one_person_cannot_take_two_sessions_for_the_last_place(desk: HumanDesk) -> None:
    await desk.staff.put(TENANT, "amy", Duty("小艾", capacity=2))
    for number in range(8):
        await queued(desk, f"s{number}")
    tries = [desk.service.accept_session(key(f"s{number}"), "amy") for number in range(8)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    codes = sorted(result.code if isinstance(result, Conflict) else "" for result in results)
    assert codes == ["", ""] + ["at_capacity"] * 6
    assert len(await desk.sessions.list_assigned(TENANT, "amy")) == 2


async def test_a_deleted_conversation_leaves_nothing_at_the_desk_and_the_bot_answers_again(
    desk: HumanDesk, database: Database
) -> None:
    await assigned(desk)
    await desk.service.send_message(key(), "您好，您的地址是……")
    assert await TranscriptRepository(database, forget_conversations).delete(TENANT, "s")
    assert await desk.sessions.find(key()) is None
    assert (await said(desk), await desk.sessions.load_history(key())) == ([], [])
    message = Message(TENANT, "s", "在吗")
    assert await desk.gate.decide_before_answer(message, Utterance(message.text)) is None and not desk.gate.is_silent(
        message
    )


async def test_a_session_that_wants_a_skill_goes_to_somebody_who_has_it(desk: HumanDesk) -> None:
    await desk.staff.put(TENANT, "amy", Duty("小艾", skills=("物流",)))
    await desk.staff.put(TENANT, "bob", Duty("小博", skills=("发票",)))
    await queued(desk, skill="发票")
    with pytest.raises(Conflict) as error:
        await desk.service.accept_session(key(), "amy")
    assert error.value.code == "skill_missing"
    assert (await desk.service.accept_session(key(), "bob")).state is State.ASSIGNED


async def test_a_resolved_session_goes_back_and_may_be_queued_again(desk: HumanDesk) -> None:
    await assigned(desk)
    done = await desk.service.resolve(key(), by="amy", note="已补发")
    assert (done.state, done.agent_id) == (State.RESOLVED, "amy")
    assert done.fresh_at is not None and done.resolved_at is not None
    again = await queued(desk)
    assert (again.state, again.agent_id, again.resolved_at) == (State.QUEUED, "", None)
    history = await desk.sessions.load_history(key())
    assert [(entry.version, entry.event) for entry in history] == [
        (1, Event.REQUEST), (2, Event.ACCEPT), (3, Event.RESOLVE), (4, Event.REQUEST),
    ]  # fmt: skip
    assert history[2].note == "已补发"


async def test_whoever_waits_already_keeps_the_place(desk: HumanDesk) -> None:
    first = await queued(desk, "a")
    await queued(desk, "b")
    assert await queued(desk, "a") == first
    assert [session.session_id for session in await desk.sessions.list_waiting(TENANT)] == ["a", "b"]


async def test_who_has_a_person_gets_no_ticket_for_asking_again(desk: HumanDesk, database: Database) -> None:
    await desk.staff.mark_seen(TENANT, "amy")
    await assigned(desk)
    await desk.staff.mark_gone(TENANT, "amy")
    assert (await queued(desk)).agent_id == "amy"
    assert await TicketRepository(database).load_page(TENANT, TicketFilter()) == ([], 0)


async def test_messages_are_numbered_without_gaps_whoever_writes_at_once(desk: HumanDesk) -> None:
    await assigned(desk)
    await asyncio.gather(*(desk.service.send_message(key(), f"第{number}条", by="amy") for number in range(30)))
    messages = await said(desk)
    assert [message.seq for message in messages] == list(range(1, 33))
    texts = {message.content for message in messages if message.sender is Sender.AGENT}
    assert texts == {f"第{number}条" for number in range(30)}


async def test_a_message_that_is_sent_again_is_kept_once(desk: HumanDesk) -> None:
    await assigned(desk)
    sent = await asyncio.gather(*(desk.service.send_message(key(), "您好", by="amy", client_id="m1") for _ in range(5)))
    assert len({message.seq for message in sent}) == 1
    await desk.service.resolve(key(), by="amy")
    assert (await desk.service.send_message(key(), "您好", by="amy", client_id="m1")).seq == sent[0].seq
    assert [message.content for message in await said(desk) if message.sender is Sender.AGENT] == ["您好"]


async def test_only_the_person_who_has_the_session_speaks_and_ends_it(desk: HumanDesk) -> None:
    await assigned(desk)
    for refused in (desk.service.send_message(key(), "我来", by="bob"), desk.service.resolve(key(), by="bob")):
        with pytest.raises(Conflict):
            await refused
    await desk.service.resolve(key(), by="amy")
    with pytest.raises(Conflict):
        await desk.service.send_message(key(), "还有", by="amy")


async def test_whoever_has_a_session_may_accept_it_again_and_nobody_else(desk: HumanDesk) -> None:
    await desk.staff.put(TENANT, "amy", Duty("小艾", capacity=1))
    session = await assigned(desk)
    messages = await said(desk)
    assert await desk.service.accept_session(key(), "amy") == session
    assert await said(desk) == messages
    with pytest.raises(Conflict):
        await desk.service.accept_session(key(), "bob")


async def test_a_transfer_keeps_the_session_with_somebody(desk: HumanDesk) -> None:
    await assigned(desk)
    with pytest.raises(NotFound):
        await desk.service.transfer_session(key(), by="amy", to="nobody")
    await desk.staff.put(TENANT, "bob", Duty("小博", capacity=1))
    moved = await desk.service.transfer_session(key(), by="amy", to="bob", note="客户要开专票")
    assert (moved.state, moved.agent_id) == (State.ASSIGNED, "bob")
    with pytest.raises(Conflict):
        await desk.service.send_message(key(), "我还在", by="amy")
    back = await desk.service.transfer_session(key(), by="bob", skill="发票")
    assert (back.state, back.agent_id, back.skill, back.queued_at) == (State.QUEUED, "", "发票", moved.queued_at)
    assert "客户要开专票" not in "".join(message.content for message in await said(desk))


async def test_a_customer_leaves_the_queue_but_not_a_conversation(desk: HumanDesk) -> None:
    await queued(desk)
    assert (await desk.service.leave_queue(key())).state is State.BOT
    with pytest.raises(Conflict):
        await desk.service.leave_queue(key())
    await assigned(desk, "other")
    with pytest.raises(Conflict):
        await desk.service.leave_queue(key("other"))
    closed = await desk.service.close(key("other"), Actor.CUSTOMER)
    assert closed.state is State.CLOSED


async def test_a_session_means_nothing_to_another_tenant(desk: HumanDesk) -> None:
    await queued(desk)
    with pytest.raises(NotFound):
        await desk.service.accept_session(key("s", "other"), "amy")
    assert await desk.sessions.list_waiting("other") == []
    assert await desk.messages.load_after(key("s", "other"), 0) == []


async def test_deleting_a_conversation_takes_its_desk_records_along(desk: HumanDesk, database: Database) -> None:
    from app.transcripts.repository import TranscriptRepository

    await assigned(desk)
    assert await TranscriptRepository(database, forget_conversations).delete(TENANT, "s")
    await desk.feed.poll()
    assert await desk.sessions.find(key()) is None
    assert await said(desk) == []
    assert not desk.feed.is_held(key())
