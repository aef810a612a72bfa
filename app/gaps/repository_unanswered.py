"""Questions that the knowledge base did not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from app.db import outbox
from app.db.base import match_keys
from app.db.engine import Database, insert_into
from app.db.outbox import PendingEvent
from app.gaps.schemas import UnansweredOut
from app.gaps.tables import KnowledgeGap
from app.webhooks.events import emit_event

DETECTED = "gap.detected"
# Gap and time of turns that the knowledge base did not answer.
Asked = Sequence[tuple[str, datetime]]


class UnansweredRepository:
    """A tenant's questions without an answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_page(
        self, tenant: str, limit: int = 50, offset: int = 0, *, text: str = "", outcome: str = "", often: bool = False
    ) -> tuple[list[UnansweredOut], int]:
        """Returns one page of questions, the latest or the most frequent first, and the total number. text: in the
        question.
        """
        table = KnowledgeGap
        own = table.tenant_id == tenant
        if text:
            own &= table.question.icontains(text, autoescape=True)
        if outcome:
            own &= table.outcome == outcome
        order = (table.count.desc(),) if often else ()
        query = select(table.__table__).where(own).order_by(*order, table.last_seen.desc(), table.question_hash)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [UnansweredOut.model_validate({**row._mapping, "id": row.question_hash}) for row in rows], total


def count_questions(connection: Connection, events: Sequence[PendingEvent]) -> None:
    """Counts the `gaps` of events: {"hash", "question", "outcome", "at"}, `at` in ISO 8601."""
    rows = [
        {
            "tenant_id": event.tenant,
            "question_hash": gap["hash"],
            "question": gap["question"],
            "outcome": gap["outcome"],
            "count": 1,
            "first_seen": datetime.fromisoformat(gap["at"]),
            "last_seen": datetime.fromisoformat(gap["at"]),
        }
        for event in events
        for gap in event.payload["gaps"]
    ]
    if not rows:
        return
    added = insert_into(connection, KnowledgeGap)
    table = KnowledgeGap
    connection.execute(
        added.on_conflict_do_update(
            index_elements=[table.tenant_id, table.question_hash],
            set_={
                "count": table.count + 1,
                "outcome": added.excluded.outcome,
                "last_seen": added.excluded.last_seen,
            },
        ),
        # In one order, or two transactions wait for each other; and by time, so that the latest outcome stays.
        sorted(rows, key=lambda row: (row["tenant_id"], row["question_hash"], row["last_seen"])),
    )
    _emit_detected(connection, rows)


def _emit_detected(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Emits an event for each question that nobody asked before: its count is what was just added."""
    table = KnowledgeGap
    added = Counter((row["tenant_id"], row["question_hash"]) for row in rows)
    found = select(table.tenant_id, table.question_hash, table.question, table.outcome, table.count, table.first_seen)
    for tenant, digest, question, outcome, count, seen in connection.execute(
        found.where(match_keys((table.tenant_id, table.question_hash), added))
    ):
        if count == added[tenant, digest]:
            gap = {"gap_id": digest, "question": question, "outcome": outcome, "first_seen": seen.isoformat()}
            emit_event(connection, tenant, DETECTED, gap)


def forget_questions(connection: Connection, tenant: str, kind: str, asked: Asked) -> list[str]:
    """Takes back that questions were asked, including those of events that wait. kind: of these events. Returns the
    gaps that are deleted, since nobody else asked about them.
    """
    return _forget_counted(connection, tenant, _forget_pending(connection, tenant, kind, asked))


def _forget_pending(connection: Connection, tenant: str, kind: str, asked: Asked) -> Asked:
    """Takes gaps out of what is to be counted yet; returns those that were counted already."""
    left = list(asked)
    for key, payload in outbox.load_pending(connection, tenant, kind) if asked else ():
        kept = []
        for gap in payload["gaps"]:
            turn = gap["hash"], datetime.fromisoformat(gap["at"])
            left.remove(turn) if turn in left else kept.append(gap)
        if len(kept) < len(payload["gaps"]):
            outbox.replace_payload(connection, tenant, key, payload | {"gaps": kept})
    return left


def _forget_counted(connection: Connection, tenant: str, asked: Asked) -> list[str]:
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
