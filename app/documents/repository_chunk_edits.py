"""Single chunks of a document, changed in place: no version is made, and nothing else of the document moves."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.db.engine import Database
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as vocabulary
from app.documents.repository_knowledge import hold_revision, raise_revision
from app.documents.tables import Document, StoredChunk
from app.documents.types import DocumentKind, PieceGone, RewrittenPieces, StoredPiece
from knowledge import text


class ChunkEditRepository:
    """Every change is one transaction that raises the revision; the index takes the chunk anew under its new id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_entry(
        self, tenant: str, document_id: str, *, chunk_id: str = "", correction: str = ""
    ) -> list[StoredPiece]:
        """Loads a chunk of a file, by its id or by its correction, with the other wordings of its question in order;
        empty if it does not exist now.
        """
        chunk = StoredChunk
        own = chunk.tenant_id == tenant, chunk.document_id == document_id
        named = chunk.correction == correction if correction else chunk.id == chunk_id
        entry = select(chunk.entry).where(*own, named).limit(1).scalar_subquery()
        file = (Document.tenant_id == chunk.tenant_id) & (Document.id == chunk.document_id)
        file &= Document.kind == DocumentKind.FILE
        query = select(chunk.id, chunk.excluded, chunk.correction).join(Document, file)
        async with self._database.read() as connection:
            rows = await connection.execute(query.where(*own, chunk.entry == entry))
            marks = {row.id: (row.excluded, row.correction) for row in rows}
            found = await chunks.load_chunks(connection, tenant, marks)
        return [StoredPiece(piece, *marks[piece.id]) for piece, _ in found]

    async def count_visible(self, tenant: str, document_id: str) -> int:
        """Counts the chunks of a document that searches find."""
        own = StoredChunk.tenant_id == tenant, StoredChunk.document_id == document_id
        return int(await self._database.fetch_value(select(func.count()).where(*own, StoredChunk.excluded.is_(False))))

    async def rewrite_chunks(
        self, tenant: str, document_id: str, pieces: RewrittenPieces, together: Callable[[Connection, int], None]
    ) -> tuple[int, str]:
        """Returns the revision, and the id that the first piece has now. together: what else belongs to the commit.

        Raises PieceGone where a piece is not there any more, and what `together` raises.
        """
        token = secrets.token_hex(8)
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)
            terms = await vocabulary.assign_ids(connection, tenant, pieces.tokens)
            for chunk, ids in zip(pieces.chunks, terms, strict=True):
                values = {
                    "id": _build_id(token, chunk.id),
                    "entry": _build_id(token, chunk.entry),
                    "text": chunk.text,
                    "heading_path": list(chunk.heading_path),
                    "layout": chunk.layout,
                    "terms": vocabulary.pack_terms(ids),
                    "excluded": pieces.excluded,
                    "correction": pieces.correction,
                }
                own = StoredChunk.tenant_id == tenant, StoredChunk.document_id == document_id
                change = update(StoredChunk).where(*own, StoredChunk.id == chunk.id).values(**values)
                if not (await connection.execute(change)).rowcount:
                    raise PieceGone(chunk.id)
            await _mark_changed(connection, tenant, document_id, revision, pieces.vocabulary)
            await connection.run_sync(together, revision)
        return revision, _build_id(token, pieces.chunks[0].id)

    async def run_alone(self, tenant: str, together: Callable[[Connection], None]) -> None:
        """Runs a transaction that changes no chunk, while no other one of the tenant changes any."""
        async with self._database.write() as connection:
            await hold_revision(connection, tenant)
            await connection.run_sync(together)


async def _mark_changed(
    connection: AsyncConnection, tenant: str, document_id: str, revision: int, vocabulary: int
) -> None:
    """Terms of two vocabularies in one document: none of them counts, and all are made again."""
    own = (Document.tenant_id == tenant) & (Document.id == document_id)
    made = (await connection.execute(select(Document.vocabulary, Document.text_version).where(own))).one()
    values: dict[str, Any] = {"revision": revision, "updated_at": now()}
    if (made.vocabulary, made.text_version) != (vocabulary, text.VERSION):
        values["text_version"] = ""
    await connection.execute(update(Document).where(own).values(**values))


def _build_id(token: str, chunk_id: str) -> str:
    return f"{token}-{chunk_id.rpartition('-')[2]}"
