"""The records of attachments. The bytes are in the store; each stored file has a row here, either its attachment or an
entry that says when the file is to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from app.attachments.tables import AttachmentRemovalRow as Removals
from app.attachments.tables import AttachmentRow as Table
from app.attachments.types import Attachment, TextState
from app.db.base import match_session, now
from app.db.engine import Database, insert_into
from app.types import SessionKey, Side

# How long storing one file may take before the upload counts as failed.
UPLOAD_TIMEOUT = timedelta(hours=1)
# How long an uploaded file is kept without being sent in a message.
UNSENT_LIFETIME = timedelta(days=1)
_COLUMNS = tuple(getattr(Table, {"tenant": "tenant_id"}.get(item.name, item.name)) for item in fields(Attachment))


class AttachmentRepository:
    """Reads and writes attachments. An id is looked up only within its conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin_upload(self, tenant: str, id: str) -> None:
        """Records that a file is about to be stored; it is deleted unless `add_attachment` follows in time."""
        row = {"tenant_id": tenant, "id": id, "due_at": now() + UPLOAD_TIMEOUT}
        await self._database.execute(insert(Removals).values(row))

    async def add_attachment(self, attachment: Attachment) -> None:
        """Adds an attachment whose file is stored, and cancels the planned deletion of the file."""
        row = {item.name: getattr(attachment, item.name) for item in fields(Attachment) if item.name != "tenant"}
        async with self._database.write() as connection:
            await connection.execute(insert(Table), row | {"tenant_id": attachment.tenant, "sent_at": None})
            await connection.execute(delete(Removals).where(*_match_removal(attachment.tenant, attachment.id)))

    async def find_attachment(self, key: SessionKey, id: str) -> Attachment | None:
        """Returns one attachment of a conversation, None if there is none."""
        found = await self.list_by_id(key, [id])
        return found[0] if found else None

    async def list_by_id(self, key: SessionKey, ids: Collection[str]) -> list[Attachment]:
        """Returns the existing attachments of a conversation among these ids, the oldest first."""
        query = (
            select(*_COLUMNS).where(match_session(Table, key), Table.id.in_(ids)).order_by(Table.created_at, Table.id)
        )
        rows = await self._database.fetch(query)
        return [_build_attachment(row) for row in rows]

    async def mark_sent(self, key: SessionKey, ids: Collection[str]) -> None:
        """Marks attachments as sent with a message."""
        mine = (match_session(Table, key), Table.id.in_(ids), Table.sent_at.is_(None))
        await self._database.execute(update(Table).where(*mine).values(sent_at=now()))

    async def measure_conversation(self, key: SessionKey) -> tuple[int, int]:
        """Returns the number of attachments of a conversation and their total size in bytes."""
        query = select(func.count(), func.coalesce(func.sum(Table.bytes), 0)).where(match_session(Table, key))
        [(count, size)] = await self._database.fetch(query)
        return int(count), int(size)

    async def set_text(self, key: SessionKey, id: str, text: str, state: TextState) -> None:
        """Saves the text that was read from a picture."""
        values = {"text": text, "text_state": state.value}
        await self._database.execute(update(Table).where(match_session(Table, key), Table.id == id).values(values))

    async def delete_attachment(self, key: SessionKey, id: str) -> bool:
        """Deletes an attachment; its file is deleted in the next round. Returns whether it existed."""
        return bool(
            await self._database.transact(
                lambda connection: delete_attachments(connection, key.tenant, [id], Table.session_id == key.session_id),
                erases=True,
            )
        )

    async def delete_unsent(self) -> None:
        """Deletes attachments that were uploaded and never sent."""
        old = Table.sent_at.is_(None) & (Table.created_at < now() - UNSENT_LIFETIME)
        query = select(Table.tenant_id, Table.id).where(old).limit(500)
        for tenant, id in await self._database.fetch(query):
            await self._database.transact(partial(delete_attachments, tenant=tenant, ids=[id]))

    async def find_due_files(self, limit: int) -> list[tuple[str, str]]:
        """Returns tenant and id of files that are due for deletion, at most `limit`."""
        query = select(Removals.tenant_id, Removals.id).where(Removals.due_at <= now()).limit(limit)
        rows = await self._database.fetch(query)
        return [(row[0], row[1]) for row in rows]

    async def finish_removal(self, tenant: str, id: str) -> None:
        """Removes the deletion entry of a file that was deleted from the store."""
        await self._database.execute(delete(Removals).where(*_match_removal(tenant, id)))


def delete_attachments(connection: Connection, tenant: str, ids: Sequence[str], *where: ColumnElement[bool]) -> int:
    """Deletes attachments within a transaction, schedules their files for deletion, and returns how many there were."""
    mine = (Table.tenant_id == tenant, Table.id.in_(ids), *where)
    gone = list(connection.execute(select(Table.id).where(*mine)).scalars())
    connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id.in_(gone)))
    moment = now()
    for id in gone:
        row = {"tenant_id": tenant, "id": id, "due_at": moment}
        connection.execute(insert_into(connection, Removals).on_conflict_do_nothing(), row)
    return len(gone)


def delete_for_sessions(connection: Connection, tenant: str, sessions: Collection[str]) -> None:
    """Deletes all attachments of conversations."""
    query = select(Table.id).where(Table.tenant_id == tenant, Table.session_id.in_(sessions))
    delete_attachments(connection, tenant, list(connection.execute(query).scalars()))


def _match_removal(tenant: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return Removals.tenant_id == tenant, Removals.id == id


def _build_attachment(row: Any) -> Attachment:
    found = Attachment(*row)
    return replace(found, sender=Side(found.sender), text_state=TextState(found.text_state))
