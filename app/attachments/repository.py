"""What is known of attachments. Their bytes are in the store, and every file of it is known here: by its attachment, or
as one that is to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from app.attachments.tables import AttachmentRemovalRow as Removals
from app.attachments.tables import AttachmentRow as Table
from app.attachments.types import Attachment, TextState
from app.db.base import now
from app.db.engine import Database, insert_into
from app.types import SessionKey, Side

BEGUN = timedelta(hours=1)
"""How long storing one file may take before it counts as given up."""
UNSENT = timedelta(days=1)
"""How long a file waits for the message that it is to go with."""
_COLUMNS = tuple(getattr(Table, {"tenant": "tenant_id"}.get(item.name, item.name)) for item in fields(Attachment))


class AttachmentRepository:
    """An id means something only together with its conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, tenant: str, id: str) -> None:
        """A file of this id is about to be stored: it goes again unless it is kept in time."""
        row = {"tenant_id": tenant, "id": id, "due_at": now() + BEGUN}
        async with self._database.write() as connection:
            await connection.execute(insert(Removals), row)

    async def keep(self, attachment: Attachment) -> None:
        """The file is stored."""
        row = {item.name: getattr(attachment, item.name) for item in fields(Attachment) if item.name != "tenant"}
        async with self._database.write() as connection:
            await connection.execute(insert(Table), row | {"tenant_id": attachment.tenant, "sent_at": None})
            await connection.execute(delete(Removals).where(*_removal(attachment.tenant, attachment.id)))

    async def find(self, key: SessionKey, id: str) -> Attachment | None:
        """One of a conversation."""
        found = await self.list_by_id(key, [id])
        return found[0] if found else None

    async def list_by_id(self, key: SessionKey, ids: Collection[str]) -> list[Attachment]:
        """Those of a conversation that are there, in the order in which they came."""
        query = select(*_COLUMNS).where(*_of(key), Table.id.in_(ids)).order_by(Table.created_at, Table.id)
        rows = await self._database.run_in_reader(lambda connection: connection.execute(query).all())
        return [_attachment(row) for row in rows]

    async def mark_sent(self, key: SessionKey, ids: Collection[str]) -> None:
        """They go out with a message now."""
        mine = (*_of(key), Table.id.in_(ids), Table.sent_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(update(Table).where(*mine).values(sent_at=now()))

    async def count(self, key: SessionKey) -> tuple[int, int]:
        """How many a conversation has, and their bytes."""
        query = select(func.count(), func.coalesce(func.sum(Table.bytes), 0)).where(*_of(key))
        row = await self._database.run_in_reader(lambda connection: connection.execute(query).one())
        return int(row[0]), int(row[1])

    async def set_text(self, key: SessionKey, id: str, text: str, state: TextState) -> None:
        """What is written in a picture."""
        values = {"text": text, "text_state": state.value}
        async with self._database.write() as connection:
            await connection.execute(update(Table).where(*_of(key), Table.id == id).values(values))

    async def remove(self, key: SessionKey, id: str) -> bool:
        """Deletes one; its file goes with the next round. Whether it was there."""
        return bool(
            await self._database.transact(
                lambda connection: remove(connection, key.tenant, [id], Table.session_id == key.session_id),
                erases=True,
            )
        )

    async def remove_unsent(self) -> None:
        """Deletes what was uploaded and never sent."""
        old = Table.sent_at.is_(None) & (Table.created_at < now() - UNSENT)
        query = select(Table.tenant_id, Table.id).where(old).limit(500)
        for tenant, id in await self._database.run_in_reader(lambda connection: connection.execute(query).all()):
            await self._database.transact(lambda connection, tenant=tenant, id=id: remove(connection, tenant, [id]))  # type: ignore[misc]

    async def due(self, most: int) -> list[tuple[str, str]]:
        """Tenant and id of files that are to be deleted now."""
        query = select(Removals.tenant_id, Removals.id).where(Removals.due_at <= now()).limit(most)
        rows = await self._database.run_in_reader(lambda connection: connection.execute(query).all())
        return [(row[0], row[1]) for row in rows]

    async def removed(self, tenant: str, id: str) -> None:
        """The file is gone."""
        async with self._database.write() as connection:
            await connection.execute(delete(Removals).where(*_removal(tenant, id)))


def remove(connection: Connection, tenant: str, ids: Sequence[str], *where: ColumnElement[bool]) -> int:
    """Deletes attachments within a transaction, and leaves their files to be deleted."""
    mine = (Table.tenant_id == tenant, Table.id.in_(ids), *where)
    gone = list(connection.execute(select(Table.id).where(*mine)).scalars())
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id.in_(gone)))
    moment = now()
    for id in gone:
        row = {"tenant_id": tenant, "id": id, "due_at": moment}
        connection.execute(insert_into(connection, Removals).on_conflict_do_nothing(), row)
    return len(gone)


def forget(connection: Connection, tenant: str, sessions: Collection[str]) -> None:
    """Deletes all that conversations have."""
    query = select(Table.id).where(Table.tenant_id == tenant, Table.session_id.in_(sessions))
    remove(connection, tenant, list(connection.execute(query).scalars()))


def _of(key: SessionKey) -> tuple[ColumnElement[bool], ...]:
    return Table.tenant_id == key.tenant, Table.session_id == key.session_id


def _removal(tenant: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return Removals.tenant_id == tenant, Removals.id == id


def _attachment(row: Any) -> Attachment:
    found = Attachment(*row)
    return replace(found, sender=Side(found.sender), text_state=TextState(found.text_state))
