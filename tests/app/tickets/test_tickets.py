from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from agents.understanding.tickets import Category, Priority
from app.conversations.tables import Conversation
from app.db.engine import Database
from app.db.tables import OutboxEvent
from app.errors import Conflict, NotFound
from app.settings import Settings
from app.tickets.customers import CustomerTickets
from app.tickets.repository import BOT, TicketFilter, TicketOrder, TicketRepository, TicketRow
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from app.tickets.states import ERASED_SUBJECT
from app.transcripts.repository import TranscriptRepository
from app.wiring.erasure import forget_conversations
from tests.app.limits.building import limits

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Time:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def go(self, hours: float) -> None:
        self.now += timedelta(hours=hours)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def service(database: Database, time: Time) -> TicketService:
    return TicketService(TicketRepository(database), build_service_levels(Settings()), clock=time)


async def open_ticket(
    service: TicketService,
    tenant: str,
    session: str,
    member: str,
    subject: str,
    description: str,
    priority: Priority = Priority.NORMAL,
) -> TicketRow:
    """A ticket that a customer has opened in a conversation."""
    new = NewTicket(subject, description, priority=priority)
    return (await service.create_ticket(tenant, TicketOwner(session, member), new, BOT))[0]


async def test_a_conversation_has_one_open_ticket_of_a_subject_however_many_ask_at_once(
    service: TicketService, database: Database
) -> None:
    asked = [
        open_ticket(service, "t", "s", "m1", subject, "不制冷") for subject in ("空调 不制冷", "空调不制冷！") * 10
    ]
    numbers = {ticket.number for ticket in await asyncio.gather(*asked)}
    assert len(numbers) == 1
    (number,) = numbers
    assert number.startswith("TK260301") and len(number) == 14
    async with database.read() as connection:
        events = (await connection.execute(select(OutboxEvent.payload))).scalars().all()
    assert [(event["event"], event["data"]["number"]) for event in events] == [("ticket.created", number)]


async def test_other_subjects_conversations_and_tenants_have_tickets_of_their_own(service: TicketService) -> None:
    wanted = [("t", "s", "空调"), ("t", "s", "洗衣机"), ("t", "s2", "空调"), ("u", "s", "空调")]
    tickets = [await open_ticket(service, tenant, session, "", subject, "") for tenant, session, subject in wanted]
    assert len({ticket.number for ticket in tickets}) == 4
    assert (await service.repository.load_page("u", TicketFilter(), 10, 0))[1] == 1
    with pytest.raises(NotFound):
        await service.get_ticket("u", tickets[0].number)


async def test_a_ticket_that_is_done_makes_room_for_another_and_opens_again_beside_it(service: TicketService) -> None:
    first = await open_ticket(service, "t", "s", "", "空调", "")
    await service.move_ticket("t", first.number, TicketState.RESOLVED, "小王")
    second = await open_ticket(service, "t", "s", "", "空调", "")
    assert second.number != first.number
    assert (await service.move_ticket("t", first.number, TicketState.REOPENED, "小王")).state is TicketState.REOPENED


async def test_the_clock_stands_still_while_the_customer_is_waited_for(service: TicketService, time: Time) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "", Priority.URGENT)
    assert ticket.resolve_by == START + timedelta(hours=4)
    time.go(1)
    waiting = await service.move_ticket("t", ticket.number, TicketState.WAITING, "小王", "请提供型号")
    time.go(48)
    assert waiting.compute_remaining(time.now) == timedelta(hours=3) and not waiting.is_breached(time.now)
    going = await service.add_customer_comment("t", TicketOwner("s"), ticket.number, "型号 YS-A1")
    assert going is not None and going.state is TicketState.IN_PROGRESS
    assert going.resolve_by == START + timedelta(hours=52)
    time.go(2)
    done = await service.move_ticket("t", ticket.number, TicketState.RESOLVED, "小王")
    time.go(100)
    assert done.compute_remaining(time.now) == timedelta(hours=1)


async def test_the_first_response_is_the_first_public_word_of_staff(service: TicketService, time: Time) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "", Priority.URGENT)
    time.go(0.5)
    await service.add_comment("t", ticket.number, "小王", "内部备注", public=False)
    assert (await service.get_ticket("t", ticket.number))[0].responded_at is None
    time.go(0.5)
    after = await service.add_comment("t", ticket.number, "小王", "师傅明天上门", public=True)
    assert after.responded_at == START + timedelta(hours=1)
    assert after.is_response_breached(time.now)


async def test_urging_makes_a_ticket_more_urgent_by_a_step_and_never_urgent(service: TicketService) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "", Priority.LOW)
    priorities = [(await service.urge_ticket("t", TicketOwner("s"), ticket.number)) for _ in range(3)]
    assert [row.priority for row in priorities if row] == [Priority.NORMAL, Priority.HIGH, Priority.HIGH]
    assert priorities[-1] is not None and priorities[-1].resolve_by == START + timedelta(hours=12)


