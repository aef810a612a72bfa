"""How much waits: for a person, for the outbox, for webhooks, for ingestion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from app.db.engine import Database
from app.db.tables import OutboxEvent
from app.desk.tables import DeskSessionRow
from app.desk.types import ACTIVE
from app.documents.tables import IngestionFile
from app.webhooks.tables import WebhookDelivery

# By tenant, and by state or kind.
Counts = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Backlog:
    """desk: sessions that wait for a person or have one, by state; outbox: events by kind; deliveries: of webhooks that
    did not arrive, by state; files: of ingestion, by state.
    """

    desk: Counts
    outbox: Counts
    deliveries: Counts
    files: Counts


class BacklogRepository:
    """All of it counts, on indexes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, only: str | None) -> Backlog:
        """Reads what waits. only: of one tenant, None for every tenant's."""
        waiting = DeskSessionRow.state.in_([state.value for state in ACTIVE])
        queries = (
            _select_counts(DeskSessionRow, DeskSessionRow.state, only).where(waiting),
            _select_counts(OutboxEvent, OutboxEvent.kind, only),
            _select_counts(WebhookDelivery, WebhookDelivery.state, only).where(WebhookDelivery.state != "delivered"),
            _select_counts(IngestionFile, IngestionFile.state, only),
        )
        found = [{(row[0], str(row[1])): row[2] for row in await self._database.fetch(query)} for query in queries]
        return Backlog(*found)


def _select_counts(table: Any, column: Any, only: str | None) -> Select[Any, Any, int]:
    query = select(table.tenant_id, column, func.count()).group_by(table.tenant_id, column)
    return query if only is None else query.where(table.tenant_id == only)
