"""What staff write down about a session, for staff alone: no customer's path reads this table."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from app.db.base import match_session, now
from app.db.engine import Database
from app.desk.tables import DeskNoteRow as Table
from app.desk.types import DeskNote
from app.ids import create_id
from app.types import SessionKey


def add(connection: Connection, key: SessionKey, agent_id: str, content: str) -> DeskNote:
    """Keeps a note within a transaction that holds the session."""
    note = DeskNote(create_id(), agent_id, content, now())
    row = {"id": note.id, "agent_id": agent_id, "content": content, "created_at": note.created_at}
    connection.execute(insert(Table).values(tenant_id=key.tenant, session_id=key.session_id, **row))
    return note


class NoteRepository:
    """Reads notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_notes(self, key: SessionKey) -> Sequence[DeskNote]:
        """Lists the notes about a session, the oldest first."""
        query = select(Table.id, Table.agent_id, Table.content, Table.created_at).where(match_session(Table, key))
        return [DeskNote(*row) for row in await self._database.fetch(query.order_by(Table.created_at, Table.id))]