async def test_a_way_that_the_table_does_not_know_is_refused_and_changes_nothing(service: TicketService) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "")
    await service.move_ticket("t", ticket.number, TicketState.CLOSED, "小王")
    with pytest.raises(Conflict):
        await service.move_ticket("t", ticket.number, TicketState.IN_PROGRESS, "小王")
    after, history = await service.get_ticket("t", ticket.number)
    assert (after.state, [event.kind for event in history]) == (TicketState.CLOSED, ["created", "transition"])


async def test_of_two_who_change_the_same_version_one_is_told_so(service: TicketService) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "")
    changes = [
        service.edit_ticket("t", ticket.number, name, {"assignee": name}, version=ticket.version)
        for name in ("小王", "小李")
    ]
    results = await asyncio.gather(*changes, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "TicketRow"]


async def test_changes_at_once_are_all_kept_in_one_order(service: TicketService) -> None:
    ticket = await open_ticket(service, "t", "s", "", "空调", "")
    words = [f"说明 {number}" for number in range(20)]
    await asyncio.gather(*(service.add_customer_comment("t", TicketOwner("s"), ticket.number, text) for text in words))
    after, history = await service.get_ticket("t", ticket.number)
    assert [event.number for event in history] == list(range(1, 22))
    assert {event.text for event in history} - {""} == set(words)
    assert after.version == 21


async def test_customers_reach_their_own_tickets_only(service: TicketService) -> None:
    mine = await open_ticket(service, "t", "s", "m1", "空调", "")
    await service.add_comment("t", mine.number, "小王", "内部：客户难缠", public=False)
    await service.add_comment("t", mine.number, "小王", "师傅明天上门", public=True)
    tickets = CustomerTickets(service, "t", limits())
    for owner in (TicketOwner("s"), TicketOwner("elsewhere", "m1")):
        (found,) = await tickets.find_tickets(owner, mine.number)
        assert (found.number, found.note) == (mine.number, "师傅明天上门")
    for stranger in (TicketOwner("elsewhere"), TicketOwner("elsewhere", "m2"), TicketOwner("", "")):
        assert await tickets.find_tickets(stranger) == await tickets.find_tickets(stranger, mine.number) == []
        assert await tickets.add(stranger, mine.number, "x") is None
        assert await tickets.urge(stranger, mine.number) is None
        assert await tickets.close(stranger, mine.number) is None
    assert await CustomerTickets(service, "u", limits()).find_tickets(TicketOwner("s", "m1")) == []


async def test_what_a_closed_ticket_does_not_allow_shows_the_ticket_as_it_stands(service: TicketService) -> None:
    tickets = CustomerTickets(service, "t", limits())
    created = await tickets.open(TicketOwner("s"), NewTicket("空调", "", Category.REPAIR))
    assert created is not None
    opened, new = created
    assert new
    closed = [await tickets.close(TicketOwner("s"), opened.number) for _ in range(2)]
    assert [ticket.state for ticket in closed if ticket] == [TicketState.CLOSED] * 2
    added = await tickets.add(TicketOwner("s"), opened.number, "还有")
    assert added is not None and added.state is TicketState.CLOSED


async def conversed(database: Database, tenant: str = "t") -> None:
    """A conversation to be deleted."""
    async with database.write() as connection:
        about = {"user_id": "", "channel": "", "turns": 0, "created_at": START, "updated_at": START}
        await connection.execute(insert(Conversation).values(tenant_id=tenant, session_id="s", **about))


async def test_a_deleted_conversation_leaves_the_record_and_takes_its_words(
    service: TicketService, database: Database
) -> None:
    for tenant in ("t", "u"):
        await conversed(database, tenant)
    customers = CustomerTickets(service, "t", limits())
    secret = NewTicket("密码保险柜打不开", "此前提到：保险柜在床底", Category.REPAIR, Priority.HIGH)
    created = await customers.open(TicketOwner("s", "m1"), secret)
    assert created is not None
    opened, _ = created
    for text in ("补充：备用钥匙在花盆里", "还没人来"):
        await customers.add(TicketOwner("s"), opened.number, text)
    await service.add_comment("t", opened.number, "小王", "师傅周三上门", public=True)
    before, _ = await service.get_ticket("t", opened.number)
    untouched = [
        await open_ticket(service, "u", "s", "", "空调", "别的租户"),
        await open_ticket(service, "t", "s2", "", "空调", "别的会话"),
    ]
    transcripts = TranscriptRepository(database, forget_conversations)
    assert await transcripts.delete("t", "s") and not await transcripts.delete("t", "s")
    after, history = await service.get_ticket("t", opened.number)
    assert (after.session_id, after.subject, after.description) == ("", ERASED_SUBJECT, "")
    kept = ("number", "user_id", "category", "priority", "state", "resolve_by", "responded_at", "created_at")
    assert all(getattr(after, name) == getattr(before, name) for name in kept)
    assert [(event.kind, event.text) for event in history] == [
        ("created", ""),
        ("comment", ""),
        ("comment", ""),
        ("comment", "师傅周三上门"),
        ("erased", ""),
    ]
    assert await customers.find_tickets(TicketOwner("s")) == []
    assert [ticket.number for ticket in await customers.find_tickets(TicketOwner("elsewhere", "m1"))] == [opened.number]
    assert (await service.get_ticket("u", untouched[0].number))[0] == untouched[0]
    assert (await service.get_ticket("t", untouched[1].number))[0] == untouched[1]


