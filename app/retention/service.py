"""Deletes what is older than its tenant keeps it; by default nothing but deliveries of webhooks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from loguru import logger

from app.db.base import now
from app.db.engine import Database
from app.db.leader import try_lead
from app.embeddings.base import KeptEmbeddings
from app.retention.repository import BATCH, RetentionRepository
from app.retention.repository_growing_tables import GrowingTable, list_growing_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

# The one kind that has no tenant: vectors by content, shared by all.
EMBEDDINGS = "embeddings"
# Between batches, so that customers' turns go first.
PAUSE_SECONDS = 0.05
# Of PostgreSQL's advisory locks, the one of whoever deletes.
_LOCK = 7_316_020_412


@dataclass(frozen=True, slots=True)
class RetentionStatus:
    """What there is of a table. days: how long it is kept, 0 for ever; over: rows that may go; oldest: of all rows."""

    kind: str
    table: str
    tenant: str
    days: int
    rows: int
    over: int
    oldest: datetime | str | None


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """What was deleted, or would be."""

    kind: str
    table: str
    tenant: str
    rows: int


class Retention:
    """days: by kind, for tenants that have no period of their own; 0 keeps. forget: see `list_growing_tables`; purge:
    clears indexes of what was deleted, once for all batches.
    """

    def __init__(
        self,
        database: Database,
        days: Mapping[str, int],
        embeddings: KeptEmbeddings,
        forget: Callable[[Connection, str, Sequence[str]], int],
        purge: Callable[[Connection], None],
    ) -> None:
        self._growing = list_growing_tables(forget)
        self._database = database
        self.repository = RetentionRepository(database)
        self._days = days
        self._embeddings = embeddings
        self._purge = purge

    async def load_status(self, tenant: str = "") -> list[RetentionStatus]:
        """Lists every table that grows, with what each tenant has in it."""
        found = []
        async for table, owner, days, rows, oldest in self._list_each(tenant):
            over = await self.repository.count_expired(table, owner, _compute_limit(days)) if days else 0
            found.append(RetentionStatus(table.kind, table.table.__tablename__, owner, days, rows, over, oldest))
        if not tenant:
            days, rows = self._days[EMBEDDINGS], await asyncio.to_thread(self._embeddings.count)
            over = await asyncio.to_thread(self._embeddings.count_unused, days) if days else 0
            found.append(RetentionStatus(EMBEDDINGS, EMBEDDINGS, "", days, rows, over, None))
        return found

    async def apply(self, tenant: str = "", *, dry_run: bool = False) -> list[RemovedRows]:
        """Deletes what is over, batch by batch; tenant: of this one alone. dry_run: only says what it would."""
        removed = []
        if dry_run:
            return [
                RemovedRows(item.kind, item.table, item.tenant, item.over)
                for item in await self.load_status(tenant)
                if item.over
            ]
        async for table, owner, days, _, _ in self._list_each(tenant):
            if days and (rows := await self._remove(table, owner, _compute_limit(days))):
                removed.append(RemovedRows(table.kind, table.table.__tablename__, owner, rows))
        if any(item.kind == "conversations" for item in removed):
            await self._database.transact(self._purge, erases=True)
        if not tenant and self._days[EMBEDDINGS] and (rows := await self._remove_embeddings()):
            removed.append(RemovedRows(EMBEDDINGS, EMBEDDINGS, "", rows))
        return removed

    async def run(self) -> None:
        """Runs `apply` as the daily job of one of several servers, and logs what was deleted."""
        try:
            async with try_lead(self._database, _LOCK) as leads:
                for item in await self.apply() if leads else ():
                    logger.bind(tenant=item.tenant, count=item.rows).info("deleted by age: {}", item.table)
        except Exception:  # the database may be away; the next day comes
            logger.exception("what is over by age cannot be deleted")

    async def _list_each(self, tenant: str) -> AsyncIterator[tuple[GrowingTable, str, int, int, datetime | str | None]]:
        own = await self.repository.load_periods()
        for table in self._growing:
            for owner, rows, oldest in await self.repository.count_rows(table, tenant):
                yield table, owner, own.get((owner, table.kind), self._days[table.kind]), rows, oldest

    async def _remove(self, table: GrowingTable, tenant: str, before: datetime) -> int:
        total = 0
        while batch := await self.repository.remove(table, tenant, before):
            total += batch
            if batch < BATCH:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        return total

    async def _remove_embeddings(self) -> int:
        total = 0
        while batch := await asyncio.to_thread(self._embeddings.forget, self._days[EMBEDDINGS]):
            total += batch
            await asyncio.sleep(PAUSE_SECONDS)
        return total


def _compute_limit(days: int) -> datetime:
    return now() - timedelta(days=days)
