"""Reading documents: what is there, in which version, and whether it answers yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from app.db.engine import Database
from app.db.models import Document, DocumentVersion, KbState


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document at the head revision. `indexed`: its current version is what searches find."""

    id: str
    name: str
    title: str
    category: str
    tags: tuple[str, ...]
    media_type: str
    size: int
    content_hash: str
    version_id: str
    version: int
    chunks: int
    revision: int
    indexed: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a document, numbered from 1."""

    id: str
    number: int
    content_hash: str
    chunks: int
    created_at: datetime


class DocumentRepository:
    """Queries only; changes go through `KnowledgeRepository`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, tenant: str, *, category: str | None = None, offset: int = 0, limit: int = 20
    ) -> tuple[list[DocumentRow], int]:
        """One page of documents, the last changed first, and how many there are in all."""
        where = Document.tenant_id == tenant
        if category is not None:
            where &= Document.category == category
        query = _documents(where).order_by(Document.revision.desc()).offset(offset).limit(limit)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(Document).where(where))).scalar_one()
            return [_row(row) for row in await connection.execute(query)], total

    async def get(self, tenant: str, document_id: str) -> DocumentRow | None:
        """The document of that id."""
        return await self._one((Document.tenant_id == tenant) & (Document.id == document_id))

    async def named(self, tenant: str, name: str) -> DocumentRow | None:
        """The document of that file name."""
        return await self._one((Document.tenant_id == tenant) & (Document.name == name))

    async def holding(self, tenant: str, content_hash: str) -> DocumentRow | None:
        """The oldest document whose current version has that content."""
        return await self._one((Document.tenant_id == tenant) & (Document.content_hash == content_hash))

    async def versions(self, tenant: str, document_id: str) -> list[VersionRow]:
        """All versions of a document, the newest first."""
        query = (
            select(
                DocumentVersion.id,
                DocumentVersion.number,
                DocumentVersion.content_hash,
                DocumentVersion.chunks,
                DocumentVersion.created_at,
            )
            .where(DocumentVersion.tenant_id == tenant, DocumentVersion.document_id == document_id)
            .order_by(DocumentVersion.number.desc())
        )
        async with self._database.read() as connection:
            return [VersionRow(*row) for row in await connection.execute(query)]

    async def _one(self, where: ColumnElement[bool]) -> DocumentRow | None:
        query = _documents(where).order_by(Document.created_at, Document.id).limit(1)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
            return _row(row) if row else None


def _documents(where: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    version = (DocumentVersion.tenant_id == Document.tenant_id) & (DocumentVersion.id == Document.version_id)
    return (
        select(
            Document.id,
            Document.name,
            Document.title,
            Document.category,
            Document.tags,
            Document.media_type,
            Document.size,
            Document.content_hash,
            Document.version_id,
            DocumentVersion.number,
            DocumentVersion.chunks,
            Document.revision,
            (KbState.indexed_revision >= Document.revision).label("indexed"),
            Document.created_at,
            Document.updated_at,
        )
        .join(DocumentVersion, version)
        .join(KbState, KbState.tenant_id == Document.tenant_id)
        .where(where)
    )


def _row(row: Any) -> DocumentRow:
    identity, name, title, category, tags, *rest = row
    return DocumentRow(identity, name, title, category, tuple(tags), *rest)
