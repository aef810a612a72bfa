"""Messages between customers and staff, numbered without gaps in their session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from app.db.base import get_table, match_session, now
from app.db.engine import Database
from app.desk.tables import DeskMessageRow as Table
from app.desk.tables import DeskSessionRow
from app.desk.types import PAGE, DeskMessage, Sender
from app.types import SessionKey, Side

_COLUMNS = Table.seq, Table.sender, Table.agent_id, Table.content, Table.created_at, Table.attachments
# Made once, as those below: to put a statement together anew costs as much as to carry it out.
_COUNT = (
    update(DeskSessionRow)
    .where(DeskSessionRow.tenant_id == bindparam("tenant"), DeskSessionRow.session_id == bindparam("session"))
    .values(messages=DeskSessionRow.messages + 1, active_at=bindparam("moment"))
    .returning(DeskSessionRow.messages)
)
# A session whose customer says something is not put aside any more.
_COUNT_AND_WAKE = _COUNT.values(snoozed_until=None)
_INSERT = insert(get_table(Table))


def add(
    connection: Connection,
    key: SessionKey,
    sender: Sender,
    content: str,
    *,
    agent_id: str = "",
    client_id: str = "",
    attachments: Sequence[dict[str, Any]] = (),
) -> DeskMessage:
    """Appends a message, within a transaction that holds the session.

    client_id: the sender's own id of the message; one that was stored before under the same id is returned as it is.
    """
    if client_id and (known := find(connection, key, sender, client_id)):
        return known
    moment = now()
    counted = {"tenant": key.tenant, "session": key.session_id, "moment": moment}
    seq = connection.execute(_COUNT_AND_WAKE if sender is Sender.CUSTOMER else _COUNT, counted).scalar_one()
    row = {
        "tenant_id": key.tenant,
        "session_id": key.session_id,
        "seq": seq,
        "sender": sender.value,
        "agent_id": agent_id,
        "client_id": client_id or None,
        "content": content,
        "attachments": list(attachments),
        "created_at": moment,
    }
    connection.execute(_INSERT, row)
    return DeskMessage(seq, sender, agent_id, content, moment, attachments)


def find(connection: Connection, key: SessionKey, sender: Sender, client_id: str) -> DeskMessage | None:
    """Finds the message to which its sender gave this id."""
    same = (Table.sender == sender.value) & (Table.client_id == client_id)
    row = connection.execute(select(*_COLUMNS).where(match_session(Table, key), same)).first()
    return _build_message(row) if row else None


class DeskMessageRepository:
    """Reads messages by their number."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_after(self, key: SessionKey, seq: int, limit: int = PAGE) -> list[DeskMessage]:
        """Loads the messages after number `seq`, the oldest first, at most `limit`."""
        query = select(*_COLUMNS).where(match_session(Table, key), Table.seq > seq).order_by(Table.seq).limit(limit)
        return [_build_message(row) for row in await self._database.fetch(query)]

    async def mark_seen(self, key: SessionKey, side: Side, seq: int) -> int:
        """See `mark_seen`; may be lost with the power."""
        return await self._database.transact(lambda connection: mark_seen(connection, key, side, seq), durable=False)

    async def find_by_client_id(self, key: SessionKey, sender: Sender, client_id: str) -> DeskMessage | None:
        """Finds the message that its sender gave this id."""
        return await self._database.run_in_reader(find, key, sender, client_id)


def _build_message(row: Any) -> DeskMessage:
    return DeskMessage(row[0], Sender(row[1]), *row[2:])


def mark_seen(connection: Connection, key: SessionKey, side: Side, seq: int) -> int:
    """Records how far one side has read, never backwards and not beyond the last message.

    Returns how far that is now; 0 if there is no such session.
    """
    column = DeskSessionRow.customer_seen if side is Side.CUSTOMER else DeskSessionRow.staff_seen
    mine = match_session(DeskSessionRow, key)
    row = connection.execute(select(column, DeskSessionRow.messages).where(mine).with_for_update()).first()
    if row is None:
        return 0
    seen = min(max(seq, row[0]), row[1])
    if seen > row[0]:
        connection.execute(update(DeskSessionRow).where(mine).values({column: seen}))
    return int(seen)
