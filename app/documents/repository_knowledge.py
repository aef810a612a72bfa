"""Changes of the knowledge base: each is one transaction that also raises `kb_revision`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.db.engine import Database, insert_into
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as vocabulary
from app.documents.tables import Content, Document, DocumentVersion, KbState, StoredChunk
from app.documents.types import Filing, Labels
from knowledge import text
from knowledge.ingest import PreparedDocument
from knowledge.types import Chunk

Tokenise = Callable[[Sequence[Chunk]], Awaitable[list[tuple[str, ...]]]]
Together = Callable[[Connection, int], None]
"""What belongs to a commit besides the document; it gets the new revision, and raising undoes all of it."""


class StaleDocument(Exception):
    """The document changed since it was read: prepare the change again from what is there now."""


class KnowledgeRepository:
    """Writes documents with all that belongs to them; readers see a change as a whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def commit(
        self,
        tenant: str,
        prepared: PreparedDocument,
        replaces: str | None,
        filing: Filing | None = None,
        labels: Labels = Labels(),  # noqa: B008 - frozen
        together: Together | None = None,
    ) -> int:
        """Stores a new version with its content, chunks and terms; returns the new revision.

        replaces: the version id that was current when the change was prepared, None for a new document; filing:
        without one the document's name is its path; labels: those that `prepared` does not have; together: what else
        belongs to the commit. Raises StaleDocument when `replaces` is no longer so, and what `together` raises.
        """
        filing = filing or Filing(prepared.document.name)
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)
            document = prepared.document
            current = await _current(connection, tenant, filing.identity)
            if current != (None if replaces is None else (document.id, replaces)):
                raise StaleDocument(document.name)
            await _write_content(connection, tenant, prepared)
            values = await _values(connection, tenant, prepared, filing, labels)
            await _write_document(connection, tenant, document.id, values | {"revision": revision}, current is None)
            await _write_version(connection, tenant, prepared)
            terms = await vocabulary.assign(connection, tenant, prepared.tokens)
            await chunks.replace(connection, tenant, document.id, prepared.version_id, prepared.chunks, terms)
            if together is not None:
                await connection.run_sync(together, revision)
            return revision

    async def delete(self, tenant: str, document_id: str) -> int | None:
        """Removes a document with its versions, chunks and unshared contents; None if there is none of that id."""
        async with self._database.write() as connection:
            key = (Document.tenant_id == tenant) & (Document.id == document_id)
            if (await connection.execute(select(Document.id).where(key))).first() is None:
                return None
            revision = await raise_revision(connection, tenant)
            await connection.execute(delete(Document).where(key))
            used = select(DocumentVersion.content_hash).where(DocumentVersion.tenant_id == tenant)
            unused = (Content.tenant_id == tenant) & Content.content_hash.not_in(used)
            await connection.execute(delete(Content).where(unused))
            return revision

    async def outdated_tenants(self) -> list[str]:
        """Tenants whose stored terms were made by another `knowledge.text.VERSION`."""
        async with self._database.read() as connection:
            query = select(KbState.tenant_id).where(KbState.text_version != text.VERSION)
            return list((await connection.execute(query)).scalars())

    async def retokenise(self, tenant: str, tokenise: Tokenise) -> int:
        """Makes all stored terms of a tenant again, in one transaction; returns the new revision."""
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)
            stored = await chunks.load(connection, tenant, await chunks.all_ids(connection, tenant))
            every = [chunk for chunk, _ in stored]
            terms = await vocabulary.assign(connection, tenant, await tokenise(every))
            for chunk, ids in zip(every, terms, strict=True):
                row = (StoredChunk.tenant_id == tenant) & (StoredChunk.id == chunk.id)
                await connection.execute(update(StoredChunk).where(row).values(terms=vocabulary.pack(ids)))
            state = update(KbState).where(KbState.tenant_id == tenant)
            await connection.execute(state.values(text_version=text.VERSION))
            return revision


async def raise_revision(connection: AsyncConnection, tenant: str) -> int:
    """Locks the tenant's row, creating it at the first commit, and returns the revision that this commit makes."""
    first = insert_into(connection, KbState).values(
        tenant_id=tenant, revision=0, indexed_revision=0, text_version=text.VERSION, terms=0
    )
    await connection.execute(first.on_conflict_do_nothing())
    raised = update(KbState).where(KbState.tenant_id == tenant).values(revision=KbState.revision + 1)
    return (await connection.execute(raised.returning(KbState.revision))).scalar_one()


async def _current(connection: AsyncConnection, tenant: str, identity: str) -> tuple[str, str] | None:
    """Document id and version id of what is filed so."""
    query = select(Document.id, Document.version_id).where(Document.tenant_id == tenant, Document.identity == identity)
    row = (await connection.execute(query)).first()
    return (row.id, row.version_id) if row else None


async def _write_content(connection: AsyncConnection, tenant: str, prepared: PreparedDocument) -> None:
    key = (Content.tenant_id == tenant) & (Content.content_hash == prepared.content_hash)
    if (await connection.execute(select(Content.content_hash).where(key))).first() is None:
        row = insert(Content).values(tenant_id=tenant, content_hash=prepared.content_hash, data=prepared.content)
        await connection.execute(row)


async def _values(
    connection: AsyncConnection, tenant: str, prepared: PreparedDocument, filing: Filing, labels: Labels
) -> dict[str, Any]:
    """The columns of a document; what `labels` do not say stays as it is."""
    document = prepared.document
    key = (Document.tenant_id == tenant) & (Document.id == document.id)
    known = (await connection.execute(select(Document.valid_from, Document.valid_until).where(key))).first()
    start = labels.valid_from or (known.valid_from if known else None)
    end = labels.valid_until or (known.valid_until if known else None)
    return {
        "identity": filing.identity,
        "name": filing.name,
        "path": filing.path,
        "external_id": filing.external_id,
        "title": document.title,
        "category": document.category,
        "tags": list(document.tags),
        "media_type": prepared.media_type,
        "size": len(prepared.content),
        "content_hash": prepared.content_hash,
        "version_id": prepared.version_id,
        "valid_from": start,
        "valid_until": end,
        "live": valid(start, end, now()),
        "updated_at": now(),
    } | ({} if labels.url is None else {"url": labels.url})


def valid(start: datetime | None, end: datetime | None, moment: datetime) -> bool:
    """Whether a document with this validity is to be found; from its start on, until its end."""
    return (start is None or start <= moment) and (end is None or moment < end)


async def _write_document(
    connection: AsyncConnection, tenant: str, document_id: str, values: dict[str, Any], is_new: bool
) -> None:
    if is_new:
        row = insert(Document).values(tenant_id=tenant, id=document_id, created_at=values["updated_at"], **values)
        await connection.execute(row)
    else:
        key = (Document.tenant_id == tenant) & (Document.id == document_id)
        await connection.execute(update(Document).where(key).values(**values))


async def _write_version(connection: AsyncConnection, tenant: str, prepared: PreparedDocument) -> None:
    of_document = (DocumentVersion.tenant_id == tenant) & (DocumentVersion.document_id == prepared.document.id)
    last = (await connection.execute(select(func.max(DocumentVersion.number)).where(of_document))).scalar_one()
    await connection.execute(
        insert(DocumentVersion).values(
            tenant_id=tenant,
            id=prepared.version_id,
            document_id=prepared.document.id,
            number=(last or 0) + 1,
            content_hash=prepared.content_hash,
            chunks=len(prepared.chunks),
            created_at=now(),
        )
    )
