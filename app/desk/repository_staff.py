"""Who serves customers, and how much they have on their hands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, select, update

from app.db.base import match_equal, now
from app.db.engine import Database, build_upsert
from app.desk.tables import DeskSessionRow
from app.desk.tables import DeskStaff as Table
from app.desk.types import Duty, Staff, State

# How long ago somebody on duty was last seen at most; an open desk page tells every 20 seconds.
ON_DUTY = timedelta(minutes=5)
# Handled sessions by which the waiting time is estimated.
RECENT = 50

_ASSIGNED = (
    select(func.count())
    .select_from(DeskSessionRow)
    .where(
        match_equal(DeskSessionRow, Table, "agent_id"),
        DeskSessionRow.state == State.ASSIGNED.value,
    )
    .scalar_subquery()
)
_COLUMNS = (
    Table.agent_id,
    Table.name,
    Table.skills,
    Table.capacity,
    Table.last_seen,
    _ASSIGNED,
    Table.teams,
    Table.hours,
)
_UNDESCRIBED = {"skills": [], "capacity": 0, "teams": [], "hours": []}
# Made once, as the one below: to put a statement together anew costs as much as to carry it out.
_PRESENT = select(*_COLUMNS).where(Table.tenant_id == bindparam("tenant"), Table.last_seen > bindparam("since"))
_HANDLED = (
    select(DeskSessionRow.assigned_at, DeskSessionRow.resolved_at)
    .where(
        DeskSessionRow.tenant_id == bindparam("tenant"),
        DeskSessionRow.resolved_at.is_not(None),
        DeskSessionRow.assigned_at.is_not(None),
    )
    .order_by(DeskSessionRow.resolved_at.desc())
    .limit(RECENT)
)


@dataclass(frozen=True, slots=True)
class StaffLoad:
    """What a tenant's waiting time depends on: staff on duty, and seconds of the sessions handled last."""

    on_duty: Sequence[Staff]
    handling_seconds: Sequence[float]


def register_member(connection: Connection, tenant: str, agent_id: str) -> Staff:
    """Registers a member of staff who acts as seen just now, and locks the row until the transaction ends, so that
    nobody takes two sessions at once for the last free place.
    """
    _mark_seen(connection, tenant, agent_id)
    member = lock_member(connection, tenant, agent_id)
    assert member is not None
    return member


def lock_member(connection: Connection, tenant: str, agent_id: str) -> Staff | None:
    """Locks and returns a member of staff; None for somebody who never was here."""
    # Read only once it is locked: `assigned` counts the member's sessions, and another transaction that takes one may
    # have held the row until now.
    connection.execute(select(Table.agent_id).where(_match_member(tenant, agent_id)).with_for_update())
    row = connection.execute(select(*_COLUMNS).where(_match_member(tenant, agent_id))).first()
    return _build_staff(row) if row else None


class StaffRepository:
    """The staff of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, tenant: str) -> list[Staff]:
        """Lists everybody who ever served."""
        query = select(*_COLUMNS).where(Table.tenant_id == tenant).order_by(Table.agent_id)
        return [_build_staff(row) for row in await self._database.fetch(query)]

    async def get(self, tenant: str, agent_id: str) -> Staff | None:
        """Returns a member of staff; None for somebody who was never here."""
        row = await self._database.fetch_first(select(*_COLUMNS).where(_match_member(tenant, agent_id)))
        return _build_staff(row) if row else None

    async def put(self, tenant: str, agent_id: str, duty: Duty) -> None:
        """Describes a member of staff by what they serve."""
        values = asdict(duty)
        row = {"tenant_id": tenant, "agent_id": agent_id, "last_seen": None} | values
        await self._database.put_row(Table, row, changed=values)

    async def set_name(self, tenant: str, agent_id: str, name: str) -> None:
        """Sets the name of a person; skills and capacity stay as they are."""
        row = {"tenant_id": tenant, "agent_id": agent_id, "name": name, "last_seen": None} | _UNDESCRIBED
        await self._database.put_row(Table, row, changed={"name": name})

    async def mark_seen(self, tenant: str, agent_id: str) -> None:
        """Records that this person is on duty."""
        await self._database.transact(lambda connection: _mark_seen(connection, tenant, agent_id), durable=False)

    async def mark_gone(self, tenant: str, agent_id: str) -> None:
        """Records that this person leaves."""
        await self._database.execute(update(Table).where(_match_member(tenant, agent_id)).values(last_seen=None))

    async def load(self, tenant: str) -> StaffLoad:
        """Loads who is on duty now, and how long the last sessions took."""
        since = now() - ON_DUTY

        def load(connection: Connection) -> StaffLoad:
            present = connection.execute(_PRESENT, {"tenant": tenant, "since": since})
            handled = connection.execute(_HANDLED, {"tenant": tenant})
            times = [(row.resolved_at - row.assigned_at).total_seconds() for row in handled]
            return StaffLoad([_build_staff(row) for row in present], times)

        return await self._database.run_in_reader(load)


def _mark_seen(connection: Connection, tenant: str, agent_id: str) -> None:
    moment = now()
    row = {"tenant_id": tenant, "agent_id": agent_id, "name": agent_id, "last_seen": moment} | _UNDESCRIBED
    connection.execute(build_upsert(connection, Table, row, changed={"last_seen": moment}))


def _match_member(tenant: str, agent_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.agent_id == agent_id)


def _build_staff(row: Row[Any]) -> Staff:
    agent_id, name, skills, capacity, last_seen, assigned, teams, hours = tuple(row)
    return Staff(agent_id, name, tuple(skills), capacity, last_seen, assigned, tuple(teams), tuple(hours))
