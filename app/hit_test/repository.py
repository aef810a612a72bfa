"""What is stored of a document that somebody expected to be found."""

from __future__ import annotations

from sqlalchemy import select

from app.db.engine import Database
from app.documents.meta import META, build_meta
from app.documents.tables import Document, StoredChunk
from app.documents.types import DocumentKind
from app.hit_test.trial import Expected, Stored


async def find_stored(database: Database, tenant: str, expected: Expected) -> Stored | None:
    """Finds the document or chunk that is expected; None if there is none now."""
    chunk = StoredChunk
    own = (Document.tenant_id == chunk.tenant_id) & (Document.id == chunk.document_id)
    query = (
        select(Document.id, *META, Document.live, Document.valid_from, Document.valid_until)
        .join(chunk, own)
        .where(Document.tenant_id == tenant, Document.kind != DocumentKind.BINNED)
        .limit(1)
    )
    pieces = select(chunk.id).where(chunk.tenant_id == tenant)
    if expected.chunk_id:
        entry = select(chunk.entry).where(chunk.tenant_id == tenant, chunk.id == expected.chunk_id)
        query = query.where(chunk.id == expected.chunk_id)
        pieces = pieces.where(chunk.entry == entry.scalar_subquery())
    if expected.document_id:
        query = query.where(Document.id == expected.document_id)
        pieces = pieces.where(chunk.document_id == expected.document_id)
    async with database.read() as connection:
        row = (await connection.execute(query)).first()
        if row is None:
            return None
        chunks = frozenset((await connection.execute(pieces)).scalars())
    return Stored(build_meta(row.id, row), chunks, row.live, row.valid_from, row.valid_until)
