"""All that there is of a customer: tickets, notes and votes of all conversations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, select

from app.conversations.tables import Conversation, Feedback, StoredTurn
from app.db.base import match_equal
from app.db.engine import Database
from app.desk.tables import DeskNoteRow, DeskStaff
from app.tickets.tables import Ticket

# Of each kind, the latest.
MOST = 50


# By which the language of a customer is recognised; of more, the first ones may be of long ago.
LAST_QUESTIONS = 5


class ContactHistory:
    """A customer's history by conversations, whose ids mean something only together with their tenant. Lists are rows
    whose columns are called as the fields of the bodies.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_last_questions(self, tenant: str, sessions: Sequence[str]) -> list[str]:
        """Loads the last LAST_QUESTIONS questions of a customer's conversations, the latest first."""
        own = (StoredTurn.tenant_id == tenant) & StoredTurn.session_id.in_(sessions)
        query = select(StoredTurn.question).where(own).order_by(StoredTurn.created_at.desc()).limit(LAST_QUESTIONS)
        return await self._database.fetch_values(query)

    async def load_period(self, tenant: str, sessions: Sequence[str]) -> tuple[datetime, datetime]:
        """Returns when the first of the conversations began, and when one of them last changed."""
        own = (Conversation.tenant_id == tenant) & Conversation.session_id.in_(sessions)
        query = select(func.min(Conversation.created_at), func.max(Conversation.updated_at)).where(own)
        [(first, last)] = await self._database.fetch(query)
        return first, last

    async def list_tickets(self, tenant: str, sessions: Sequence[str], caller: str) -> Sequence[Row[*tuple[Any, ...]]]:
        """Lists the tickets of the conversations, and those of the member `caller`."""
        mine: ColumnElement[bool] = Ticket.session_id.in_(sessions)
        if caller:
            mine |= (Ticket.user_id == caller) & Ticket.verified
        columns = Ticket.number, Ticket.subject, Ticket.state, Ticket.priority, Ticket.updated_at
        query = select(*columns).where(Ticket.tenant_id == tenant, mine).order_by(Ticket.updated_at.desc()).limit(MOST)
        return await self._database.fetch(query)

    async def list_notes(self, tenant: str, sessions: Sequence[str]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Lists the notes of colleagues about these conversations."""
        table = DeskNoteRow
        name = func.coalesce(DeskStaff.name, table.agent_id).label("name")
        query = (
            select(table.session_id, name, table.content, table.created_at)
            .outerjoin(DeskStaff, match_equal(DeskStaff, table, "agent_id"))
            .where(table.tenant_id == tenant, table.session_id.in_(sessions))
            .order_by(table.created_at.desc())
            .limit(MOST)
        )
        return await self._database.fetch(query)

    async def list_votes(self, tenant: str, sessions: Sequence[str]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Lists the customer's ratings of replies."""
        own = and_(Feedback.tenant_id == StoredTurn.tenant_id, Feedback.turn_id == StoredTurn.id)
        query = (
            select(StoredTurn.session_id, StoredTurn.question, Feedback.rating, Feedback.reason, Feedback.created_at)
            .join(Feedback, own)
            .where(StoredTurn.tenant_id == tenant, StoredTurn.session_id.in_(sessions))
            .order_by(Feedback.created_at.desc())
            .limit(MOST)
        )
        return await self._database.fetch(query)
