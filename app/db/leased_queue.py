"""Rows of tables as work: claimed by one process at a time, tried again until they are done or given up.

A process that claims a row leases it for LEASE, renews the lease while it is at work, and releases the row with what
came of it. A process that ends says nothing more: its lease ends, and another one claims the row. Nothing of a process
whose row another one has by then is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, update

from app.db.base import LEASE, Base, get_table, is_due, match_keys, now
from app.db.engine import Database

# The values of a primary key, in the order of its columns.
RowKey = tuple[Any, ...]
# 2 ** 12 pauses are longer than any longest one; without a bound the power grows until it is no time any more.
_MAX_DOUBLINGS = 12


class LeaseLost(Exception):
    """A piece of work is not this process's any more: it was cancelled, or another process has it."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """When work that failed is tried again: after a pause that doubles with each failure, up to the longest."""

    first_pause: timedelta
    longest_pause: timedelta = timedelta(hours=1)

    def compute_pause(self, failures: int, at_least: timedelta = timedelta()) -> timedelta:
        """Computes the pause before the next try.

        Args:
            failures: How often it failed before this time.
            at_least: What the failure itself asks for.
        """
        doubled: timedelta = self.first_pause * 2 ** min(failures, _MAX_DOUBLINGS)
        return min(max(doubled, at_least), self.longest_pause)

    def match_due(self, due_at: Any) -> ColumnElement[bool]:
        """Matches rows whose moment has come, or was set before the clock was set back."""
        due: ColumnElement[bool] = is_due(due_at, self.longest_pause)
        return due


@dataclass(frozen=True, slots=True)
class LeasedQueue:
    """The work in one table, which has a column `worker`: the process that has the row, empty for none.

    at_work: the rows that a process can have; lease: the column with the end of a lease. It is `due_at` where nobody
    sees whether a row waits or is at work: then the end of a lease is the moment at which the row is due again.
    """

    table: type[Base]
    at_work: ColumnElement[bool]
    lease: Any

    async def claim_due(
        self, database: Database, query: Any, worker: str, values: dict[str, Any] | None = None
    ) -> Sequence[Any]:
        """Claims rows in a transaction of its own, see `claim`. It reads first: mostly there are none, and writers are
        not disturbed.
        """
        async with database.read() as connection:
            if (await connection.execute(query.limit(1))).first() is None:
                return []
        return await database.transact(lambda connection: self.claim(connection, query, worker, values), durable=False)

    def claim(
        self, connection: Connection, query: Any, worker: str, values: dict[str, Any] | None = None
    ) -> Sequence[Any]:
        """Claims the rows of a query that no other process claims at this moment, in its order.

        Args:
            connection: Of a write transaction.
            query: Selects due rows, with the columns of their primary key.
            worker: Who claims them.
            values: What else is written into them.

        Returns:
            The rows as they were before.
        """
        rows = connection.execute(query.with_for_update(of=self.table, skip_locked=True)).all()
        if rows:
            keys = [tuple(row._mapping[column] for column in self._key_columns) for row in rows]
            self._update_rows(
                connection, match_keys(self._key_columns, keys), {"worker": worker} | self._build_lease(values)
            )
        return rows

    async def renew(
        self, database: Database, keys: Collection[RowKey], worker: str, values: dict[str, Any] | None = None
    ) -> bool:
        """Renews the leases of a worker; False where it has none of these rows any more. values: as in `claim`."""

        def work(connection: Connection) -> bool:  # the lease begins once this is the writer
            return self._update_rows(connection, self.match_held(keys, worker), self._build_lease(values))

        return await database.transact(work, durable=False)

    def release(self, connection: Connection, key: RowKey, worker: str, values: dict[str, Any]) -> bool:
        """Ends a lease and writes what came of the work; False where the row is not the worker's any more, which
        changes nothing.
        """
        freed = {"worker": "", self.lease.key: now()}
        return self._update_rows(connection, self.match_held([key], worker), freed | values)

    def match_held(self, keys: Collection[RowKey], worker: str) -> ColumnElement[bool]:
        """Matches those of the rows that the worker has."""
        return match_keys(self._key_columns, keys) & self._match_worker(worker) & self.at_work

    def match_lost(self, worker: str, *, alone: bool) -> ColumnElement[bool]:
        """Matches, among rows at work, those of processes that ended: their leases did.

        alone: no process but the worker works on this database, so that rows which are not the worker's match, too.
        """
        silent: ColumnElement[bool] = is_due(self.lease, LEASE)
        return silent | ~self._match_worker(worker) if alone else silent

    @property
    def _key_columns(self) -> Sequence[Any]:
        return tuple(get_table(self.table).primary_key.columns)

    def _match_worker(self, worker: str) -> ColumnElement[bool]:
        mine: ColumnElement[bool] = get_table(self.table).columns["worker"] == worker
        return mine

    def _build_lease(self, values: dict[str, Any] | None) -> dict[str, Any]:
        return {self.lease.key: now() + LEASE} | (values or {})

    def _update_rows(self, connection: Connection, where: ColumnElement[bool], values: dict[str, Any]) -> bool:
        return connection.execute(update(self.table).where(where).values(values)).rowcount > 0
