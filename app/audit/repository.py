"""The audit log in SQL: written, completed once, read by its tenant, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, insert, or_, select, update

from app.audit.actions import AuditAction, AuditOutcome
from app.audit.tables import AuditRow as Table
from app.db.engine import Database


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which actions are listed. actor: a key's id or name; since, until: moments, the first included."""

    actor: str = ""
    action: str = ""
    outcome: AuditOutcome | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditRepository:
    """Of all tenants; every read names one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, action: AuditAction) -> None:
        """Keeps it; on the disk when this returns."""
        values = {
            "tenant_id": action.tenant,
            "id": action.id,
            "at": action.at,
            "actor_id": action.actor_id,
            "actor": action.actor,
            "action": action.action,
            "target": dict(action.target),
            "outcome": action.outcome,
            "request_id": action.request_id,
        }
        await self._database.transact(lambda connection: connection.execute(insert(Table).values(values)))

    async def finish(self, action: AuditAction, outcome: AuditOutcome, target: Mapping[str, str]) -> None:
        """Says what came of it. target: with what was made."""
        mine = (Table.tenant_id == action.tenant) & (Table.id == action.id) & Table.outcome.is_(None)
        query = update(Table).where(mine).values(outcome=outcome, target=dict(target))
        await self._database.transact(lambda connection: connection.execute(query), durable=False)

    async def page(self, tenant: str, wanted: AuditFilter, limit: int, offset: int) -> tuple[list[AuditAction], int]:
        """A tenant's actions, the latest first, and how many there are."""
        where = _conditions(tenant, wanted)
        query = select(Table.__table__).where(*where).order_by(Table.id.desc()).limit(limit).offset(offset)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(Table).where(*where))).scalar_one()
            return [_action(row) for row in await connection.execute(query)], total


def _conditions(tenant: str, wanted: AuditFilter) -> list[ColumnElement[bool]]:
    where = [Table.tenant_id == tenant]
    if wanted.actor:
        where.append(or_(Table.actor_id == wanted.actor, Table.actor == wanted.actor))
    if wanted.action:
        where.append(Table.action == wanted.action)
    if wanted.outcome is not None:
        where.append(Table.outcome == wanted.outcome)
    if wanted.since is not None:
        where.append(Table.at >= wanted.since)
    if wanted.until is not None:
        where.append(Table.at < wanted.until)
    return where


def _action(row: Any) -> AuditAction:
    outcome = None if row.outcome is None else AuditOutcome(row.outcome)
    known = row.tenant_id, row.actor_id, row.actor, row.action, row.target, row.request_id
    return AuditAction(*known, outcome=outcome, id=row.id, at=row.at)
