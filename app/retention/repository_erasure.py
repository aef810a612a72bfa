"""Deletes conversations with all that was made of them, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, tuple_, update

from app.chat.after import KIND as TURNS
from app.chat.after import gap_question
from app.conversations.questions import digest
from app.conversations.tables import Conversation, Turn
from app.db.tables import OutboxEvent
from app.gaps.tables import KnowledgeGap
from app.idempotency import repository as requests
from app.tickets.repository_erasure import erase
from app.webhooks.events import KIND as WEBHOOK
from app.webhooks.events import about, about_gap, about_session
from app.webhooks.tables import WebhookDelivery

Asked = list[tuple[str, datetime]]
"""Gap and time of turns that the knowledge base did not answer."""


def forget(connection: Connection, tenant: str, sessions: Sequence[str]) -> int:
    """Deletes the conversations and returns how many there were.

    With a conversation go its turns, their feedback, and what the desk has of it; the events about it that were not
    handed on yet, and the payloads of those that were; the gaps that nobody else asked about. Its tickets stay, without
    what was said in it; so do reviewed solutions, which hold no personal data.
    """
    asked = _asked(connection, tenant, sessions)
    mine = (Conversation.tenant_id == tenant) & Conversation.session_id.in_(sessions)
    deleted = connection.execute(delete(Conversation).where(mine)).rowcount
    requests.forget(connection, tenant, sessions)
    if deleted:
        for session in sessions:
            erase(connection, tenant, session)
        gone = [about_session(session) for session in sessions]
        gone += map(about_gap, _forget_gaps(connection, tenant, _forget_pending_gaps(connection, tenant, asked)))
        _forget_events(connection, tenant, gone)
    return deleted


def _asked(connection: Connection, tenant: str, sessions: Sequence[str]) -> Asked:
    query = select(Turn.standalone, Turn.outcome, Turn.response, Turn.created_at).where(
        Turn.tenant_id == tenant, Turn.session_id.in_(sessions)
    )
    found = []
    for standalone, outcome, response, moment in connection.execute(query):
        data = response.get("data", {})
        degraded = bool(data.get("degraded"))
        if question := gap_question(standalone, outcome, data.get("agent", ""), degraded=degraded):
            found.append((digest(question), moment))
    return found


def _forget_pending_gaps(connection: Connection, tenant: str, asked: Asked) -> Asked:
    """Takes gaps out of what is to be counted yet; returns those that were counted already."""
    left = list(asked)
    for key, payload in _pending(connection, tenant, TURNS) if asked else ():
        kept = []
        for gap in payload["gaps"]:
            turn = gap["hash"], datetime.fromisoformat(gap["at"])
            left.remove(turn) if turn in left else kept.append(gap)
        if len(kept) < len(payload["gaps"]):
            connection.execute(update(OutboxEvent).where(_row(tenant, key)).values(payload=payload | {"gaps": kept}))
    return left


def _forget_gaps(connection: Connection, tenant: str, asked: Asked) -> list[str]:
    """Counts the turns back; a gap that nobody else asked about goes. Returns those that are gone."""
    if not asked:
        return []
    table = KnowledgeGap
    mine = (table.tenant_id == tenant) & table.question_hash.in_({gap for gap, _ in asked})
    query = select(table.question_hash, table.first_seen, table.count).where(mine).order_by(table.question_hash)
    gone = []
    for gap, first, count in connection.execute(query.with_for_update()).all():
        times = Counter(name for name, moment in asked if moment >= first)[gap]  # one from before was deleted by age
        row = (table.tenant_id == tenant) & (table.question_hash == gap)
        if times >= count:
            connection.execute(delete(table).where(row))
            gone.append(gap)
        elif times:
            connection.execute(update(table).where(row).values(count=count - times))
    return gone


def _forget_events(connection: Connection, tenant: str, gone: Sequence[str]) -> None:
    for key, payload in _pending(connection, tenant, WEBHOOK):
        if about(payload["data"]) in gone:
            connection.execute(delete(OutboxEvent).where(_row(tenant, key)))
    table = WebhookDelivery
    connection.execute(delete(table).where(tuple_(table.tenant_id, table.about).in_([(tenant, it) for it in gone])))


def _pending(connection: Connection, tenant: str, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Events that were not settled yet; a worker that is at it is waited for."""
    mine = (OutboxEvent.tenant_id == tenant) & (OutboxEvent.kind == kind)
    query = select(OutboxEvent.id, OutboxEvent.payload).where(mine).order_by(OutboxEvent.id).with_for_update()
    return [(key, payload) for key, payload in connection.execute(query)]


def _row(tenant: str, key: str) -> Any:
    return (OutboxEvent.tenant_id == tenant) & (OutboxEvent.id == key)
