"""Documents that are made of entries of another feature: written and removed in that feature's own transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.db.batches import split_batches
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as vocabulary
from app.documents.repository_knowledge import drop_unused_contents, raise_revision
from app.documents.tables import Content, Document, DocumentVersion
from app.documents.types import DocumentKind
from knowledge import text
from knowledge.ingest import PreparedDocument


class EntryRepository:
    """One kind of them. Each is a document of one version, which a change replaces; no list of documents has it."""

    def __init__(self, kind: DocumentKind) -> None:
        self._kind = kind

    async def raise_revision(self, connection: AsyncConnection, tenant: str) -> int:
        """Locks the tenant's knowledge base; the revision that this commit makes."""
        return await raise_revision(connection, tenant)

    async def put(
        self, connection: AsyncConnection, tenant: str, revision: int, entries: Sequence[PreparedDocument]
    ) -> None:
        """Writes entries, each in the place of the one of its id; none of them twice."""
        await self._drop_entries(connection, tenant, [entry.document.id for entry in entries])
        await self._write_contents(connection, tenant, entries)
        documents = [self._build_row(tenant, entry, revision) for entry in entries]
        versions = [
            {
                "tenant_id": tenant,
                "id": entry.version_id,
                "document_id": entry.document.id,
                "number": 1,
                "content_hash": entry.content_hash,
                "chunks": len(entry.chunks),
                "created_at": now(),
            }
            for entry in entries
        ]
        for table, rows in ((Document, documents), (DocumentVersion, versions)):
            for part in split_batches(rows):
                await connection.execute(insert(table), part)
        terms = await vocabulary.assign_ids(connection, tenant, [words for entry in entries for words in entry.tokens])
        pieces = [(entry.version_id, chunk) for entry in entries for chunk in entry.chunks]
        await chunks.add(connection, tenant, pieces, terms)
        await drop_unused_contents(connection, tenant)

    async def remove(self, connection: AsyncConnection, tenant: str, ids: Sequence[str]) -> None:
        """Removes entries; those that are not there are left out."""
        await self._drop_entries(connection, tenant, ids)
        await drop_unused_contents(connection, tenant)

    async def _drop_entries(self, connection: AsyncConnection, tenant: str, ids: Sequence[str]) -> None:
        for part in split_batches(ids):
            mine = (Document.tenant_id == tenant) & (Document.kind == self._kind) & Document.id.in_(part)
            await connection.execute(delete(Document).where(mine))

    async def _write_contents(
        self, connection: AsyncConnection, tenant: str, entries: Sequence[PreparedDocument]
    ) -> None:
        contents = {entry.content_hash: entry.content for entry in entries}
        for part in split_batches(list(contents)):
            query = select(Content.content_hash).where(Content.tenant_id == tenant, Content.content_hash.in_(part))
            for known in (await connection.execute(query)).scalars():
                del contents[known]
        rows = [{"tenant_id": tenant, "content_hash": key, "data": data} for key, data in contents.items()]
        for batch in split_batches(rows):
            await connection.execute(insert(Content), batch)

    def _build_row(self, tenant: str, entry: PreparedDocument, revision: int) -> dict[str, object]:
        document, moment = entry.document, now()
        return {
            "tenant_id": tenant,
            "id": document.id,
            "kind": self._kind,
            "identity": f"/{self._kind}/{document.id}",  # paths begin with no slash, external ids with two
            "name": document.name,
            "path": "",
            "external_id": "",
            "title": document.title,
            "category": document.category,
            "tags": list(document.tags),
            "product": document.product,
            "product_version": document.product_version,
            "url": "",
            "valid_from": None,
            "valid_until": None,
            "live": True,
            "media_type": entry.media_type,
            "size": len(entry.content),
            "content_hash": entry.content_hash,
            "version_id": entry.version_id,
            "revision": revision,
            "text_version": text.VERSION,
            "vocabulary": entry.vocabulary,
            "created_at": moment,
            "updated_at": moment,
        }
