"""Messages of the desk in sessions of channels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.channels.repository import match_accounts
from app.channels.tables import ChannelSessionRow as Sessions
from app.db.base import match_equal
from app.db.engine import Database
from app.desk.tables import DeskMessageRow, DeskSessionRow
from app.desk.types import Sender

# Sessions whose messages are looked at in one round.
BATCH = 100


@dataclass(frozen=True, slots=True)
class UnseenMessages:
    """The unseen messages of one session. seen, last: numbers of the last message handled and of the last one there;
    messages: sender, text and attachments of those for the customer, in order.
    """

    account: tuple[str, str]
    session_id: str
    seen: int
    last: int
    messages: tuple[tuple[Sender, str, list[dict[str, Any]]], ...]


class UnseenMessageRepository:
    """Finds messages; `ChannelRepository.add_desk_replies` marks them as seen."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_unseen(self, accounts: Collection[tuple[str, str]]) -> Sequence[UnseenMessages]:
        """Returns sessions with unseen messages, the longest waiting first."""
        columns = Sessions.tenant_id, Sessions.account, Sessions.session_id, Sessions.seen, DeskSessionRow.messages
        query = (
            select(*columns)
            .join(DeskSessionRow, match_equal(DeskSessionRow, Sessions, "session_id"))
            .where(DeskSessionRow.messages > Sessions.seen)
            .where(match_accounts(Sessions, accounts))
            .order_by(DeskSessionRow.active_at)
            .limit(BATCH)
        )
        async with self._database.read() as connection:
            found = (await connection.execute(query)).all()
            return [
                UnseenMessages((row[0], row[1]), *row[2:], messages=await _load_messages(connection, *row))
                for row in found
            ]


async def _load_messages(
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
