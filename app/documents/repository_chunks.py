"""Rows of the `chunks` table as values of the retrieval engine, and back."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import Base
from app.db.batches import split_batches
from app.documents import repository_vocabulary as vocabulary
from app.documents.meta import META, build_meta
from app.documents.tables import Document, StoredChunk
from knowledge.blocks import validate_layout
from knowledge.types import Chunk, CorrectedChunks, DocumentMeta, TermIds

_NO_TERMS: TermIds = np.empty(0, np.int32)


async def replace_chunks(
    connection: AsyncConnection,
    tenant: str,
    document_id: str,
    version_id: str,
    chunks: Sequence[Chunk],
    terms: Sequence[TermIds],
    corrected: CorrectedChunks | None = None,
) -> None:
    """Puts the chunks of a version in the place of those that the document had; `terms` belong to `chunks`."""
    old = (StoredChunk.tenant_id == tenant) & (StoredChunk.document_id == document_id)
    await connection.execute(delete(StoredChunk).where(old))
    excluded = corrected.excluded if corrected else ()
    every = [(version_id, chunk) for chunk in (*chunks, *excluded)]
    await add(connection, tenant, every, [*terms, *(_NO_TERMS for _ in excluded)], corrected)


async def add(
    connection: AsyncConnection,
    tenant: str,
    chunks: Sequence[tuple[str, Chunk]],
    terms: Sequence[TermIds],
    corrected: CorrectedChunks | None = None,
) -> None:
    """Writes new chunks, each with its version's id; `terms` belong to `chunks`."""
    corrected = corrected or CorrectedChunks(())
    left_out = {chunk.id for chunk in corrected.excluded}
    rows = [
        {
            "tenant_id": tenant,
            "id": chunk.id,
            "document_id": chunk.document.id,
            "version_id": version_id,
            "ordinal": chunk.ordinal,
            "heading_path": list(chunk.heading_path),
            "page": chunk.page,
            "text": chunk.text,
            "question": chunk.question,
            "entry": chunk.entry,
            "layout": chunk.layout,
            "terms": vocabulary.pack_terms(ids),
            "correction": corrected.by.get(chunk.id, ""),
            "excluded": chunk.id in left_out,
        }
        for (version_id, chunk), ids in zip(chunks, terms, strict=True)
    ]
    for part in split_batches(rows):
        await connection.execute(insert(StoredChunk), part)


async def load_live_ids(connection: AsyncConnection, tenant: str) -> frozenset[str]:
    """Loads the ids of the chunks that belong in the index: all of the current versions, without excluded chunks and
    without documents that are not valid now.
    """
    # Few documents are not valid now: naming these keeps the query short.
    asleep = select(Document.id).where(Document.tenant_id == tenant, Document.live.is_(False))
    own = StoredChunk.tenant_id == tenant, StoredChunk.document_id.not_in(asleep), StoredChunk.excluded.is_(False)
    query = select(StoredChunk.id).where(*own)
    return frozenset((await connection.execute(query)).scalars())


async def renew_ids(
    connection: AsyncConnection, tenant: str, document_id: str, terms: Mapping[str, bytes] = MappingProxyType({})
) -> None:
    """Gives the chunks of a document new ids, so that indexes take them anew, with the labels that it has now.

    terms: by id, those of all of its chunks, packed, where they are others from now on.
    """
    token, table = secrets.token_hex(8), Base.metadata.tables[StoredChunk.__tablename__]
    query = select(StoredChunk.id, StoredChunk.entry)
    rows = await connection.execute(
        query.where(StoredChunk.tenant_id == tenant, StoredChunk.document_id == document_id)
    )
    # An id is its version's and a number; an entry likewise, shared by the variants of a question.
    renamed = [
        {"old": row.id, "new": f"{token}-{row.id.rpartition('-')[2]}", "of": f"{token}-{row.entry.rpartition('-')[2]}"}
        for row in rows
    ]
    change = update(table).where(table.c.tenant_id == tenant, table.c.id == bindparam("old"))
    change = change.values(id=bindparam("new"), entry=bindparam("of"))
    if terms:
        change = change.values(terms=bindparam("made"))
        renamed = [row | {"made": terms[row["old"]]} for row in renamed]
    for part in split_batches(renamed):
        await connection.execute(change, part)


async def load_chunks(
    connection: AsyncConnection, tenant: str, ids: Iterable[str]
) -> tuple[tuple[Chunk, TermIds], ...]:
    """Chunks with their terms, by document and ordinal: an order that does not depend on ids, which are random."""
    wanted = sorted(ids)
    documents: dict[str, DocumentMeta] = {}
    places: dict[str, str] = {}
    loaded: list[tuple[Chunk, TermIds]] = []
    for part in split_batches(wanted):
        query = (
            select(StoredChunk, *META, Document.identity)
            .join(Document, (Document.tenant_id == StoredChunk.tenant_id) & (Document.id == StoredChunk.document_id))
            .where(StoredChunk.tenant_id == tenant, StoredChunk.id.in_(part))
        )
        for row in await connection.execute(query):
            meta = build_meta(row.document_id, row)
            places[meta.id] = row.identity
            # One value per document, not one per chunk: a base of 100,000 chunks has few documents.
            loaded.append((_build_chunk(row, documents.setdefault(meta.id, meta)), vocabulary.unpack_terms(row.terms)))
    loaded.sort(key=lambda item: (item[0].document.name, places[item[0].document.id], item[0].ordinal))
    return tuple(loaded)


def _build_chunk(row: Any, document: DocumentMeta) -> Chunk:
    return Chunk(
        id=row.id,
        document=document,
        ordinal=row.ordinal,
        text=row.text,
        heading_path=tuple(row.heading_path),
        page=row.page,
        question=row.question,
        entry=row.entry,
        layout=None if row.layout is None else validate_layout(row.layout, len(row.text)),
    )
