"""Replies that staff have ready, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.canned.tables import CannedReplyRow as Table

_COLUMNS = Table.id, Table.shortcut, Table.text, Table.updated_at


class ShortcutTaken(Exception):
    """Another reply is found by it; the table itself keeps them apart, so of two who come at once one learns of it."""


@dataclass(frozen=True, slots=True)
class CannedReply:
    """A text and the word that finds it."""

    id: str
    shortcut: str
    text: str
    updated_at: datetime


def count(connection: Connection, tenant: str) -> int:
    """Counts a tenant's replies."""
    return connection.execute(select(func.count()).where(Table.tenant_id == tenant)).scalar_one()


def add(connection: Connection, tenant: str, reply: CannedReply) -> None:
    """Keeps one. Raises ShortcutTaken."""
    try:
        connection.execute(insert(Table).values(tenant_id=tenant, **asdict(reply)))
    except IntegrityError as error:
        raise ShortcutTaken from error


def change(connection: Connection, tenant: str, reply: CannedReply) -> bool:
    """Writes one anew; False where there is none of this id. Raises ShortcutTaken."""
    own = Table.tenant_id == tenant, Table.id == reply.id
    values = {"shortcut": reply.shortcut, "text": reply.text, "updated_at": reply.updated_at}
    try:
        return connection.execute(update(Table).where(*own).values(values)).rowcount == 1
    except IntegrityError as error:
        raise ShortcutTaken from error


def drop(connection: Connection, tenant: str, id: str) -> bool:
    """Deletes one; False where there is none of this id."""
    return connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id == id)).rowcount == 1


def list_all(connection: Connection, tenant: str) -> Sequence[CannedReply]:
    """Lists all replies, by their shortcuts."""
    query = select(*_COLUMNS).where(Table.tenant_id == tenant).order_by(Table.shortcut)
    return [CannedReply(*row) for row in connection.execute(query)]
