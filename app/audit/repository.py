"""The audit log in SQL: written, completed once, read by its tenant, never changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, func, insert, or_, select, update

from app.audit.actions import AuditAction, AuditOutcome, hash_id
from app.audit.tables import AuditRow as Table
from app.db.engine import Database

# How a filter names callers on this machine without a key, who have neither id nor name.
LOCAL = "local"
# Actions that an export reads at a time.
BATCH = 1000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which actions are listed. actor: an account's or key's id or name; actions: one of these, None for any; text: in
    the name of the thing, or one of its ids; since, until: moments, the first included.
    """

    actor: str = ""
    actions: Collection[str] | None = None
    text: str = ""
    outcome: AuditOutcome | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditRepository:
    """Of all tenants; every read names one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_action(self, action: AuditAction) -> None:
        """Stores an action; it is on disk when this returns."""
        values = asdict(action)
        await self._database.execute(insert(Table).values(tenant_id=values.pop("tenant"), **values))

    async def set_outcome(self, action: AuditAction, outcome: AuditOutcome) -> None:
        """Stores the outcome of an action, with the target and the subject of what it created."""
        mine = (Table.tenant_id == action.tenant) & (Table.id == action.id) & Table.outcome.is_(None)
        values = {"outcome": outcome, "target": dict(action.target), "subject": action.subject}
        query = update(Table).where(mine).values(values)
        await self._database.execute(query, durable=False)

    async def load_page(
        self, tenant: str, wanted: AuditFilter, limit: int, offset: int, *, oldest: bool = False
    ) -> tuple[list[AuditAction], int]:
        """Returns one page of a tenant's actions, the latest first unless `oldest`, and the total number."""
        where = _match_filter(tenant, wanted)
        order = Table.id if oldest else Table.id.desc()
        query = select(Table.__table__).where(*where).order_by(order)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_action(row) for row in rows], total

    async def iterate_batches(self, tenant: str, wanted: AuditFilter, most: int) -> AsyncIterator[list[AuditAction]]:
        """Yields a tenant's actions in batches, the latest first, at most `most` of them; no connection is held between
        two batches.
        """
        where, left = _match_filter(tenant, wanted), most
        query = select(Table.__table__).where(*where).order_by(Table.id.desc())
        while left > 0:
            found = [_build_action(row) for row in await self._database.fetch(query.limit(min(BATCH, left)))]
            if not found:
                return
            yield found
            left -= len(found)
            # Behind the last one that was read: by an offset, actions that are added meanwhile would shift the batches.
            query = select(Table.__table__).where(*where, Table.id < found[-1].id).order_by(Table.id.desc())

    async def list_actors(self, tenant: str) -> list[tuple[str, str]]:
        """Returns id and latest name of everybody who did anything, sorted by name."""
        last = func.max(Table.id).label("last")
        latest = select(last).where(Table.tenant_id == tenant).group_by(Table.actor_id).subquery()
        query = select(Table.actor_id, Table.actor).join(latest, Table.id == latest.c.last)
        rows = await self._database.fetch(query.where(Table.tenant_id == tenant).order_by(Table.actor))
        return [(row.actor_id, row.actor) for row in rows]


def _match_filter(tenant: str, wanted: AuditFilter) -> list[ColumnElement[bool]]:
    where = [Table.tenant_id == tenant]
    if wanted.actor == LOCAL:
        where.append((Table.actor_id == "") & (Table.actor == ""))
    elif wanted.actor:
        where.append(or_(Table.actor_id == wanted.actor, Table.actor == wanted.actor))
    if wanted.actions is not None:
        where.append(Table.action.in_(wanted.actions))
    if wanted.text:
        is_named = Table.subject.icontains(wanted.text, autoescape=True)
        ids = (f'"{one}"' for one in (wanted.text, hash_id(wanted.text)))
        where.append(or_(is_named, *(cast(Table.target, Text).contains(one, autoescape=True) for one in ids)))
    if wanted.outcome is not None:
        where.append(Table.outcome == wanted.outcome)
    if wanted.since is not None:
        where.append(Table.at >= wanted.since)
    if wanted.until is not None:
        where.append(Table.at < wanted.until)
    return where


def _build_action(row: Any) -> AuditAction:
    outcome = None if row.outcome is None else AuditOutcome(row.outcome)
    known = row.tenant_id, row.actor_id, row.actor, row.action, row.target, row.request_id
    details = {"subject": row.subject, "changed": tuple(row.changed)}
    return AuditAction(*known, outcome=outcome, id=row.id, at=row.at, **details)