async def test_what_staff_wrote_outlives_the_conversation(service: TicketService, database: Database) -> None:
    await conversed(database)
    by_staff = await service.create_ticket("t", TicketOwner("s"), NewTicket("发票重开", "财务已核对"), "小王")
    by_desk = await service.open_ticket("t", TicketOwner("s"), NewTicket("保险柜打不开怎么办", "保险柜打不开怎么办"))
    rewritten, _ = await service.create_ticket("t", TicketOwner("s"), NewTicket("保险柜打不开", "在床底"), BOT)
    await service.edit_ticket("t", rewritten.number, "小王", {"description": "换锁芯，约周三上门"})
    await TranscriptRepository(database, forget_conversations).delete("t", "s")
    texts = [
        (row.subject, row.description)
        for row, _ in [
            await service.get_ticket("t", number) for number in (by_staff[0].number, by_desk.number, rewritten.number)
        ]
    ]
    assert texts == [("发票重开", "财务已核对"), (ERASED_SUBJECT, ""), (ERASED_SUBJECT, "换锁芯，约周三上门")]


async def test_lists_show_what_is_most_urgent_first_and_what_is_overdue(service: TicketService, time: Time) -> None:
    low = await open_ticket(service, "t", "a", "", "一", "", Priority.LOW)
    urgent = await open_ticket(service, "t", "b", "", "二", "", Priority.URGENT)
    waiting = await open_ticket(service, "t", "c", "", "三", "", Priority.URGENT)
    done = await open_ticket(service, "t", "d", "", "四", "", Priority.URGENT)
    await service.move_ticket("t", waiting.number, TicketState.WAITING, "小王")
    await service.move_ticket("t", done.number, TicketState.RESOLVED, "小王")
    time.go(5)
    rows, total = await service.repository.load_page("t", TicketFilter(), 10, 0)
    assert ([row.number for row in rows][2:], total) == ([low.number, done.number], 4)
    rows, _ = await service.repository.load_page("t", TicketFilter(states=(TicketState.OPEN,)), 10, 0)
    assert [row.number for row in rows] == [urgent.number, low.number]
    overdue, _ = await service.repository.load_page("t", TicketFilter(overdue=True), 10, 0)
    assert [row.number for row in overdue] == [urgent.number, low.number]  # by the real clock START is long ago


async def test_the_desk_has_one_ticket_of_a_conversation_whatever_it_is_about(service: TicketService) -> None:
    owner = TicketOwner("s", "m1")
    asked = [NewTicket("退货运费谁出", "退货运费谁出"), NewTicket("发票怎么开", "发票怎么开")]
    first, second = [await service.open_ticket("t", owner, new) for new in asked]
    assert (second.number, second.subject) == (first.number, "退货运费谁出")
    own = await open_ticket(service, "t", "s", "m1", "退货运费谁出", "")
    assert own.number != first.number


async def test_lists_are_narrowed_and_ordered_as_asked(service: TicketService, time: Time) -> None:
    slow = await open_ticket(service, "t", "a", "", "一", "", Priority.LOW)
    time.go(1)
    quick = (
        await service.create_ticket("t", TicketOwner("b"), NewTicket("二", "", Category.SAFETY, Priority.HIGH), BOT)
    )[0]
    time.go(1)
    done = await open_ticket(service, "t", "conversation-3", "", "三", "", Priority.URGENT)
    await service.move_ticket("t", done.number, TicketState.CLOSED, "小王")
    await service.edit_ticket("t", slow.number, "小王", {"team": "t1"})
    await service.edit_ticket("t", quick.number, "小王", {"assignee": "amy", "team": "t1"})
    orders = {
        TicketOrder.URGENCY: [quick, slow, done],
        TicketOrder.DUE: [quick, slow, done],
        TicketOrder.NEWEST: [done, quick, slow],
        TicketOrder.OLDEST: [slow, quick, done],
        TicketOrder.UPDATED: [quick, slow, done],
    }
    for order, expected in orders.items():
        rows, _ = await service.repository.load_page("t", TicketFilter(), 10, order=order)
        assert [row.number for row in rows] == [row.number for row in expected], order
    wanted = {
        TicketFilter(category=Category.SAFETY): [quick],
        TicketFilter(team="t1"): [quick, slow],
        TicketFilter(assignee="amy", team="t1"): [quick],
        TicketFilter(unassigned=True): [done],
        TicketFilter(text="conversation-3"): [done],
    }
    for narrowed, expected in wanted.items():
        rows, total = await service.repository.load_page("t", narrowed, 10)
        assert [row.number for row in rows] == [row.number for row in expected], narrowed
        assert total == len(expected)
    assert await service.repository.load_page("u", TicketFilter(assignee="amy"), 10) == ([], 0)
