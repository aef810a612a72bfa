"""How far each member of staff has read a session, who has it open, and what was said last."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from sqlalchemy import Connection, and_, func, or_, select

from app.db.base import match_equal, match_session, now
from app.db.engine import Database, build_upsert
from app.desk.tables import DeskMessageRow, DeskReadRow, DeskSessionRow, DeskStaff
from app.desk.types import LastMessage, Sender, Viewer
from app.types import SessionKey

# How long somebody who has a session open is taken to have it; their page says so every 20 seconds.
VIEWING = timedelta(seconds=45)
# Characters of the last message that a list shows.
SNIPPET_CHARS = 200


def mark_read(connection: Connection, key: SessionKey, agent_id: str, seq: int, *, viewing: bool) -> bool | None:
    """Moves a read mark forward, never back and never beyond the last message, and returns whether anything is new:
    the mark, or whether this person has the session open. None for a session that never was at the desk.
    """
    own = match_session(DeskSessionRow, key)
    last = connection.execute(select(DeskSessionRow.messages).where(own)).scalar_one_or_none()
    if last is None:
        return None
    about = {"tenant_id": key.tenant, "session_id": key.session_id, "agent_id": agent_id}
    mine = and_(*(getattr(DeskReadRow, name) == value for name, value in about.items()))
    before = connection.execute(select(DeskReadRow.seq, DeskReadRow.seen_at).where(mine).with_for_update()).first()
    values = {"seq": min(max(seq, before.seq if before else 0), last), "seen_at": now() if viewing else None}
    connection.execute(build_upsert(connection, DeskReadRow, about | values))
    viewed = before is not None and before.seen_at is not None and before.seen_at > now() - VIEWING
    return before is None or values["seq"] > before.seq or viewed != viewing


class ReadRepository:
    """Read marks of all tenants' staff."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark_read(self, key: SessionKey, agent_id: str, seq: int, *, viewing: bool) -> bool | None:
        """See `mark_read`; may be lost with the power."""
        return await self._database.transact(
            lambda connection: mark_read(connection, key, agent_id, seq, viewing=viewing), durable=False
        )

    async def count_unread(self, tenant: str, agent_id: str, sessions: Collection[str]) -> Mapping[str, int]:
        """Counts the messages of customers that a person has not read, since each session was queued the last time.

        Returns session id -> count, at least 1 for a session that the person never opened. Sessions with nothing unread
        are left out.
        """
        if not sessions:
            return {}
        message, read, session = DeskMessageRow, DeskReadRow, DeskSessionRow
        own = match_equal(read, session, "session_id") & (read.agent_id == agent_id)
        new = and_(
            match_equal(message, session, "session_id"),
            message.sender == Sender.CUSTOMER.value,
            message.seq > func.coalesce(read.seq, 0),
            or_(session.queued_at.is_(None), message.created_at >= session.queued_at),
        )
        query = (
            select(session.session_id, read.seq, func.count(message.seq))
            .select_from(session)
            .outerjoin(read, own)
            .outerjoin(message, new)
            .where(session.tenant_id == tenant, session.session_id.in_(sessions))
            .group_by(session.session_id, read.seq)
        )
        rows = await self._database.fetch(query)
        counts = {row[0]: row[2] if row[1] is not None else max(row[2], 1) for row in rows}
        return {id: count for id, count in counts.items() if count}

    async def load_last_messages(self, tenant: str, sessions: Collection[str]) -> Mapping[str, LastMessage]:
        """Loads the beginning of the last message between customer and staff, by session."""
        if not sessions:
            return {}
        table = DeskMessageRow
        mine = (table.tenant_id == tenant) & table.session_id.in_(sessions) & (table.sender != Sender.SYSTEM.value)
        newest = select(table.session_id, func.max(table.seq).label("seq")).where(mine).group_by(table.session_id)
        latest = newest.subquery()
        columns = table.session_id, table.seq, table.sender, func.substr(table.content, 1, SNIPPET_CHARS)
        same = (table.session_id == latest.c.session_id) & (table.seq == latest.c.seq)
        query = select(*columns, table.created_at).join(latest, same).where(table.tenant_id == tenant)
        rows = await self._database.fetch(query)
        return {row[0]: LastMessage(row[1], Sender(row[2]), row[3], row[4]) for row in rows}

    async def list_viewers(self, key: SessionKey, besides: str = "") -> list[Viewer]:
        """Lists who has a session open, by name. besides: this person is left out."""
        table = DeskReadRow
        name = func.coalesce(DeskStaff.name, table.agent_id)
        own = match_session(table, key), table.agent_id != besides, table.seen_at > now() - VIEWING
        query = select(table.agent_id, name).outerjoin(DeskStaff, match_equal(DeskStaff, table, "agent_id")).where(*own)
        rows = await self._database.fetch(query.order_by(name))
        return [Viewer(*row) for row in rows]
