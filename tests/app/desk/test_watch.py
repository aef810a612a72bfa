from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import say
from app.db.base import now
from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.desk.tables import DeskSessionRow, DeskStaff
from app.desk.types import Duty, Sender, State
from app.errors import Conflict, NotFound
from app.profiles.repository import ProfileRepository
from app.retrieval import build_default_profile
from app.settings import Settings
from app.tickets.repository import TicketFilter, TicketRepository
from app.transcripts.repository import TranscriptRepository
from app.turns.types import Message
from app.wiring.erasure import forget_conversations
from tests.app.desk.building import CLOSED_NOW, TENANT, assigned, closed_zone, desk_over, key, queued


@pytest.fixture
def zone() -> str:
    return closed_zone()


async def aged(database: Database, *, hours: float = 0, away: bool = False) -> None:
    """Lets time pass."""
    async with database.write() as connection:
        earlier = now() - timedelta(hours=hours)
        await connection.execute(update(DeskSessionRow).values(active_at=earlier))
        await connection.execute(update(DeskStaff).values(last_seen=None if away else earlier))


async def with_hours(database: Database, hours: tuple[str, ...], zone: str) -> None:
    profiles = ProfileRepository(database, build_default_profile(Settings(_env_file=None)))
    await profiles.put(TENANT, replace(profiles.default, business_hours=hours, timezone=zone))


async def test_outside_business_hours_the_bot_goes_on_and_a_ticket_stands_for_the_customer(
    database: Database, zone: str
) -> None:
    await with_hours(database, CLOSED_NOW, zone)
    desk = desk_over(database)
    request = HandoffRequest(HandoffReason.ASKED)
    answer = Answer("好的。", Outcome.HANDOFF, "human_request", "escalation", handoff=request)
    decided = await desk.gate.decide_after_answer(Message(TENANT, "s", "转人工"), Question(Utterance("转人工")), answer)
    assert decided.queue is not None and decided.queue.state is State.OUT_OF_HOURS
    assert decided.opening is not None and decided.opening.after_hours
    assert decided.queue.ticket and decided.queue.ticket in decided.answer.reply
    assert decided.answer.reply == "好的。" + decided.added
    tickets, _ = await TicketRepository(database).load_page(TENANT, TicketFilter(session_id="s"))
    assert [ticket.number for ticket in tickets] == [decided.queue.ticket]
    session = await queued(desk)
    assert session.state is State.OUT_OF_HOURS and not desk.feed.is_held(key())
    assert await desk.gate.decide_before_answer(Message(TENANT, "s", "在吗"), Utterance("在吗")) is None
    again = await desk.gate.decide_after_answer(Message(TENANT, "s", "转人工"), Question(Utterance("转人工")), answer)
    assert (again.added, again.opening) == (decided.added, None)  # the same ticket, and when staff are back
    early = await desk.service.accept_session(key(), "amy")  # somebody is at work already
    assert early.state is State.ASSIGNED


async def test_outside_business_hours_the_customer_leaves_by_saying_so(database: Database, zone: str) -> None:
    await with_hours(database, CLOSED_NOW, zone)
    desk = desk_over(database)
    await queued(desk)
    held = await desk.gate.decide_before_answer(Message(TENANT, "s", "取消排队"), Utterance("取消排队"))
    assert held is not None and not held.forward and held.queue.state is State.BOT
    assert held.answer.reply == say("queue_left", False)


async def test_once_the_hours_begin_whoever_waits_is_in_the_queue(database: Database, zone: str) -> None:
    await with_hours(database, CLOSED_NOW, zone)
    desk = desk_over(database)
    await queued(desk)
    await desk.watch.run_round()
    assert (await desk.sessions.list_in_state(State.QUEUED)) == []
    await with_hours(database, (), zone)
    later = desk_over(database)
    await later.watch.run_round()
    assert [session.key for session in await later.sessions.list_in_state(State.QUEUED)] == [key()]


