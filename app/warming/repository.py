"""What customers began their conversations with, read from these themselves: what was erased is not found here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import exists, select
from sqlalchemy.orm import aliased

from app.chat.hot_cache import KEPT_OUTCOMES
from app.conversations.questions import normalised
from app.conversations.tables import Conversation, StoredTurn
from app.db.engine import Database

LOOKED_AT = 20_000
"""Conversations, the latest."""
MIN_CONVERSATIONS = 2
"""In which a question was asked: what one customer wrote may be about that customer alone."""


class OpeningRepository:
    """The first questions of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def top(self, tenant: str, since: datetime, most: int) -> list[str]:
        """What was asked most often since then and answered for everybody, in the words in which it was asked last."""
        turn, earlier = StoredTurn, aliased(StoredTurn)
        same = (earlier.tenant_id == turn.tenant_id) & (earlier.session_id == turn.session_id)
        session = (Conversation.tenant_id == turn.tenant_id) & (Conversation.session_id == turn.session_id)
        query = (
            select(turn.question)
            .join(Conversation, session)
            .where(Conversation.tenant_id == tenant, Conversation.updated_at >= since, turn.created_at >= since)
            .where(turn.outcome.in_(list(KEPT_OUTCOMES)), turn.rows_of == "")
            .where(~exists().where(same, earlier.number < turn.number))
            .order_by(turn.created_at.desc())
            .limit(LOOKED_AT)
        )
        async with self._database.read() as connection:
            return _often((await connection.execute(query)).scalars(), most)


def _often(questions: Iterable[str], most: int) -> list[str]:
    """questions: the latest first."""
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    for question in questions:
        form = normalised(question)
        counts[form] += 1
        words.setdefault(form, question)
    return [words[form] for form, count in counts.most_common(most) if count >= MIN_CONVERSATIONS]
