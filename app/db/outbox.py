"""Work that follows from a commit: written by that commit, done later, deleted by the commit that holds its effect."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from loguru import logger
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from app.db.base import get_table, now
from app.db.engine import Database
from app.db.leased_queue import Backoff
from app.db.tables import OutboxEvent

_BACKOFF = Backoff(timedelta(seconds=2))


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """Something to be done once. `payload` is JSON."""

    tenant: str
    kind: str
    payload: dict[str, Any]


# Does the work of events of one kind within the transaction given.
Handler = Callable[[Connection, Sequence[PendingEvent]], None]

_ROW = (OutboxEvent.tenant_id == bindparam("tenant")) & (OutboxEvent.id == bindparam("event"))
# Made once, as those below: to put a statement together anew costs as much as to carry it out.
_INSERT = insert(get_table(OutboxEvent))
_DELETE = delete(OutboxEvent).where(_ROW)


def add(connection: Connection, events: Sequence[PendingEvent]) -> None:
    """Writes events in the caller's transaction, due at once."""
    if not events:
        return
    moment = now()
    rows = [
        {
            "tenant_id": event.tenant,
            "id": secrets.token_hex(16),
            "kind": event.kind,
            "payload": event.payload,
            "attempts": 0,
            "due_at": moment,
        }
        for event in events
    ]
    connection.execute(_INSERT, rows)


class Outbox:
    """Exactly once: an effect and the deletion of its event are one transaction, so a kill repeats or loses nothing,
    and the rows that it locks are a lease that nobody has to renew. A power cut takes both or neither, so nothing here
    waits for the disk.
    """

    def __init__(self, database: Database, handlers: Mapping[str, Sequence[Handler]]) -> None:
        """handlers: by kind of event."""
        self._database = database
        self._handlers = handlers

    async def settle_due(self, limit: int = 500) -> int:
        """Does what is due, at most `limit` events, and returns how many were looked at.

        When one fails they are done one by one, and those that fail wait: 2, 4, 8 … seconds, an hour at most.
        """
        try:
            return await self._database.transact(lambda connection: self._settle_due(connection, limit), durable=False)
        except Exception as error:  # a handler's, or the database's own, which the next line meets again
            due = await self._database.transact(lambda connection: _load_due(connection, limit), durable=False)
            logger.bind(count=len(due)).opt(exception=error).warning("outbox events are settled one by one")
        for row in due:
            await self._settle_alone(row)
        return len(due)

    def _settle_due(self, connection: Connection, limit: int) -> int:
        due = _load_due(connection, limit)
        self._handle_rows(connection, due)
        return len(due)

    def _handle_rows(self, connection: Connection, rows: Sequence[_Due]) -> None:
        for kind in {row.event.kind for row in rows}:
            events = [row.event for row in rows if row.event.kind == kind]
            for handler in self._handlers[kind]:
                handler(connection, events)
        if rows:
            connection.execute(_DELETE, [row.key for row in rows])

    async def _settle_alone(self, row: _Due) -> None:
        try:
            await self._database.transact(lambda connection: self._handle_rows(connection, [row]), durable=False)
        except Exception as error:  # whatever a handler raises, the event is kept and tried again
            logger.bind(tenant=row.event.tenant).opt(exception=error).error("an outbox event failed")
            await self._database.transact(lambda connection: _reschedule(connection, row), durable=False)


@dataclass(frozen=True, slots=True)
class _Due:
    key: dict[str, str]
    event: PendingEvent
    attempts: int


def _load_due(connection: Connection, limit: int) -> list[_Due]:
    """Loads the events that are due, oldest first; on PostgreSQL without those that another process works on."""
    columns = OutboxEvent.tenant_id, OutboxEvent.id, OutboxEvent.kind, OutboxEvent.payload, OutboxEvent.attempts
    fresh = OutboxEvent.attempts == 0  # due at once, whatever the clock says by now
    query = select(*columns).where(fresh | _BACKOFF.match_due(OutboxEvent.due_at)).order_by(OutboxEvent.due_at)
    return [
        _Due({"tenant": tenant, "event": event}, PendingEvent(tenant, kind, payload), attempts)
        for tenant, event, kind, payload, attempts in connection.execute(
            query.limit(limit).with_for_update(skip_locked=True)
        )
    ]


def _reschedule(connection: Connection, row: _Due) -> None:
    values = {"attempts": row.attempts + 1, "due_at": now() + _BACKOFF.compute_pause(row.attempts)}
    connection.execute(update(OutboxEvent).where(_ROW).values(values), row.key)


def load_pending(connection: Connection, tenant: str, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns id and payload of a tenant's events that were not settled yet; waits for a worker that
    settles one now.
    """
    mine = (OutboxEvent.tenant_id == tenant) & (OutboxEvent.kind == kind)
    query = select(OutboxEvent.id, OutboxEvent.payload).where(mine).order_by(OutboxEvent.id).with_for_update()
    return [(key, payload) for key, payload in connection.execute(query)]


def replace_payload(connection: Connection, tenant: str, key: str, payload: dict[str, Any]) -> None:
    """Gives an event that waits another payload."""
    connection.execute(update(OutboxEvent).where(_ROW).values(payload=payload), {"tenant": tenant, "event": key})


def drop_event(connection: Connection, tenant: str, key: str) -> None:
    """Takes back an event that waits."""
    connection.execute(_DELETE, {"tenant": tenant, "event": key})