async def test_a_session_whose_person_vanished_goes_back_to_the_front_of_the_queue(
    database: Database, desk: HumanDesk
) -> None:
    await assigned(desk, "answered")
    await desk.service.send_message(key("answered"), "请稍等")
    await assigned(desk, "waiting")
    await _customer_says(database, desk, "waiting")
    await aged(database, hours=1)
    await desk.staff.mark_seen(TENANT, "amy")
    await desk.watch.run_round()
    assert {session.session_id for session in await desk.sessions.list_assigned(TENANT)} == {"answered", "waiting"}
    await aged(database, hours=1, away=True)
    await desk.watch.run_round()
    waiting = await desk.sessions.list_waiting(TENANT)
    assert [(session.session_id, session.agent_id, session.priority) for session in waiting] == [("waiting", "", 1)]
    assert not desk.feed.is_held(key("waiting"))  # until the next person accepts the bot helps


async def test_what_everybody_forgot_is_over(database: Database, desk: HumanDesk) -> None:
    await queued(desk, "a")
    await assigned(desk, "b")
    await aged(database, hours=25)
    await desk.watch.run_round()
    for session in ("a", "b"):
        found = await desk.sessions.find(key(session))
        assert found is not None and found.state is State.CLOSED
    assert not desk.feed.is_held(key("a"))


async def test_who_waits_when_the_last_person_left_gets_a_ticket_once(database: Database, desk: HumanDesk) -> None:
    await desk.staff.mark_seen(TENANT, "amy")
    assert (await queued(desk)).ticket == ""
    await desk.watch.run_round()
    assert (await desk.sessions.find(key())).ticket == ""  # type: ignore[union-attr]
    await desk.staff.mark_gone(TENANT, "amy")
    for _ in range(2):
        await desk.watch.run_round()
    session = await desk.sessions.find(key())
    assert session is not None and session.ticket
    told = [item.content for item in await desk.messages.load_after(key(), 0) if item.sender is Sender.SYSTEM]
    assert sum(session.ticket in text for text in told) == 1


async def test_who_needs_a_skill_that_nobody_on_duty_has_is_told_so_and_gets_a_ticket(
    database: Database, desk: HumanDesk
) -> None:
    await desk.staff.put(TENANT, "amy", Duty("小艾", skills=("物流",)))
    await desk.staff.mark_seen(TENANT, "amy")
    session = await queued(desk, skill="发票")
    state = await desk.queue.get_state(session)
    assert (bool(session.ticket), state.estimated_wait_s, state.ticket) == (True, None, session.ticket)
    other = await queued(desk, "other", skill="物流")
    assert other.ticket == "" and (await desk.queue.get_state(other)).estimated_wait_s is not None
    await desk.service.accept_session(key("other"), "amy")
    moved = await desk.service.transfer_session(key("other"), by="amy", skill="发票")
    assert moved.ticket == ""
    await desk.watch.run_round()
    assert (await desk.sessions.find(key("other"))).ticket  # type: ignore[union-attr]


async def test_a_session_that_was_deleted_or_moved_on_gets_no_ticket(database: Database, desk: HumanDesk) -> None:
    await desk.staff.mark_seen(TENANT, "amy")
    deleted, accepted = await queued(desk, "deleted"), await queued(desk, "accepted")
    assert await TranscriptRepository(database, forget_conversations).delete(TENANT, "deleted")
    await desk.service.accept_session(key("accepted"), "amy")
    for session, refusal in ((deleted, NotFound), (accepted, Conflict)):
        with pytest.raises(refusal):
            await desk.service.open_ticket(session, "工单 {}")
    assert await TicketRepository(database).load_page(TENANT, TicketFilter()) == ([], 0)


async def _customer_says(database: Database, desk: HumanDesk, session: str) -> None:
    from tests.app.conversations.turns import turn
    from tests.app.desk.test_turns import BODY, log_of

    assert await log_of(database, desk).append_turn(turn(1, session, for_desk=True, response=BODY))
