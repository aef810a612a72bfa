"""One stay of a session at the desk, from the request for a person until it ended: what reports of a team count."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from app.db.base import match_session
from app.desk.tables import DeskHandlingRow as Table
from app.desk.types import DeskSession, Event
from app.types import SessionKey

if TYPE_CHECKING:
    from app.desk.moves import Step

_BEGINS = frozenset({Event.REQUEST, Event.REQUEST_AFTER_HOURS})
_ENDS = frozenset({Event.RESOLVE, Event.LEAVE, Event.CLOSE, Event.EXPIRE})


def follow(connection: Connection, before: DeskSession, step: Step, moment: datetime) -> None:
    """Keeps what a transition does to the stay. before: the session as it was."""
    if step.event in _BEGINS:
        _begin(connection, before, step, moment)
        return
    row = connection.execute(
        select(Table.number, Table.clock_at, Table.accepted_at).where(_open(step.key)).order_by(Table.number.desc())
    ).first()
    if row is None:
        return
    values: dict[str, Any] = {}
    match step.event:
        case Event.OPEN:
            values = {"clock_at": moment}
        case Event.ACCEPT | Event.TRANSFER:
            values = {"agent_id": step.agent_id, "clock_at": row.clock_at or moment}
            values |= {} if row.accepted_at else {"accepted_at": moment}
        case Event.REQUEUE:
            values = {"team": step.values.get("team", ""), "skill": step.values.get("skill", "")}
        case event if event in _ENDS:
            lasted = (moment - (row.clock_at or moment)).total_seconds()
            values = {"ended_at": moment, "ending": event.value, "resolution_s": lasted if row.accepted_at else None}
    if values:
        mine = _open(step.key) & (Table.number == row.number)
        connection.execute(update(Table).where(mine).values(values))


def record_response(connection: Connection, key: SessionKey, moment: datetime) -> None:
    """Records the first response of a person, unless there was one."""
    unanswered = _open(key) & Table.response_s.is_(None)
    row = connection.execute(select(Table.number, Table.clock_at).where(unanswered)).first()
    if row is not None:
        seconds = (moment - (row.clock_at or moment)).total_seconds()
        mine = unanswered & (Table.number == row.number)
        connection.execute(update(Table).where(mine).values(response_s=seconds, responded_at=moment))


def _begin(connection: Connection, before: DeskSession, step: Step, moment: datetime) -> None:
    given = step.values
    row = {
        "tenant_id": step.key.tenant,
        "session_id": step.key.session_id,
        "number": before.version + 1,
        "channel": given.get("channel", before.channel),
        "reason": given.get("reason", ""),
        "priority": given.get("priority", 0),
        "skill": given.get("skill", ""),
        "agent_id": "",
        "team": "",
        "queued_at": moment,
        "clock_at": moment if step.event is Event.REQUEST else None,
        "accepted_at": None,
        "responded_at": None,
        "ended_at": None,
        "ending": "",
        "response_s": None,
        "resolution_s": None,
    }
    connection.execute(insert(Table).values(row))


def _open(key: SessionKey) -> ColumnElement[bool]:
    return match_session(Table, key) & Table.ended_at.is_(None)
