"""What becomes of the ticket of the desk once a person was there."""

from __future__ import annotations

import pytest

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from app.settings import Settings
from app.tickets.customers import CustomerTickets
from app.tickets.repository import BOT, SYSTEM, TicketRepository
from app.tickets.service import TicketService
from app.tickets.sla import build_service_levels
from tests.app.desk.building import TENANT, key, queued
from tests.app.limits.building import limits


@pytest.fixture
def tickets(database: Database) -> TicketService:
    return TicketService(TicketRepository(database), build_service_levels(Settings(_env_file=None)))


async def served(desk: HumanDesk) -> str:
    """The number of the ticket that was made while nobody was there."""
    session = await queued(desk)
    assert session.ticket
    await desk.service.accept_session(key(), "amy")
    await desk.service.resolve(key(), by="amy")
    return session.ticket


async def test_who_was_served_has_no_ticket_left(desk: HumanDesk, tickets: TicketService) -> None:
    number = await served(desk)
    ticket, history = await tickets.get_ticket(TENANT, number)
    assert ticket.state is TicketState.RESOLVED and ticket.resolved_at and ticket.responded_at
    last = history[-1]
    assert (last.kind, last.actor, last.state, last.public) == ("transition", SYSTEM, TicketState.RESOLVED, True)
    (shown,) = await CustomerTickets(tickets, TENANT, limits()).find_tickets(TicketOwner("s"))
    assert (shown.state, shown.note) == (TicketState.RESOLVED, last.text) and "人工客服" in shown.note


async def test_the_next_handoff_has_a_ticket_of_its_own(desk: HumanDesk) -> None:
    first = await served(desk)
    await desk.staff.mark_gone(TENANT, "amy")
    again = await queued(desk)
    assert again.ticket and again.ticket != first


async def test_a_ticket_of_an_earlier_handoff_is_done_as_well(desk: HumanDesk, tickets: TicketService) -> None:
    number = (await queued(desk)).ticket
    await desk.service.leave_queue(key())
    await desk.staff.mark_seen(TENANT, "amy")
    assert (await queued(desk)).ticket == ""
    await desk.service.accept_session(key(), "amy")
    await desk.service.resolve(key())
    assert (await tickets.get_ticket(TENANT, number))[0].state is TicketState.RESOLVED


async def test_what_staff_took_up_stays_theirs(desk: HumanDesk, tickets: TicketService) -> None:
    session = await queued(desk)
    await tickets.add_comment(TENANT, session.ticket, "bob", "明天上门", public=True)
    await desk.service.accept_session(key(), "amy")
    await desk.service.resolve(key())
    ticket, history = await tickets.get_ticket(TENANT, session.ticket)
    assert (ticket.state, history[-1].actor) == (TicketState.OPEN, "bob")


async def test_the_customers_own_ticket_and_what_they_closed_stay_as_they_are(
    desk: HumanDesk, tickets: TicketService
) -> None:
    own, _ = await tickets.create_ticket(TENANT, TicketOwner("s"), NewTicket("空调不制冷", "两天了"), BOT)
    made = (await queued(desk)).ticket
    await tickets.close_ticket(TENANT, TicketOwner("s"), made)
    await desk.service.accept_session(key(), "amy")
    await desk.service.resolve(key())
    assert (await tickets.get_ticket(TENANT, own.number))[0] == own
    assert (await tickets.get_ticket(TENANT, made))[0].state is TicketState.CLOSED
