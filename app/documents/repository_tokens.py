"""Terms of chunks made again where the tenant's vocabulary, or how text is cut, has changed since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

from sqlalchemy import Connection, and_, exists, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import ColumnElement

from app.db.engine import Database
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as terms
from app.documents.products import read_names
from app.documents.repository_knowledge import raise_revision
from app.documents.tables import Document, DocumentVersion, KbState, StoredChunk
from app.documents.types import DocumentKind, Filing, OutdatedBatch, OutdatedDocument, RenewedDocument
from knowledge import text
from knowledge.types import Chunk

Result = TypeVar("Result")
# Of several documents; one that has more is done alone. At 20,000 chunks, all of them done anew, another writer
# waited 0.5 s at most, and 3 s with 1,000 at once.
CHUNKS_AT_ONCE = 300
_DOCUMENTS_AT_ONCE = 500


class TokenRepository:
    """Each batch is a transaction of its own: a kill loses no more than one, and no index shows half of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_outdated(self, tenant: str) -> OutdatedBatch | None:
        """Returns the next documents whose tokens are outdated; None if all are of the newest vocabulary."""
        async with self._database.read() as connection:
            head = select(KbState.vocabulary).where(KbState.tenant_id == tenant)
            vocabulary = (await connection.execute(head)).scalar_one_or_none()
            if vocabulary is None:
                return None
            version = and_(DocumentVersion.tenant_id == Document.tenant_id, DocumentVersion.id == Document.version_id)
            query = (
                select(Document.id, Document.text_version, Document.vocabulary, DocumentVersion.chunks)
                .join(DocumentVersion, version)
                .where(Document.tenant_id == tenant, _is_outdated(vocabulary))
                .order_by(Document.id)
                .limit(_DOCUMENTS_AT_ONCE)
            )
            rows = (await connection.execute(query)).all()
            sizes = accumulate(row.chunks for row in rows)
            rows = [row for row, size in zip(rows, sizes, strict=True) if size - row.chunks < CHUNKS_AT_ONCE]
            held = await _load_chunks(connection, tenant, [row.id for row in rows])
            if not rows:
                return None
            return OutdatedBatch(
                vocabulary,
                tuple(
                    OutdatedDocument(
                        row.id, row.vocabulary if row.text_version == text.VERSION else None, held.get(row.id, ())
                    )
                    for row in rows
                ),
            )

    async def renew_terms(self, tenant: str, vocabulary: int, documents: Sequence[RenewedDocument]) -> int:
        """Writes terms that this version of the vocabulary made; a document that changed meanwhile stays as it is, to
        be looked at again. Returns the revision.
        """
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)
            now_held = await _load_ids(connection, tenant, [document.id for document in documents])
            same = [item for item in documents if now_held.get(item.id, set()) == {chunk.id for chunk in item.chunks}]
            rewritten = [item for item in same if item.tokens is not None]
            every = [tokens for item in rewritten for tokens in item.tokens or ()]
            packed = iter(await terms.assign_ids(connection, tenant, every)) if every else iter(())
            for item in rewritten:
                made = {chunk.id: terms.pack_terms(next(packed)) for chunk in item.chunks}
                await chunks.renew_ids(connection, tenant, item.id, made)
            done = (Document.tenant_id == tenant) & Document.id.in_([item.id for item in same])
            await _describe(connection, done)
            current = {"text_version": text.VERSION, "vocabulary": vocabulary}
            await connection.execute(update(Document).where(done).values(current))
            return revision

    async def change_vocabulary(self, tenant: str, together: Callable[[Connection, int], Result]) -> tuple[int, Result]:
        """Makes a new version of the tenant's vocabulary in one transaction.

        Returns the revision, and what `together` returned for the version. Searches use it once the terms of all
        documents are made by it.
        """
        async with self._database.write() as connection:
            revision = await raise_revision(connection, tenant)
            version = await connection.run_sync(_raise_vocabulary, tenant)
            return revision, await connection.run_sync(together, version)


def is_outdated(connection: Connection, tenant: str, vocabulary: int) -> bool:
    """Whether any document of the tenant has terms that another vocabulary made."""
    some = exists().where(Document.tenant_id == tenant, _is_outdated(vocabulary))
    return bool(connection.execute(select(some)).scalar_one())


def _raise_vocabulary(connection: Connection, tenant: str) -> int:
    """Returns the version of the tenant's vocabulary that this transaction makes, which raised the revision before."""
    raised = update(KbState).where(KbState.tenant_id == tenant).values(vocabulary=KbState.vocabulary + 1)
    version: int = connection.execute(raised.returning(KbState.vocabulary)).scalar_one()
    return version


def get_vocabulary_version(connection: Connection, tenant: str) -> int:
    """Returns the newest version of the tenant's vocabulary; 0 before the first."""
    query = select(KbState.vocabulary).where(KbState.tenant_id == tenant)
    return connection.execute(query).scalar_one_or_none() or 0


def _is_outdated(vocabulary: int) -> ColumnElement[bool]:
    return or_(Document.text_version != text.VERSION, Document.vocabulary != vocabulary)


async def _load_chunks(connection: AsyncConnection, tenant: str, ids: Sequence[str]) -> dict[str, tuple[Chunk, ...]]:
    held = await _load_ids(connection, tenant, ids)
    found: dict[str, list[Chunk]] = {}
    for chunk, _ in await chunks.load_chunks(
        connection, tenant, [one for of_document in held.values() for one in of_document]
    ):
        found.setdefault(chunk.document.id, []).append(chunk)
    return {document: tuple(of_document) for document, of_document in found.items()}


async def _describe(connection: AsyncConnection, where: ColumnElement[bool]) -> None:
    """Notes what the names of documents tell of product and version, of those from before that was looked at."""
    columns = Document.tenant_id, Document.id, Document.title, Document.path
    unsaid = (Document.product == "") & (Document.product_version == "") & (Document.text_version != text.VERSION)
    query = select(*columns).where(where, unsaid, Document.kind == DocumentKind.FILE)
    for row in (await connection.execute(query)).all():
        told = read_names(row.title, Filing(row.path))
        one = (Document.tenant_id == row.tenant_id) & (Document.id == row.id)
        if any(told.values()):
            await connection.execute(update(Document).where(one).values(**told))


async def _load_ids(connection: AsyncConnection, tenant: str, documents: Sequence[str]) -> dict[str, set[str]]:
    query = select(StoredChunk.document_id, StoredChunk.id)
    own = StoredChunk.tenant_id == tenant, StoredChunk.document_id.in_(documents)
    held: dict[str, set[str]] = {}
    for document, chunk in await connection.execute(query.where(*own)):
        held.setdefault(document, set()).add(chunk)
    return held
