"""Conversations and their turns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.db.engine import Database
from app.db.models import Conversation, Turn, now


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One question and its reply. `standalone` is the question as it was searched; `response` what was sent."""

    id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime


class ConversationRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, tenant: str, session_id: str, *, user_id: str = "", channel: str = "") -> None:
        """Creates the conversation unless it is there; one that is there keeps its user and channel."""
        async with self._database.write() as connection:
            moment = now()
            dialect_insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            row = dialect_insert(Conversation).values(
                tenant_id=tenant,
                session_id=session_id,
                user_id=user_id,
                channel=channel,
                turns=0,
                created_at=moment,
                updated_at=moment,
            )
            await connection.execute(row.on_conflict_do_nothing())

    async def append(self, tenant: str, session_id: str, turn: TurnRow) -> None:
        """Adds a turn at the end. Raises NoResultFound when the conversation is not there: `ensure` it first."""
        async with self._database.write() as connection:
            key = (Conversation.tenant_id == tenant) & (Conversation.session_id == session_id)
            counted = (
                update(Conversation)
                .where(key)
                .values(turns=Conversation.turns + 1, updated_at=turn.created_at)
                .returning(Conversation.turns)
            )
            number = (await connection.execute(counted)).scalar_one()
            await connection.execute(
                insert(Turn).values(
                    tenant_id=tenant,
                    id=turn.id,
                    session_id=session_id,
                    number=number,
                    question=turn.question,
                    standalone=turn.standalone,
                    reply=turn.reply,
                    outcome=turn.outcome,
                    response=turn.response,
                    created_at=turn.created_at,
                )
            )

    async def last(self, tenant: str, session_id: str, count: int) -> list[TurnRow]:
        """The last `count` turns, the oldest of them first."""
        query = (
            select(Turn.id, Turn.question, Turn.standalone, Turn.reply, Turn.outcome, Turn.response, Turn.created_at)
            .where(Turn.tenant_id == tenant, Turn.session_id == session_id)
            .order_by(Turn.number.desc())
            .limit(count)
        )
        async with self._database.read() as connection:
            return [TurnRow(*row) for row in await connection.execute(query)][::-1]
