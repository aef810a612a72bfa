"""Replies that staff have ready, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update

from app.canned.tables import CannedReplyRow as Table

_COLUMNS = Table.id, Table.shortcut, Table.text, Table.updated_at


@dataclass(frozen=True, slots=True)
class CannedReply:
    """A text and the word that finds it."""

    id: str
    shortcut: str
    text: str
    updated_at: datetime


def count(connection: Connection, tenant: str) -> int:
    """How many there are."""
    return connection.execute(select(func.count()).where(Table.tenant_id == tenant)).scalar_one()


def add(connection: Connection, tenant: str, reply: CannedReply) -> None:
    """Keeps one. Raises IntegrityError where its shortcut is taken."""
    connection.execute(insert(Table).values(tenant_id=tenant, **asdict(reply)))


def change(connection: Connection, tenant: str, reply: CannedReply) -> bool:
    """Writes one anew; False where there is none of this id. Raises IntegrityError where its shortcut is taken."""
    own = Table.tenant_id == tenant, Table.id == reply.id
    values = {"shortcut": reply.shortcut, "text": reply.text, "updated_at": reply.updated_at}
    return connection.execute(update(Table).where(*own).values(values)).rowcount == 1


def drop(connection: Connection, tenant: str, id: str) -> bool:
    """Deletes one; False where there is none of this id."""
    return connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id == id)).rowcount == 1


def every(connection: Connection, tenant: str) -> Sequence[CannedReply]:
    """All, by their shortcuts."""
    query = select(*_COLUMNS).where(Table.tenant_id == tenant).order_by(Table.shortcut)
    return [CannedReply(*row) for row in connection.execute(query)]
