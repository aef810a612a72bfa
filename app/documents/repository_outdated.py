"""Which documents an older release read."""

from __future__ import annotations

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.documents.tables import Document, StoredChunk
from app.documents.types import DocumentKind


async def find_outdated(connection: AsyncConnection, tenant: str, *, everything: bool) -> list[str]:
    """Ids of the published files whose chunks do not know their blocks; everything: of all published files."""
    own = StoredChunk.tenant_id == Document.tenant_id, StoredChunk.document_id == Document.id
    # What was corrected by people knows no blocks either, and is no older for it.
    unknown = () if everything else (StoredChunk.layout.is_(None), StoredChunk.correction == "")
    query = select(Document.id).where(
        Document.tenant_id == tenant, Document.kind == DocumentKind.FILE, exists().where(*own, *unknown)
    )
    return list((await connection.execute(query.order_by(Document.id))).scalars())
