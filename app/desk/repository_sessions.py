"""What is read of the human desk: the queue, single sessions, what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, exists, func, or_, select

from agents.types import Outcome
from app.conversations.tables import StoredTurn
from app.db.base import match_equal, match_session, now
from app.db.engine import Database
from app.desk import repository
from app.desk.repository import COLUMNS, build_session
from app.desk.tables import DeskEvent, DeskMessageRow
from app.desk.tables import DeskSessionRow as Table
from app.desk.types import ACTIVE, WAITING, Actor, DeskSession, Event, HistoryEntry, Sender, Standing, State
from app.types import SessionKey

# How long a session that is over stays in the list of the person who had it.
RECENT = timedelta(days=7)
_IN_TURN = Table.priority.desc(), Table.queued_at, Table.session_id
_WAITING = Table.state.in_([state.value for state in WAITING])
# Made once, as the one below: to put a statement together anew costs as much as to carry it out.
_ACTIVE = select(Table.tenant_id, Table.session_id, Table.state, Table.version, Table.messages, Table.agent_id).where(
    Table.state.in_([state.value for state in ACTIVE])
)
_FRESH = (
    select(Table.fresh_at)
    .where(Table.tenant_id == bindparam("tenant"), Table.session_id == bindparam("session"))
    .scalar_subquery()
)
_LAST_OUTCOME = (
    select(StoredTurn.outcome, StoredTurn.response["data"]["agent"].as_string())
    .where(
        StoredTurn.tenant_id == bindparam("tenant"),
        StoredTurn.session_id == bindparam("session"),
        StoredTurn.outcome != Outcome.REJECTED.value,
        or_(_FRESH.is_(None), StoredTurn.created_at > _FRESH),
    )
    .order_by(StoredTurn.number.desc())
    .limit(1)
)


class DeskSessionRepository:
    """Sessions of all tenants at the desk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: SessionKey) -> DeskSession | None:
        """Finds a session as the desk knows it; None if it was never there."""
        return await self._database.run_in_reader(repository.find, key)

    async def list_waiting(self, tenant: str, limit: int = 200) -> list[DeskSession]:
        """Lists the sessions that a person may accept, by priority and then by age."""
        return await self._load_sessions(Table.tenant_id == tenant, _WAITING, limit=limit)

    async def list_assigned(self, tenant: str, agent_id: str = "", limit: int = 200) -> list[DeskSession]:
        """Lists the sessions that a person has. agent_id: only this person's."""
        mine = [Table.agent_id == agent_id] if agent_id else []
        return await self._load_sessions(
            Table.tenant_id == tenant, Table.state == State.ASSIGNED.value, *mine, limit=limit
        )

    async def list_recent(self, tenant: str, agent_id: str, limit: int) -> list[DeskSession]:
        """Lists the sessions that this person had and has no more, the latest first."""
        had = DeskEvent
        theirs = exists().where(
            match_equal(had, Table, "session_id"),
            had.agent_id == agent_id,
            had.event.in_([Event.ACCEPT.value, Event.TRANSFER.value]),
        )
        held = (Table.state == State.ASSIGNED.value) & (Table.agent_id == agent_id)
        since = Table.active_at > now() - RECENT
        where = Table.tenant_id == tenant, since, ~held, ~_WAITING, theirs
        query = select(*COLUMNS).where(*where).order_by(Table.active_at.desc(), Table.session_id).limit(limit)
        return [build_session(row) for row in await self._database.fetch(query)]

    async def count_ahead(
        self, tenant: str, priority: int, queued_at: datetime | None = None, session_id: str = ""
    ) -> int:
        """Counts the sessions that are served first. queued_at: None for a session that comes now."""
        first: ColumnElement[bool] = Table.priority >= priority
        if queued_at is not None:
            older = (Table.queued_at < queued_at) | ((Table.queued_at == queued_at) & (Table.session_id < session_id))
            first = or_(Table.priority > priority, (Table.priority == priority) & older)
        query = select(func.count()).select_from(Table).where(Table.tenant_id == tenant, _WAITING, first)
        ahead: int = await self._database.fetch_value(query)
        return ahead

    async def load_active(self) -> Mapping[SessionKey, Standing]:
        """Loads where all sessions stand that are with the desk now."""
        rows = await self._database.fetch(_ACTIVE)
        return {SessionKey(row[0], row[1]): Standing(State(row[2]), *row[3:]) for row in rows}

    async def load_history(self, key: SessionKey) -> list[HistoryEntry]:
        """Loads all transitions of a session, the first one first."""
        table = DeskEvent
        columns = [getattr(table, item.name) for item in fields(HistoryEntry)]
        query = select(*columns).where(match_session(table, key)).order_by(table.version)
        rows = await self._database.fetch(query)
        return [
            HistoryEntry(row[0], Event(row[1]), State(row[2]), State(row[3]), Actor(row[4]), *row[5:]) for row in rows
        ]

    async def find_last_outcome(self, key: SessionKey) -> tuple[str, str] | None:
        """Finds outcome and agent of the last turn since a person had the session."""
        wanted = {"tenant": key.tenant, "session": key.session_id}
        row = await self._database.fetch_first(_LAST_OUTCOME, wanted)
        return (row[0], row[1]) if row else None

    async def list_forgotten(self, silent: timedelta) -> list[DeskSession]:
        """Lists active sessions in which nothing happened for so long and that were not put aside."""
        # What a round leaves over is found by the next one, since those of this round are not in this state any more.
        active, limit = Table.state.in_([state.value for state in ACTIVE]), now() - silent
        aside = func.coalesce(Table.snoozed_until, Table.active_at) >= limit
        return await self._load_sessions(active, Table.active_at < limit, ~aside, limit=500)

    async def list_unanswered(self, silent: timedelta) -> list[DeskSession]:
        """Lists sessions with a person who did not answer the customer's last message for so long."""
        last = (
            select(DeskMessageRow.sender)
            .where(match_equal(DeskMessageRow, Table, "session_id"), DeskMessageRow.seq == Table.messages)
            .scalar_subquery()
        )
        return await self._load_sessions(
            Table.state == State.ASSIGNED.value,
            Table.active_at < now() - silent,
            last == Sender.CUSTOMER.value,
            or_(Table.snoozed_until.is_(None), Table.snoozed_until < now()),
            limit=500,
        )

    async def list_in_state(self, *states: State) -> list[DeskSession]:
        """Lists all sessions in these states, of every tenant."""
        return await self._load_sessions(Table.state.in_([state.value for state in states]), limit=1000)

    async def _load_sessions(self, *wanted: ColumnElement[bool], limit: int) -> list[DeskSession]:
        query = select(*COLUMNS).where(*wanted).order_by(*_IN_TURN).limit(limit)
        return [build_session(row) for row in await self._database.fetch(query)]
