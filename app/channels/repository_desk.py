"""What the desk says in sessions that are on a channel."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from app.channels.tables import ChannelSessionRow as Sessions
from app.db.engine import Database
from app.desk.tables import DeskMessageRow, DeskSessionRow
from app.desk.types import Sender

BATCH = 100


@dataclass(frozen=True, slots=True)
class UnseenMessages:
    """Of one session. seen, last: numbers of the last message that was looked at, and that is there; said: who, what
    and with which attachments, in order, of those that are for the customer.
    """

    account: tuple[str, str]
    session_id: str
    seen: int
    last: int
    said: tuple[tuple[Sender, str, list[dict[str, Any]]], ...]


class DeskNewsRepository:
    """Reads only: `ChannelRepository.advance` keeps what comes of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unseen(self, accounts: Collection[tuple[str, str]]) -> Sequence[UnseenMessages]:
        """Sessions with messages that nobody looked at, those first that wait for the longest time."""
        same = (DeskSessionRow.tenant_id == Sessions.tenant_id) & (DeskSessionRow.session_id == Sessions.session_id)
        columns = Sessions.tenant_id, Sessions.account, Sessions.session_id, Sessions.seen, DeskSessionRow.messages
        query = (
            select(*columns)
            .join(DeskSessionRow, same)
            .where(DeskSessionRow.messages > Sessions.seen)
            .where(tuple_(Sessions.tenant_id, Sessions.account).in_(list(accounts)))
            .order_by(DeskSessionRow.active_at)
            .limit(BATCH)
        )
        async with self._database.read() as connection:
            found = (await connection.execute(query)).all()
            return [UnseenMessages((row[0], row[1]), *row[2:], said=await _said(connection, *row)) for row in found]


async def _said(
    connection: AsyncConnection, tenant: str, _: str, session: str, seen: int, last: int
) -> tuple[tuple[Sender, str, list[dict[str, Any]]], ...]:
    table = DeskMessageRow
    query = (
        select(table.sender, table.content, table.attachments)
        .where(table.tenant_id == tenant, table.session_id == session, table.seq > seen, table.seq <= last)
        .where(table.sender.in_([Sender.AGENT.value, Sender.SYSTEM.value]))
        .order_by(table.seq)
    )
    return tuple((Sender(sender), content, files) for sender, content, files in await connection.execute(query))
