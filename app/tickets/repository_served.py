"""Tickets that the desk made because nobody was there, once a person was."""

from __future__ import annotations

from sqlalchemy import Connection, select

from agents.ticketing.types import DONE
from app.tickets.repository import CUSTOMER, SYSTEM, change
from app.tickets.states import served
from app.tickets.tables import Ticket, TicketEvent
from app.types import SessionKey


def resolve(connection: Connection, key: SessionKey) -> None:
    """Resolves what the desk opened for the conversation, within the transaction that resolves the session. A ticket of
    the customer's own, and one that staff have done anything with, stays as it is.
    """
    own = (Ticket.tenant_id == key.tenant) & (Ticket.session_id == key.session_id)
    left = select(Ticket.number).where(own, Ticket.state.not_in([state.value for state in DONE]))
    for number in connection.execute(left.order_by(Ticket.number).with_for_update()).scalars().all():
        history = (TicketEvent.tenant_id == key.tenant) & (TicketEvent.ticket == number)
        actors = set(connection.execute(select(TicketEvent.actor).where(history)).scalars())
        if SYSTEM in actors and actors <= {SYSTEM, CUSTOMER}:
            change(connection, key.tenant, number, served)
