"""Reading documents: what is there, in which version, and whether it answers yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, func, or_, select

from app.db.base import now
from app.db.engine import Database
from app.db.json_lists import has_any_item
from app.db.sorting import build_order
from app.documents.products import find_own_labels
from app.documents.tables import Content, Document, DocumentVersion, KbState, StoredChunk
from app.documents.types import DocumentKind, Filing, PublishedFile
from knowledge.blocks import Layout, validate_layout


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document at the head revision."""

    id: str
    name: str
    title: str
    path: str
    external_id: str
    category: str
    tags: tuple[str, ...]
    product: str
    product_version: str
    url: str
    valid_from: datetime | None
    valid_until: datetime | None
    disabled: bool
    # That, it is not `disabled`, and it is valid now.
    live: bool
    # A version of it is.
    published: bool
    media_type: str
    size: int
    content_hash: str
    version_id: str
    version: int
    chunks: int
    revision: int
    # What is here is what searches find.
    indexed: bool
    created_at: datetime
    updated_at: datetime

    @property
    def filing(self) -> Filing:
        """Where it is filed."""
        return Filing(self.path, self.external_id)

    @property
    def own_labels(self) -> dict[str, str | None]:
        """See `find_own_labels`."""
        known = {"product": self.product, "product_version": self.product_version}
        return find_own_labels(self.title, self.filing, known)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents are listed; None is any. folder: with all below it; "" is all. text: in name, title or path;
    indexed: whether searches find what is here; live: whether it is valid now; disabled: whether it was switched off.
    """

    category: str | None = None
    folder: str | None = None
    tag: str | None = None
    external_id: str | None = None
    text: str = ""
    indexed: bool | None = None
    live: bool | None = None
    disabled: bool | None = None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A piece of a document as it is stored."""

    id: str
    ordinal: int
    text: str
    heading_path: list[str]
    page: int | None
    # Of a FAQ entry.
    question: str | None
    # No search finds it.
    excluded: bool
    # That which made it so, or empty.
    correction: str


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A piece of a document that is valid now."""

    text: str
    heading_path: list[str]
    page: int | None
    title: str
    # Of the document, empty for none.
    url: str
    # See `Chunk.layout`.
    layout: Layout | None


@dataclass(frozen=True, slots=True)
class Original:
    """The file of a version, as it was sent."""

    name: str
    media_type: str
    data: bytes


NO_FILTERS = Filters()
_SORTED = {
    "name": func.lower(func.coalesce(func.nullif(Document.title, ""), Document.name)),
    "category": Document.category,
    "chunks": DocumentVersion.chunks,
    "size": Document.size,
    "updated": Document.updated_at,
}
# Fields of a `DocumentRow` that the document's own row does not have.
_JOINED = {
    "version": DocumentVersion.number,
    "chunks": DocumentVersion.chunks,
    "indexed": KbState.indexed_revision >= Document.revision,
}


class DocumentRepository:
    """Queries only; changes go through `KnowledgeRepository`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_page(
        self, tenant: str, filters: Filters = NO_FILTERS, *, sort: str = "", offset: int = 0, limit: int = 20
    ) -> tuple[list[DocumentRow], int]:
        """Loads a page of documents, by default the last changed first, and how many there are in all."""
        order = *build_order(sort, _SORTED), Document.revision.desc(), Document.id
        query = _select_documents(_match_filters(tenant, filters)).order_by(*order)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_row(row) for row in rows], total

    async def get(self, tenant: str, document_id: str) -> DocumentRow | None:
        """Returns the document of that id; None without one."""
        return await self._find_one(tenant, Document.id == document_id)

    async def find_filed(self, tenant: str, filing: Filing) -> DocumentRow | None:
        """Finds the document with that external id, or without one, with that path."""
        return await self._find_one(tenant, Document.identity == filing.identity)

    async def list_at_url(self, tenant: str, url: str) -> list[DocumentRow]:
        """Lists the valid documents that have that URL and no external id."""
        where = _match_files(tenant) & (Document.url == url) & Document.live & (Document.external_id == "")
        return [_build_row(row) for row in await self._database.fetch(_select_documents(where).order_by(Document.id))]

    async def list_published(self, tenant: str) -> list[PublishedFile]:
        """Lists the published documents that have no external id."""
        columns = Document.path, Document.content_hash, Document.category, Document.tags
        where = _match_files(tenant) & Document.published & (Document.external_id == "")
        rows = await self._database.fetch(select(*columns).where(where))
        return [PublishedFile(path, digest, category, tuple(tags)) for path, digest, category, tags in rows]

    async def find_by_content(self, tenant: str, content_hash: str) -> DocumentRow | None:
        """Finds the oldest document whose published version has that content, has not expired and is not disabled:
        else nothing is answered from it.
        """
        lasts = or_(Document.valid_until.is_(None), Document.valid_until > now())
        return await self._find_one(
            tenant, (Document.content_hash == content_hash) & Document.published & ~Document.disabled & lasts
        )

    async def list_outdated(self, tenant: str, *, everything: bool = False) -> list[str]:
        """Lists the ids of published files that an older release read: their chunks were written before layouts were
        stored. everything: of all published files.
        """
        own = StoredChunk.tenant_id == Document.tenant_id, StoredChunk.document_id == Document.id
        # A chunk that staff corrected has no layout either, but that does not make its file outdated.
        unknown = () if everything else (StoredChunk.layout.is_(None), StoredChunk.correction == "")
        query = select(Document.id).where(_match_files(tenant), exists().where(*own, *unknown))
        return await self._database.fetch_values(query.order_by(Document.id))

    async def load_chunks(
        self, tenant: str, document_id: str, offset: int, limit: int, text: str = ""
    ) -> tuple[list[ChunkRow], int]:
        """Loads chunks of a document's current version, in order, and how many there are. text: in the passage, or in
        the question of a table.
        """
        columns = [getattr(StoredChunk, name) for name in ChunkRow.__dataclass_fields__]
        where = (StoredChunk.tenant_id == tenant) & (StoredChunk.document_id == document_id)
        if text:
            said = (column.icontains(text, autoescape=True) for column in (StoredChunk.text, StoredChunk.question))
            where &= or_(*said)
        query = select(*columns).where(where).order_by(StoredChunk.ordinal, StoredChunk.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [ChunkRow(*row) for row in rows], total

    async def find_passage(self, tenant: str, document_id: str, quotes: Sequence[str]) -> PassageRow | None:
        """Finds the chunk of a document that contains all the quotes, at least one, word for word.

        None if no chunk does any more, or the document is not valid now. Chunks are not found by their ids, which
        change when a document is labelled anew; words do not.
        """
        of = (Document.tenant_id == StoredChunk.tenant_id) & (Document.id == StoredChunk.document_id)
        shown: list[ColumnElement[bool]] = [StoredChunk.excluded.is_(False)]
        shown += (StoredChunk.text.contains(quote, autoescape=True) for quote in quotes)
        fields = StoredChunk.text, StoredChunk.heading_path, StoredChunk.page, Document.title, Document.url
        query = (
            select(*fields, StoredChunk.layout)
            .join(Document, of)
            .where(StoredChunk.tenant_id == tenant, StoredChunk.document_id == document_id, Document.live, *shown)
            .order_by(StoredChunk.ordinal, StoredChunk.id)
            .limit(1)
        )
        row = await self._database.fetch_first(query)
        if row is None:
            return None
        text, headings, page, title, url, layout = row
        return PassageRow(text, headings, page, title, url, layout and validate_layout(layout, len(text)))

    async def load_original(self, tenant: str, document_id: str, version: int | None = None) -> Original | None:
        """Loads the file of a version, by default of the current one."""
        of = (DocumentVersion.tenant_id == Document.tenant_id) & (DocumentVersion.document_id == Document.id)
        of &= DocumentVersion.id == Document.version_id if version is None else DocumentVersion.number == version
        held = (Content.tenant_id == Document.tenant_id) & (Content.content_hash == DocumentVersion.content_hash)
        name = func.coalesce(func.nullif(DocumentVersion.name, ""), Document.name)
        query = select(name, Document.media_type, Content.data).join(DocumentVersion, of).join(Content, held)
        query = query.where(_match_files(tenant), Document.id == document_id)
        row = await self._database.fetch_first(query)
        return None if row is None else Original(*row)

    async def _find_one(self, tenant: str, where: ColumnElement[bool]) -> DocumentRow | None:
        query = _select_documents(_match_files(tenant) & where).order_by(Document.created_at, Document.id).limit(1)
        row = await self._database.fetch_first(query)
        return _build_row(row) if row else None


def _select_documents(where: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    version = (DocumentVersion.tenant_id == Document.tenant_id) & (DocumentVersion.id == Document.version_id)
    own = {field.name: getattr(Document, field.name) for field in fields(DocumentRow) if field.name not in _JOINED}
    return (
        select(*(column.label(name) for name, column in (own | _JOINED).items()))
        .join(DocumentVersion, version)
        .join(KbState, KbState.tenant_id == Document.tenant_id)
        .where(where)
    )


def _match_files(tenant: str) -> ColumnElement[bool]:
    """Matches what is listed as a document."""
    return (Document.tenant_id == tenant) & (Document.kind == DocumentKind.FILE)


def _match_filters(tenant: str, filters: Filters) -> ColumnElement[bool]:
    where = _match_files(tenant)
    if filters.category is not None:
        where &= Document.category == filters.category
    if filters.folder:
        where &= Document.path.startswith(f"{filters.folder}/", autoescape=True)
    if filters.external_id is not None:
        where &= Document.external_id == filters.external_id
    if filters.text:
        columns = Document.name, Document.title, Document.path
        where &= or_(*(column.icontains(filters.text, autoescape=True) for column in columns))
    if filters.indexed is not None:
        indexed = select(KbState.indexed_revision).where(KbState.tenant_id == tenant).scalar_subquery()
        where &= (Document.revision <= indexed) if filters.indexed else (Document.revision > indexed)
    if filters.live is not None:
        where &= Document.live.is_(filters.live)
    if filters.disabled is not None:
        where &= Document.disabled.is_(filters.disabled)
    if filters.tag is not None:
        where &= has_any_item(Document.tags, [filters.tag])
    return where


def _build_row(row: Any) -> DocumentRow:
    values = dict(row._mapping)
    return DocumentRow(**values | {"tags": tuple(values["tags"])})
