"""Questions that the knowledge base did not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, tuple_

from app.db.engine import Database, insert_into
from app.db.outbox import Event
from app.gaps.tables import KnowledgeGap
from app.webhooks.events import emit

DETECTED = "gap.detected"


@dataclass(frozen=True, slots=True)
class Gap:
    """A question without personal data, how it ended the last time, and how often it was asked."""

    id: str
    question: str
    outcome: str
    count: int
    first_seen: datetime
    last_seen: datetime


class GapRepository:
    """A tenant's gaps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, tenant: str, limit: int = 50, offset: int = 0) -> tuple[list[Gap], int]:
        """The gaps that were asked last, and how many there are."""
        table = KnowledgeGap
        columns = table.question_hash, table.question, table.outcome, table.count, table.first_seen, table.last_seen
        own = table.tenant_id == tenant
        query = select(*columns).where(own).order_by(table.last_seen.desc(), table.question_hash)
        async with self._database.read() as connection:
            rows = [Gap(*row) for row in await connection.execute(query.limit(limit).offset(offset))]
            total = (await connection.execute(select(func.count()).select_from(table).where(own))).scalar_one()
        return rows, total


def note(connection: Connection, events: Sequence[Event]) -> None:
    """Keeps the `gaps` of events: {"hash", "question", "outcome", "at"}, `at` in ISO 8601."""
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
        sorted(rows, key=lambda row: (row["tenant_id"], row["question_hash"], row["last_seen"])),
    )
    _tell(connection, rows)


def _tell(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Of questions that nobody asked before: those whose count is what was just added."""
    table = KnowledgeGap
    added = Counter((row["tenant_id"], row["question_hash"]) for row in rows)
    found = select(table.tenant_id, table.question_hash, table.question, table.outcome, table.count, table.first_seen)
    for tenant, digest, question, outcome, count, seen in connection.execute(
        found.where(tuple_(table.tenant_id, table.question_hash).in_(list(added)))
    ):
        if count == added[tenant, digest]:
            gap = {"gap_id": digest, "question": question, "outcome": outcome, "first_seen": seen.isoformat()}
            emit(connection, tenant, DETECTED, gap)
