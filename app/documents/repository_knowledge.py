"""Changes of the knowledge base: each is one transaction that also raises `kb_revision`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.db.engine import Database, insert_into
from app.documents import repository_chunks as chunks
from app.documents import repository_version_rows as versions
from app.documents import repository_vocabulary as vocabulary
from app.documents.labels import check_validity
from app.documents.repository_version_rows import Approval
from app.documents.tables import Content, Document, DocumentVersion, KbState
from app.documents.types import Change, DocumentKind, Filing, Labels
from knowledge import text
from knowledge.ingest import PreparedDocument
from knowledge.types import CorrectedChunks

# Notes what became of the corrections of a document of a tenant; False where there are others by now.
Settle = Callable[[Connection, str, str, CorrectedChunks], bool]
# What belongs to a commit besides the document; it gets the new revision, and raising undoes all of it.
Together = Callable[[Connection, int], None]


class StaleDocument(Exception):
    """The document changed since it was read: prepare the change again from what is there now."""


class KnowledgeRepository:
    """Writes documents with all that belongs to them; readers see a change as a whole or not at all."""

    def __init__(self, database: Database, settle: Settle | None = None) -> None:
        """settle: part of every commit of a document that was read under corrections."""
        self._database = database
        self._settle = settle

    async def commit(
        self,
        tenant: str,
        prepared: PreparedDocument,
        replaces: str | None,
        filing: Filing | None = None,
        labels: Labels = Labels(),  # noqa: B008 - frozen
        together: Together | None = None,
        change: Change = Change(),  # noqa: B008 - frozen
        approval: Approval | None = None,
    ) -> int:
        """Stores a new version with its content, chunks and terms; returns the new revision.

        replaces: the version id that was current when the change was prepared, None for a new document; filing:
        without one the document's name is its path; labels: those that `prepared` does not have; together: what else
        belongs to the commit; change: who made the version, and why; approval: it is a draft, which this publishes.
        Raises StaleDocument when `replaces` is no longer so, WrongState, InvalidDocument for a validity that cannot be,
        and what `together` raises.
        """
        filing = filing or Filing(prepared.document.name)
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)  # first, as it locks what is looked at next
            document = prepared.document
            await require_current(connection, tenant, prepared, replaces, filing)
            await write_content(connection, tenant, prepared)
            values = await build_document_values(connection, tenant, prepared, filing, labels)
            await write_document(connection, tenant, document.id, values | {"revision": revision}, replaces is None)
            if approval is None:
                await versions.add(connection, tenant, prepared, change, labels)
            else:
                await versions.publish_version(connection, tenant, prepared, approval)
            terms = await vocabulary.assign_ids(connection, tenant, prepared.tokens)
            corrected = prepared.corrected
            place = connection, tenant, document.id, prepared.version_id
            await chunks.replace_chunks(*place, prepared.chunks, terms, corrected)
            if corrected is not None and not await self._settle_corrections(connection, tenant, document.id, corrected):
                raise StaleDocument(document.name)
            if together is not None:
                await connection.run_sync(together, revision)
            return revision

    async def delete(self, tenant: str, document_id: str) -> int | None:
        """Removes a document for good, with its versions, chunks and unshared contents; None if there is none of that
        id.
        """
        async with self._database.write(erases=True) as connection:
            key = match_document(tenant, document_id, DocumentKind.FILE)
            if (await connection.execute(select(Document.id).where(key))).first() is None:
                return None
            revision = await raise_revision(connection, tenant)
            await connection.execute(delete(Document).where(key))
            await drop_unused_contents(connection, tenant)
            return revision

    async def _settle_corrections(
        self, connection: AsyncConnection, tenant: str, document_id: str, corrected: CorrectedChunks
    ) -> bool:
        return self._settle is None or await connection.run_sync(self._settle, tenant, document_id, corrected)

    async def raise_alone(self, tenant: str) -> int:
        """Raises the revision without a change, so that nothing that was made of the one before is found again."""
        async with self._database.write() as connection:
            return await raise_revision(connection, tenant)


def match_document(tenant: str, document_id: str, kind: DocumentKind) -> ColumnElement[bool]:
    """Matches a document, if it is of this kind."""
    return (Document.tenant_id == tenant) & (Document.id == document_id) & (Document.kind == kind)


async def raise_revision(connection: AsyncConnection, tenant: str) -> int:
    """Locks the tenant's row, creating it at the first commit, and returns the revision that this commit makes."""
    return await _lock_revision(connection, tenant, 1)


