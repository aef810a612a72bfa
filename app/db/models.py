"""The tables. Every key starts with the tenant, so no query can cross tenants by forgetting a join.

Embeddings alone have none: they are found by a hash of model and text, by whoever has the text.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, String, UniqueConstraint, true
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base as Base
from app.db.base import now as now
from app.db.base import tenant_key
from app.db.desk_models import DeskEvent as DeskEvent
from app.db.desk_models import DeskMessage as DeskMessage
from app.db.desk_models import DeskSession as DeskSession
from app.db.desk_models import DeskSolution as DeskSolution
from app.db.desk_models import DeskStaff as DeskStaff
from app.db.ticket_models import Ticket as Ticket
from app.db.ticket_models import TicketEvent as TicketEvent
from app.db.ticket_models import Webhook as Webhook
from app.db.ticket_models import WebhookDelivery as WebhookDelivery
from app.documents.tables import IngestionFile as IngestionFile
from app.documents.tables import IngestionJob as IngestionJob
from app.documents.tables import IngestionOriginal as IngestionOriginal
from app.idempotency.tables import IdempotentRequest as IdempotentRequest


class KbState(Base):
    """One row per tenant: the revision that every knowledge change raises, and how far the indexes followed.

    `terms` is the size of the vocabulary, the next term id. The row is what concurrent commits lock.
    """

    __tablename__ = "kb_state"

    tenant_id: Mapped[str] = tenant_key()
    revision: Mapped[int]
    indexed_revision: Mapped[int]
    text_version: Mapped[str] = mapped_column(String(32))
    terms: Mapped[int]


class Document(Base):
    """A document as it stands at the head revision. `revision` is the one that brought what searches find of it.

    `identity`, `path` and `external_id`: see `app.documents.types.Filing`; `live`: whether it was within its validity
    when that was last looked at, which is what the indexes hold.
    """

    __tablename__ = "documents"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    identity: Mapped[str]
    name: Mapped[str] = mapped_column(server_default="")
    path: Mapped[str] = mapped_column(server_default="")
    external_id: Mapped[str] = mapped_column(server_default="")
    title: Mapped[str]
    category: Mapped[str]
    tags: Mapped[list[str]]
    url: Mapped[str] = mapped_column(server_default="")
    valid_from: Mapped[datetime | None]
    valid_until: Mapped[datetime | None]
    live: Mapped[bool] = mapped_column(server_default=true())
    media_type: Mapped[str]
    size: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    version_id: Mapped[str] = mapped_column(String(32))
    revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "identity", name="uq_documents_tenant_id_name"),  # of before it was renamed
        Index(None, "tenant_id", "content_hash"),
        Index(None, "tenant_id", "category"),
    )


class Content(Base):
    """The raw bytes of a version, once per content, so that it can be chunked again or rolled back to."""

    __tablename__ = "contents"

    tenant_id: Mapped[str] = tenant_key()
    content_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes]


class DocumentVersion(Base):
    """Every version that a document ever had, numbered from 1. `chunks` is how many chunks it was split into."""

    __tablename__ = "document_versions"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    document_id: Mapped[str] = mapped_column(String(32))
    number: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    chunks: Mapped[int]
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "content_hash"], ["contents.tenant_id", "contents.content_hash"]),
        UniqueConstraint("tenant_id", "document_id", "number"),
        Index(None, "tenant_id", "content_hash"),
    )


class StoredChunk(Base):
    """The chunks of current versions only. `terms`: little-endian int32 term ids of its tokens, in order."""

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

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "version_id"], ["document_versions.tenant_id", "document_versions.id"], ondelete="CASCADE"
        ),
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


class Calibration(Base):
    """What the gate learnt of one scorer on one knowledge base at one revision."""

    __tablename__ = "calibrations"

    tenant_id: Mapped[str] = tenant_key()
    scorer: Mapped[str] = mapped_column(String(128), primary_key=True)
    base: Mapped[str] = mapped_column(String(128), primary_key=True)
    revision: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    fitted_at: Mapped[datetime]


class Conversation(Base):
    """A session of one customer. `turns` counts them and numbers the next.

    `caller` is the member whose it is, `token` the digest of its secret; empty for nobody, and for none.
    """

    __tablename__ = "conversations"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(128))
    channel: Mapped[str] = mapped_column(String(32))
    caller: Mapped[str] = mapped_column(String(128), server_default="")
    token: Mapped[str] = mapped_column(String(64), server_default="")
    token_expires: Mapped[datetime | None]
    turns: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "updated_at"),)


class Turn(Base):
    """One question and its reply; `response` is the whole chat response as it was sent, without a session's secret.

    `rows_of` is the member whose business data it holds, empty for none; `state` what the conversation was about then.
    """

    __tablename__ = "turns"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int]
    question: Mapped[str]
    standalone: Mapped[str]
    reply: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(32))
    rows_of: Mapped[str] = mapped_column(String(128), server_default="")
    response: Mapped[dict[str, Any]]
    state: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "session_id"], ["conversations.tenant_id", "conversations.session_id"], ondelete="CASCADE"
        ),
        UniqueConstraint("tenant_id", "session_id", "number"),
    )


class Feedback(Base):
    """What a customer thinks of one reply; a later vote replaces the earlier one."""

    __tablename__ = "feedback"

    tenant_id: Mapped[str] = tenant_key()
    turn_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    rating: Mapped[str] = mapped_column(String(8))
    reason: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "turn_id"], ["turns.tenant_id", "turns.id"], ondelete="CASCADE"),
    )


class ApiKey(Base):
    """A key as its SHA-256 only; the key itself is shown once, when it is made. Unique beyond tenants: it finds one."""

    __tablename__ = "api_keys"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    origins: Mapped[list[str]] = mapped_column(server_default="[]")


class Profile(Base):
    """A tenant's profile; a tenant without a row has the default one."""

    __tablename__ = "profiles"

    tenant_id: Mapped[str] = tenant_key()
    profile: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]


class OutboxEvent(Base):
    """Work that follows from a commit; written by that commit, deleted by the one that did the work."""

    __tablename__ = "outbox"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    payload: Mapped[dict[str, Any]]
    attempts: Mapped[int]
    due_at: Mapped[datetime]

    __table_args__ = (Index(None, "due_at"),)


class UsageCounter(Base):
    """How often something happened on a day (UTC), for example `outcome:answered` or `llm:prompt_tokens`."""

    __tablename__ = "usage_counters"

    tenant_id: Mapped[str] = tenant_key()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[int]


class KnowledgeGap(Base):
    """A question that the knowledge base did not answer, however often it was asked."""

    __tablename__ = "knowledge_gaps"

    tenant_id: Mapped[str] = tenant_key()
    question_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    question: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(32))
    count: Mapped[int]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "last_seen"),)


class RetentionPeriod(Base):
    """For how many days a tenant keeps one kind of data, 0 being for ever; without a row as the settings say."""

    __tablename__ = "retention_periods"

    tenant_id: Mapped[str] = tenant_key()
    kind: Mapped[str] = mapped_column(String(32), primary_key=True)
    days: Mapped[int]


class Embedding(Base):
    """A vector by content, float32 in little-endian order. `used_on`: the ordinal of a day, to the week."""

    __tablename__ = "embeddings"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    vector: Mapped[bytes]
    used_on: Mapped[int]

    __table_args__ = (Index(None, "used_on"),)
