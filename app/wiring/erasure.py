"""Deletes conversations with all that was made of them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.chat.after import KIND, asked
from app.conversations import repository as conversations
from app.gaps import repository as gaps
from app.idempotency import repository as requests
from app.tickets.repository_erasure import erase
from app.webhooks import repository as webhooks
from app.webhooks.events import about_gap, about_session

if TYPE_CHECKING:
    from sqlalchemy import Connection


def forget(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """Deletes the conversations and returns how many there were.

    With a conversation go its turns, their feedback, and what the desk has of it; the events about it that were not
    handed on yet, and the payloads of those that were; the gaps that nobody else asked about. Its tickets stay, without
    what was said in it; so do reviewed solutions, which hold no personal data.
    """
    unanswered = asked(conversations.turns_of(connection, tenant, sessions))
    deleted = conversations.delete_all(connection, tenant, sessions)
    requests.forget(connection, tenant, sessions)
    if deleted:
        for session in sessions:
            erase(connection, tenant, session)
        gone = [about_session(session) for session in sessions]
        gone += map(about_gap, gaps.forget(connection, tenant, KIND, unanswered))
        webhooks.forget(connection, tenant, gone)
    return deleted
