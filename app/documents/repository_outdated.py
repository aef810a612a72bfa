"""Which documents an older release read."""

from __future__ import annotations

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.documents.tables import Document, StoredChunk
from app.documents.types import DocumentKind


async def find_outdated(connection: AsyncConnection, tenant: str, *, everything: bool) -> list[str]:
    """Returns the ids of published files that have to be read again.

    These are the files whose chunks were written before layouts were stored; with `everything`, all published files.
    """
    own = StoredChunk.tenant_id == Document.tenant_id, StoredChunk.document_id == Document.id
    # A chunk that staff corrected has no layout either, but that does not make its file outdated.
    unknown = () if everything else (StoredChunk.layout.is_(None), StoredChunk.correction == "")
    query = select(Document.id).where(
        Document.tenant_id == tenant, Document.kind == DocumentKind.FILE, exists().where(*own, *unknown)
    )
    return list((await connection.execute(query.order_by(Document.id))).scalars())
