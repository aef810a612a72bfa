"""The bin: documents that were deleted a while ago, with their id, their versions and their chunks.

A document in the bin is of another kind than those that are listed, neither live nor published, and gives up its place
to whatever is filed there next; so nothing finds, counts, changes or publishes it, and nobody has to think of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, exists, func, or_, select, update

from app.db.base import now
from app.db.engine import Database
from app.db.sorting import build_order
from app.documents.repository_knowledge import drop_contents, hold_revision, is_valid, match_document, raise_revision
from app.documents.repository_labels import PathTaken
from app.documents.tables import Document, DocumentVersion
from app.documents.types import DocumentKind, Filing, VersionState


@dataclass(frozen=True, slots=True)
class BinnedRow:
    """A document in the bin. versions: how many of it there are."""

    id: str
    name: str
    title: str
    path: str
    external_id: str
    category: str
    size: int
    versions: int
    deleted_at: datetime
    deleted_by: str


class BinRepository:
    """What is done here is one transaction each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, tenant: str, document_id: str, deleted_by: str) -> int | None:
        """Deletes a document into the bin; the revision from which on no search finds it, None without the document."""
        async with self._database.write() as connection:
            one = match_document(tenant, document_id, DocumentKind.FILE)
            if (await connection.execute(select(Document.id).where(one))).first() is None:
                return None
            revision = await raise_revision(connection, tenant)
            values = {
                "kind": DocumentKind.BINNED,
                "identity": f"/{DocumentKind.BINNED}/{document_id}",  # paths begin with no slash, external ids with two
                "live": False,
                "published": False,
                "revision": revision,
                "deleted_at": now(),
                "deleted_by": deleted_by,
            }
            await connection.execute(update(Document).where(one).values(values))
            return revision

    async def restore_document(self, tenant: str, document_id: str) -> int | None:
        """Files it where it was; the revision from which on searches find it, None where it is not in the bin. Raises
        PathTaken where another document is filed there by now.
        """
        async with self._database.write() as connection:
            await hold_revision(connection, tenant)
            one = match_document(tenant, document_id, DocumentKind.BINNED)
            columns = Document.path, Document.external_id, Document.valid_from, Document.valid_until, Document.disabled
            row = (await connection.execute(select(*columns).where(one))).first()
            if row is None:
                return None
            filing = Filing(row.path, row.external_id)
            taken = (Document.tenant_id == tenant) & (Document.identity == filing.identity)
            if (await connection.execute(select(Document.id).where(taken))).first() is not None:
                raise PathTaken(filing.path)
            version = DocumentVersion
            own = (version.tenant_id == tenant) & (version.document_id == document_id)
            answering = select(exists().where(own, version.state == VersionState.PUBLISHED))
            published = bool((await connection.execute(answering)).scalar_one())
            live = published and not row.disabled and is_valid(row.valid_from, row.valid_until, now())
            revision = await raise_revision(connection, tenant)
            values = {
                "kind": DocumentKind.FILE,
                "identity": filing.identity,
                "live": live,
                "published": published,
                "revision": revision,
                "updated_at": now(),
                "deleted_at": None,
                "deleted_by": "",
            }
            await connection.execute(update(Document).where(one).values(values))
            return revision

    async def load_page(
        self, tenant: str, text: str, offset: int, limit: int, sort: str = ""
    ) -> tuple[list[BinnedRow], int]:
        """Returns a page of deleted documents, those deleted last first unless `sort` says otherwise, and their total
        number.

        text: in name, title or path.
        """
        where = (Document.tenant_id == tenant) & (Document.kind == DocumentKind.BINNED)
        if text:
            columns = Document.name, Document.title, Document.path
            where &= or_(*(column.icontains(text, autoescape=True) for column in columns))
        own = (DocumentVersion.tenant_id == Document.tenant_id) & (DocumentVersion.document_id == Document.id)
        versions = select(func.count()).select_from(DocumentVersion).where(own).scalar_subquery()
        told = (*(getattr(Document, name) for name in _TOLD), versions, Document.deleted_at, Document.deleted_by)
        query = select(*told).where(where)
        query = query.order_by(*build_order(sort, _SORTED), Document.deleted_at.desc(), Document.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [BinnedRow(*row) for row in rows], total

    async def erase_document(self, tenant: str, document_id: str) -> bool:
        """Deletes what lies in the bin for good; whether it did."""
        return await self._database.transact(
            lambda connection: _erase_document(connection, tenant, document_id), erases=True
        )


def _erase_document(connection: Connection, tenant: str, document_id: str) -> bool:
    one = match_document(tenant, document_id, DocumentKind.BINNED)
    if connection.execute(select(Document.id).where(one)).first() is None:
        return False
    connection.execute(delete(Document).where(one))
    drop_contents(connection, tenant)
    return True


_SORTED = {"name": func.lower(Document.name), "size": Document.size, "deleted": Document.deleted_at}
_TOLD = ("id", "name", "title", "path", "external_id", "category", "size")
