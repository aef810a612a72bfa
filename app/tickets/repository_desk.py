"""Resolves tickets that the desk opened while nobody was there, once a person has served the customer."""

from __future__ import annotations

from sqlalchemy import Connection, select

from agents.ticketing.types import DONE
from app.db.base import match_session
from app.tickets.repository import CUSTOMER, SYSTEM, change_in_transaction
from app.tickets.states import resolve_desk_ticket
from app.tickets.tables import Ticket, TicketEvent
from app.types import SessionKey


def resolve_desk_tickets(connection: Connection, key: SessionKey) -> None:
    """Resolves what the desk opened for the conversation, within the transaction that resolves the session. A ticket of
    the customer's own, and one that staff have done anything with, stays as it is.
    """
    left = select(Ticket.number).where(match_session(Ticket, key), Ticket.state.not_in([state.value for state in DONE]))
    for number in connection.execute(left.order_by(Ticket.number).with_for_update()).scalars().all():
        history = (TicketEvent.tenant_id == key.tenant) & (TicketEvent.ticket == number)
        actors = set(connection.execute(select(TicketEvent.actor).where(history)).scalars())
        if SYSTEM in actors and actors <= {SYSTEM, CUSTOMER}:
            change_in_transaction(connection, key.tenant, number, resolve_desk_ticket)
