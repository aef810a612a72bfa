"""What people answered, reviewed, for the knowledge base to take over."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, or_, select

from app.db.base import match_session, now
from app.db.engine import Database, insert_into
from app.db.outbox import PendingEvent
from app.desk.tables import DeskSolution as Table
from app.types import SessionKey

# A person vouches for it.
REVIEWED = "reviewed"
_COLUMNS = (
    Table.id,
    Table.session_id,
    Table.question_hash,
    Table.question,
    Table.answer,
    Table.agent_id,
    Table.state,
    Table.created_at,
    Table.updated_at,
)


@dataclass(frozen=True, slots=True)
class Solution:
    """A question and its answer without personal data; `gap` is the id of the knowledge gap that it closes. Question
    and gap are empty where the customer was beside themselves and asked nothing.
    """

    id: str
    session_id: str
    gap: str
    question: str
    answer: str
    agent_id: str
    state: str
    created_at: datetime
    updated_at: datetime


class SolutionRepository:
    """A tenant's solutions."""

    def __init__(self, database: Database, note: Callable[[Connection, Sequence[PendingEvent]], None]) -> None:
        """note: keeps the gaps of events."""
        self._database = database
        self._note = note

    async def put(self, key: SessionKey, gap: str, question: str, answer: str, agent_id: str) -> Solution:
        """Keeps the solution of a session, and its question as a gap, if any; a later one of the same question replaces
        it.
        """
        moment = now()
        found: Mapping[str, str] = {
            "hash": gap,
            "question": question,
            "outcome": "handoff",
            "at": moment.isoformat(),
        }
        values = {"question": question, "answer": answer, "agent_id": agent_id, "state": REVIEWED, "updated_at": moment}
        new: dict[str, Any] = {
            "tenant_id": key.tenant,
            "id": secrets.token_hex(16),
            "session_id": key.session_id,
            "question_hash": gap,
            "created_at": moment,
        }
        same = [Table.tenant_id, Table.session_id, Table.question_hash]
        async with self._database.write() as connection:
            row = insert_into(connection, Table).values(**(new | values))
            stored = row.on_conflict_do_update(index_elements=same, set_=values).returning(Table.created_at)
            first = (await connection.execute(stored)).scalar_one() == moment
            if first and gap:
                event = PendingEvent(key.tenant, "turns", {"gaps": [found]})
                await connection.run_sync(lambda sync: self._note(sync, [event]))
            query = select(*_COLUMNS).where(match_session(Table, key), Table.question_hash == gap)
            return Solution(*(await connection.execute(query)).one())

    async def load_page(
        self, tenant: str, *, session_id: str = "", text: str = "", offset: int = 0, limit: int = 200
    ) -> tuple[list[Solution], int]:
        """Loads solutions, the latest first, and how many there are in all. session_id: of this session alone; text: in
        question or answer.
        """
        where = Table.tenant_id == tenant
        if session_id:
            where &= Table.session_id == session_id
        if text:
            where &= or_(*(column.icontains(text, autoescape=True) for column in (Table.question, Table.answer)))
        query = select(*_COLUMNS).where(where).order_by(Table.created_at.desc(), Table.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [Solution(*row) for row in rows], total
