"""Erases deleted conversations from tickets: the record stays, what was said in the conversation goes."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, select, update

from app.tickets.repository import CUSTOMER, ERASED, SYSTEM, NewEvent, TicketOrigin, TicketRow, change_in_transaction
from app.tickets.states import ERASED_SUBJECT
from app.tickets.tables import Ticket, TicketEvent


def erase_conversation(connection: Connection, tenant: str, session_id: str) -> None:
    """Removes the conversation from its tickets, within the transaction that deletes it: the session, subject and
    description that were made of it, and what the customer added. What staff wrote stays, and so do number, state and
    times: staff may go on with the ticket, and with whom it is about, as far as that is a proved member.
    """
    numbers = select(Ticket.number).where(Ticket.tenant_id == tenant, Ticket.session_id == session_id)
    for number in connection.execute(numbers.order_by(Ticket.number)).scalars().all():
        change_in_transaction(connection, tenant, number, lambda ticket: _erase_ticket(connection, tenant, ticket))


def _erase_ticket(connection: Connection, tenant: str, ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
    own = (TicketEvent.tenant_id == tenant) & (TicketEvent.ticket == ticket.number)
    connection.execute(update(TicketEvent).where(own, TicketEvent.actor == CUSTOMER).values(text=""))
    subject, description = _find_kept_texts(connection, own, ticket)
    return replace(ticket, session_id="", subject=subject, description=description), NewEvent(ERASED, SYSTEM)


def _find_kept_texts(connection: Connection, own: ColumnElement[bool], ticket: TicketRow) -> tuple[str, str]:
    """Returns subject and description without what was made from the conversation."""
    rewritten = connection.execute(select(TicketEvent.text).where(own, TicketEvent.kind == "updated")).scalars()
    by_staff = {name for text in rewritten for name in text.split("、")}
    if ticket.origin is TicketOrigin.STAFF:
        by_staff |= {"subject", "description"}
    subject = ticket.subject if "subject" in by_staff else ERASED_SUBJECT
    return subject, ticket.description if "description" in by_staff else ""
