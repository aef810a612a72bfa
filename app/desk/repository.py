"""Sessions at the human desk: read, and changed by compare-and-set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from app.db.base import match_session, now
from app.db.engine import insert_into
from app.desk.tables import DeskEvent as EventTable
from app.desk.tables import DeskSessionRow as Table
from app.desk.types import DeskSession, State
from app.types import SessionKey

if TYPE_CHECKING:
    from app.desk.moves import Step

COLUMNS = tuple(getattr(Table, "tenant_id" if item.name == "tenant" else item.name) for item in fields(DeskSession))
# Made once, as those below: to put a statement together anew costs as much as to carry it out.
_FIND = select(*COLUMNS).where(Table.tenant_id == bindparam("tenant"), Table.session_id == bindparam("session"))
_FIND_LOCKED = _FIND.with_for_update()
_STATES = (
    select(Table.tenant_id, Table.session_id, Table.state)
    .where(Table.tenant_id == bindparam("tenant"), Table.session_id.in_(bindparam("sessions", expanding=True)))
    .order_by(Table.session_id)
    .with_for_update()
)
_EMPTY: dict[str, Any] = {
    "agent_id": "",
    "user_id": "",
    "caller": "",
    "channel": "",
    "reason": "",
    "priority": 0,
    "emotion": 0.0,
    "skill": "",
    "team": "",
    "card": {},
    "ticket": "",
    "queued_at": None,
    "assigned_at": None,
    "resolved_at": None,
    "fresh_at": None,
    "snoozed_until": None,
}


def build_session(row: Row[Any]) -> DeskSession:
    """Builds a session from a row of `COLUMNS`."""
    values = tuple(row)
    return DeskSession(values[0], values[1], State(values[2]), *values[3:])


def find(connection: Connection, key: SessionKey, *, lock: bool = False) -> DeskSession | None:
    """Finds a session as the desk knows it; None if it was never there. lock: until the transaction ends."""
    wanted = {"tenant": key.tenant, "session": key.session_id}
    row = connection.execute(_FIND_LOCKED if lock else _FIND, wanted).first()
    return build_session(row) if row else None


def load_states(connection: Connection, keys: Collection[SessionKey]) -> Mapping[SessionKey, State]:
    """Loads the states of those sessions that were with the desk, and locks them until the transaction ends."""
    found: dict[SessionKey, State] = {}
    for tenant in sorted({key.tenant for key in keys}):  # in one order, or two transactions wait for each other
        wanted = {"tenant": tenant, "sessions": [key.session_id for key in keys if key.tenant == tenant]}
        found |= {SessionKey(row[0], row[1]): State(row[2]) for row in connection.execute(_STATES, wanted)}
    return found


def insert_session(connection: Connection, key: SessionKey) -> None:
    """Inserts the row of a session that was never with the desk."""
    moment = now()
    opened = {"state": State.BOT.value, "version": 0, "messages": 0, "active_at": moment, "updated_at": moment}
    row = insert_into(connection, Table).values(tenant_id=key.tenant, session_id=key.session_id, **(_EMPTY | opened))
    connection.execute(row.on_conflict_do_nothing())


def update_session(connection: Connection, before: DeskSession, values: Mapping[str, Any]) -> bool:
    """Writes values as the session's next version, if it still stands as it was read. Returns whether it did."""
    unchanged = match_session(Table, before.key), Table.version == before.version, Table.state == before.state.value
    new = {**values, "version": before.version + 1, "updated_at": now()}
    return connection.execute(update(Table).where(*unchanged).values(new)).rowcount == 1


def set_ticket(connection: Connection, key: SessionKey, number: str) -> None:
    """Records the ticket that stands for a person; this is no transition."""
    connection.execute(update(Table).where(match_session(Table, key)).values(ticket=number))


def record(connection: Connection, before: DeskSession, step: Step, target: State) -> None:
    """Records a transition that was made."""
    row = {
        "tenant_id": step.key.tenant,
        "session_id": step.key.session_id,
        "version": before.version + 1,
        "event": step.event.value,
        "source": before.state.value,
        "target": target.value,
        "actor": step.actor.value,
        "agent_id": step.agent_id,
        "note": step.note,
        "created_at": now(),
    }
    connection.execute(insert(EventTable).values(row))


def record_member(connection: Connection, key: SessionKey, caller: str) -> None:
    """Records the member whose conversation it turned out to be, so that staff see at once whom they talk to."""
    connection.execute(update(Table).where(match_session(Table, key)).values(caller=caller, user_id=caller))
