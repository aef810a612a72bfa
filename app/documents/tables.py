"""Documents in their versions, chunks and terms, and the jobs that take documents in."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKeyConstraint, Index, String, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class KbState(Base):
    """One row per tenant: the revision that every knowledge change raises, and how far the indexes followed.

    `terms` is how many terms were ever seen, the next term id; `vocabulary` the version of the tenant's own words,
    which every change of them raises. The row is what concurrent commits lock.
    """

    __tablename__ = "kb_state"

    tenant_id: Mapped[str] = tenant_key()
    revision: Mapped[int]
    indexed_revision: Mapped[int]
    vocabulary: Mapped[int] = mapped_column(server_default="0")
    terms: Mapped[int]


class Document(Base):
    """A document as it stands at the head revision. `revision` is the one that brought what searches find of it.

    `product` and `product_version`: see `DocumentMeta`; `dated`: the day that it gives as its own, empty for none;
    `kind`: see `app.documents.types.DocumentKind`; `identity`, `path` and `external_id`: see `Filing` there;
    `published`: a version of it is, else it stands as its newest draft has it; `live`: that, it is not `disabled`, and
    it was within its validity when that was last looked at, which is what the indexes hold; `last_number`: the last
    that a version was given, which is given no other, whatever is discarded; `text_version` and `vocabulary`: of what
    made the terms of its chunks, `knowledge.text.VERSION` and the tenant's words; `deleted_at`, `deleted_by`: of one in
    the bin.
    """

    __tablename__ = "documents"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), server_default="file")
    identity: Mapped[str]
    name: Mapped[str] = mapped_column(server_default="")
    path: Mapped[str] = mapped_column(server_default="")
    external_id: Mapped[str] = mapped_column(server_default="")
    title: Mapped[str]
    category: Mapped[str]
    tags: Mapped[list[str]]
    product: Mapped[str] = mapped_column(server_default="")
    product_version: Mapped[str] = mapped_column(server_default="")
    dated: Mapped[str] = mapped_column(server_default="")
    url: Mapped[str] = mapped_column(server_default="")
    valid_from: Mapped[datetime | None]
    valid_until: Mapped[datetime | None]
    disabled: Mapped[bool] = mapped_column(server_default=false())
    live: Mapped[bool] = mapped_column(server_default=true())
    published: Mapped[bool] = mapped_column(server_default=true())
    media_type: Mapped[str]
    size: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    version_id: Mapped[str] = mapped_column(String(32))
    last_number: Mapped[int] = mapped_column(server_default="0")
    revision: Mapped[int]
    text_version: Mapped[str] = mapped_column(String(32), server_default="")
    vocabulary: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    deleted_by: Mapped[str] = mapped_column(server_default="")

    __table_args__ = (
        UniqueConstraint("tenant_id", "identity", name="uq_documents_tenant_id_name"),  # of before it was renamed
        Index(None, "tenant_id", "content_hash"),
        Index(None, "tenant_id", "category"),
        Index(None, "tenant_id", "product_version"),
    )


class Content(Base):
    """The raw bytes of a version, once per content, so that it can be chunked again or rolled back to."""

    __tablename__ = "contents"

    tenant_id: Mapped[str] = tenant_key()
    content_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes]


class DocumentVersion(Base):
    """Every version that a document ever had, numbered from 1; at most one is published.

    `chunks` is how many chunks it was split into; `name` and `columns`: by what its bytes are read again; `labels`:
    what publishing it says of the document; `note`: what was said at the last decision on it, by `decided_by`.
    """

    __tablename__ = "document_versions"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    document_id: Mapped[str] = mapped_column(String(32))
    number: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    chunks: Mapped[int]
    name: Mapped[str] = mapped_column(server_default="")
    columns: Mapped[dict[str, Any] | None]
    labels: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    author: Mapped[str] = mapped_column(server_default="")
    reason: Mapped[str] = mapped_column(server_default="")
    state: Mapped[str] = mapped_column(String(16), server_default="published")
    publish_at: Mapped[datetime | None]
    note: Mapped[str] = mapped_column(server_default="")
    decided_by: Mapped[str] = mapped_column(server_default="")
    decided_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("documents", document_id="id"),
        ForeignKeyConstraint(["tenant_id", "content_hash"], ["contents.tenant_id", "contents.content_hash"]),
        UniqueConstraint("tenant_id", "document_id", "number"),
        Index(None, "tenant_id", "content_hash"),
        Index(None, "state", "publish_at"),
    )


class StoredChunk(Base):
    """The chunks of current versions only. `terms`: little-endian int32 term ids of its tokens, in order; `correction`:
    the one that made it what it is; `excluded`: by it no search finds the chunk; `layout`: see `Chunk.layout`.
    """

    __tablename__ = "chunks"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[str] = mapped_column(String(32))
    version_id: Mapped[str] = mapped_column(String(32))
    ordinal: Mapped[int]
    heading_path: Mapped[list[str]]
    page: Mapped[int | None]
    text: Mapped[str]
    question: Mapped[str | None]
    entry: Mapped[str] = mapped_column(String(64))
    terms: Mapped[bytes]
    correction: Mapped[str] = mapped_column(String(32), server_default="")
    excluded: Mapped[bool] = mapped_column(server_default=false())
    layout: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))

    __table_args__ = (
        delete_with("document_versions", version_id="id"),
        Index(None, "tenant_id", "document_id"),
        Index(None, "tenant_id", "version_id"),
    )


class Term(Base):
    """The vocabulary, append-only: an id never changes its term."""

    __tablename__ = "terms"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    term: Mapped[str] = mapped_column(String(128))

    __table_args__ = (UniqueConstraint("tenant_id", "term"),)


class IngestionJob(Base):
    """One upload. `finished_at` is set by the commit that settles its last file."""

    __tablename__ = "ingestion_jobs"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    files: Mapped[int]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "created_at"), Index(None, "tenant_id", "finished_at"))


class IngestionFile(Base):
    """A file of a job. `worker` has it until `leased_until`; `due_at`: not to be begun before.

    `interruptions`: how often the process that reads files ended at it; `retries`: how often it was put back for what
    is no fault of its own. `labels`, `columns`, `change`, `previous`, `notices` and `error` are those of the types of
    the same name, as JSON; the notices stand in `items`.
    """

    __tablename__ = "ingestion_files"

    tenant_id: Mapped[str] = tenant_key()
    job_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    path: Mapped[str]
    external_id: Mapped[str]
    labels: Mapped[dict[str, Any]]
    columns: Mapped[dict[str, Any] | None]
    change: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    size: Mapped[int]
    state: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str] = mapped_column(String(16))
    document_id: Mapped[str] = mapped_column(String(32))
    title: Mapped[str]
    chunks: Mapped[int]
    chunks_done: Mapped[int]
    revision: Mapped[int]
    same_as: Mapped[str | None]
    previous: Mapped[dict[str, Any] | None]
    notices: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    worker: Mapped[str] = mapped_column(String(32))
    leased_until: Mapped[datetime | None]
    due_at: Mapped[datetime]
    interruptions: Mapped[int]
    retries: Mapped[int]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        delete_with("ingestion_jobs", job_id="id"),
        Index(None, "state", "due_at"),
    )


class IngestionOriginal(Base):
    """The bytes of a file that is not settled yet, or was given up because its reader died; written before its job, so
    that only whole jobs are accepted.
    """

    __tablename__ = "ingestion_originals"

    tenant_id: Mapped[str] = tenant_key()
    job_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    data: Mapped[bytes]
    created_at: Mapped[datetime]
