"""Conversations as people read them: listed, whole, deleted, and rated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select, tuple_

from app.conversations.tables import Conversation, Feedback, StoredTurn
from app.db.base import now
from app.db.engine import Database, insert_into
from app.privacy import masked
from app.transcripts.types import Rating
from app.webhooks.events import WebhookEvent, emit

Forget = Callable[[Connection, str, Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list; `first_question` is its first message; `verified` tells whether
    the user was proved.
    """

    session_id: str
    user_id: str
    verified: bool
    channel: str
    turns: int
    created_at: datetime
    updated_at: datetime
    first_question: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn; `response` is what was sent, `rating` is None without feedback."""

    id: str
    question: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rating: Rating | None
    reason: str


class TranscriptRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database, forget: Forget, on_commit: Callable[[], None] = lambda: None) -> None:
        """forget: deletes conversations of a tenant with all that was made of them, and returns how many there were.
        on_commit: called after what other parts of the product are told of.
        """
        self._database = database
        self._forget = forget
        self._on_commit = on_commit

    async def recent(
        self, tenant: str, limit: int, *, user_id: str = "", channel: str = "", after: str = ""
    ) -> list[Summary]:
        """The conversations that were active last, at most `limit`; `after`: the session that ended the last page."""
        place = (Conversation.updated_at, Conversation.session_id)
        wanted = [Conversation.tenant_id == tenant]
        if user_id:
            wanted.append(Conversation.user_id == user_id)
        if channel:
            wanted.append(Conversation.channel == channel)
        if after:
            last = select(*place).where(_key(tenant, after)).subquery()
            wanted.append(tuple_(*place) < select(last.c.updated_at, last.c.session_id).scalar_subquery())
        first = (
            select(StoredTurn.question)
            .where(StoredTurn.tenant_id == Conversation.tenant_id, StoredTurn.session_id == Conversation.session_id)
            .order_by(StoredTurn.number)
            .limit(1)
            .scalar_subquery()
        )
        query = (
            select(
                Conversation.session_id,
                Conversation.user_id,
                Conversation.caller != "",
                Conversation.channel,
                Conversation.turns,
                Conversation.created_at,
                Conversation.updated_at,
                func.coalesce(first, ""),
            )
            .where(*wanted)
            .order_by(*(column.desc() for column in place))
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [Summary(*row) for row in await connection.execute(query)]

    async def read(self, tenant: str, session_id: str) -> list[Exchange]:
        """All turns, the oldest first; empty for a session that is not there."""
        query = (
            select(
                StoredTurn.id,
                StoredTurn.question,
                StoredTurn.reply,
                StoredTurn.outcome,
                StoredTurn.response,
                StoredTurn.created_at,
                Feedback.rating,
                func.coalesce(Feedback.reason, ""),
            )
            .outerjoin(Feedback, (Feedback.tenant_id == StoredTurn.tenant_id) & (Feedback.turn_id == StoredTurn.id))
            .where(StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id)
            .order_by(StoredTurn.number)
        )
        async with self._database.read() as connection:
            return [Exchange(*row) for row in await connection.execute(query)]

    async def source(self, tenant: str, session_id: str, turn_id: str, index: int) -> dict[str, Any] | None:
        """The fragment that a reply of the session cites by this number, as it was sent; None for none. The customer's
        own page, which is 0, is none.
        """
        query = select(StoredTurn.response).where(
            StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id, StoredTurn.id == turn_id
        )
        async with self._database.read() as connection:
            response = (await connection.execute(query)).scalar_one_or_none()
        sources: list[dict[str, Any]] = response["data"]["sources"] if response else []
        return next((item for item in sources if item["index"] == index and item.get("document_id")), None)

    async def delete(self, tenant: str, session_id: str) -> bool:
        """Removes the conversation with all that was made of it, whether it was there."""
        return bool(await self._database.transact(lambda connection: self._forget(connection, tenant, [session_id])))

    async def rate(self, tenant: str, session_id: str, turn_id: str, rating: Rating, reason: str) -> bool:
        """Keeps the vote; False when the session has no such turn."""
        async with self._database.write() as connection:
            known = select(StoredTurn.id).where(
                StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id, StoredTurn.id == turn_id
            )
            if (await connection.execute(known)).first() is None:
                return False
            moment = now()
            vote = {"rating": rating, "reason": reason, "created_at": moment}
            row = insert_into(connection, Feedback).values(tenant_id=tenant, turn_id=turn_id, **vote)
            key = [Feedback.tenant_id, Feedback.turn_id]
            await connection.execute(row.on_conflict_do_update(index_elements=key, set_=vote))
            told = {"session_id": session_id, "message_id": turn_id, "rating": rating, "reason": masked(reason)}
            told["created_at"] = moment.isoformat()
            await connection.run_sync(emit, tenant, WebhookEvent.FEEDBACK_GIVEN, told)
        self._on_commit()
        return True


def _key(tenant: str, session_id: str) -> ColumnElement[bool]:
    return (Conversation.tenant_id == tenant) & (Conversation.session_id == session_id)