async def hold_revision(connection: AsyncConnection, tenant: str) -> int:
    """Locks the tenant's knowledge base for a commit that searches do not see; returns the revision, which stays as it
    is.
    """
    return await _lock_revision(connection, tenant, 0)


async def _lock_revision(connection: AsyncConnection, tenant: str, step: int) -> int:
    first = insert_into(connection, KbState).values(tenant_id=tenant, revision=0, indexed_revision=0, terms=0)
    await connection.execute(first.on_conflict_do_nothing())
    raised = update(KbState).where(KbState.tenant_id == tenant).values(revision=KbState.revision + step)
    return (await connection.execute(raised.returning(KbState.revision))).scalar_one()


async def require_current(
    connection: AsyncConnection, tenant: str, prepared: PreparedDocument, replaces: str | None, filing: Filing
) -> None:
    """Raises StaleDocument unless what is filed there is still this document in the version `replaces`; None: nothing
    is.
    """
    filed = (Document.tenant_id == tenant) & (Document.identity == filing.identity)
    row = (await connection.execute(select(Document.id, Document.version_id).where(filed))).first()
    if row != (None if replaces is None else (prepared.document.id, replaces)):
        raise StaleDocument(prepared.document.name)


async def write_content(connection: AsyncConnection, tenant: str, prepared: PreparedDocument) -> None:
    """Stores the bytes of a file, unless they are stored already."""
    key = (Content.tenant_id == tenant) & (Content.content_hash == prepared.content_hash)
    if (await connection.execute(select(Content.content_hash).where(key))).first() is None:
        row = insert(Content).values(tenant_id=tenant, content_hash=prepared.content_hash, data=prepared.content)
        await connection.execute(row)


_KEPT = Document.valid_from, Document.valid_until, Document.disabled


async def build_document_values(
    connection: AsyncConnection, tenant: str, prepared: PreparedDocument, filing: Filing, labels: Labels
) -> dict[str, Any]:
    """Returns the columns of a document; what `labels` do not give stays as it is. Raises InvalidDocument."""
    document = prepared.document
    key = (Document.tenant_id == tenant) & (Document.id == document.id)
    known = (await connection.execute(select(*_KEPT).where(key))).first()
    start = labels.valid_from or (known.valid_from if known else None)
    end = labels.valid_until or (known.valid_until if known else None)
    if labels.valid_from or labels.valid_until:
        check_validity(document.name, start, end)
    return {
        "identity": filing.identity,
        "name": filing.name,
        "path": filing.path,
        "external_id": filing.external_id,
        "title": document.title,
        "category": document.category,
        "tags": list(document.tags),
        "product": document.product,
        "product_version": document.product_version,
        "dated": document.dated,
        "media_type": prepared.media_type,
        "size": len(prepared.content),
        "content_hash": prepared.content_hash,
        "version_id": prepared.version_id,
        "text_version": text.VERSION,
        "vocabulary": prepared.vocabulary,
        "valid_from": start,
        "valid_until": end,
        "live": not (known and known.disabled) and is_valid(start, end, now()),
        "published": True,
        "updated_at": now(),
    } | ({} if labels.url is None else {"url": labels.url})


def is_valid(start: datetime | None, end: datetime | None, moment: datetime) -> bool:
    """Whether a document with this validity is to be found; from its start on, until its end."""
    return (start is None or start <= moment) and (end is None or moment < end)


async def write_document(
    connection: AsyncConnection, tenant: str, document_id: str, values: dict[str, Any], is_new: bool
) -> None:
    """Inserts a document, or changes the one that exists."""
    if is_new:
        row = insert(Document).values(tenant_id=tenant, id=document_id, created_at=values["updated_at"], **values)
        await connection.execute(row)
    else:
        key = (Document.tenant_id == tenant) & (Document.id == document_id)
        await connection.execute(update(Document).where(key).values(**values))


async def drop_unused_contents(connection: AsyncConnection, tenant: str) -> None:
    """Deletes the bytes that no version has any more."""
    await connection.run_sync(drop_contents, tenant)


def drop_contents(connection: Connection, tenant: str) -> None:
    """Deletes, within a transaction, the bytes that no version has any more."""
    used = select(DocumentVersion.content_hash).where(DocumentVersion.tenant_id == tenant)
    unused = (Content.tenant_id == tenant) & Content.content_hash.not_in(used)
    connection.execute(delete(Content).where(unused))
