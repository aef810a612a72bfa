"""The tables. Every key starts with the tenant, so no query can cross tenants by forgetting a join."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes in UTC on every database; SQLite itself keeps no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """The present, aware, in UTC."""
    return datetime.now(UTC)


class Base(DeclarativeBase):
    """Naming conventions make constraints addressable by later migrations on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        int: BigInteger,
        bytes: LargeBinary,
        datetime: UtcDateTime,
        list[str]: JSON,
        dict[str, Any]: JSON,
    }


def _tenant() -> Mapped[str]:
    return mapped_column(String(64), primary_key=True)


class KbState(Base):
    """One row per tenant: the revision that every knowledge change raises, and how far the indexes followed.

    `terms` is the size of the vocabulary, the next term id. The row is what concurrent commits lock.
    """

    __tablename__ = "kb_state"

    tenant_id: Mapped[str] = _tenant()
    revision: Mapped[int]
    indexed_revision: Mapped[int]
    text_version: Mapped[str] = mapped_column(String(32))
    terms: Mapped[int]


class Document(Base):
    """A document as it stands at the head revision. `revision` is the one that brought its current version."""

    __tablename__ = "documents"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str]
    title: Mapped[str]
    category: Mapped[str]
    tags: Mapped[list[str]]
    media_type: Mapped[str]
    size: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    version_id: Mapped[str] = mapped_column(String(32))
    revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        Index(None, "tenant_id", "content_hash"),
        Index(None, "tenant_id", "category"),
    )


class Content(Base):
    """The raw bytes of a version, once per content, so that it can be chunked again or rolled back to."""

    __tablename__ = "contents"

    tenant_id: Mapped[str] = _tenant()
    content_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes]


class DocumentVersion(Base):
    """Every version that a document ever had, numbered from 1. `chunks` is how many chunks it was split into."""

    __tablename__ = "document_versions"

    tenant_id: Mapped[str] = _tenant()
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

    tenant_id: Mapped[str] = _tenant()
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

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    term: Mapped[str] = mapped_column(String(128))

    __table_args__ = (UniqueConstraint("tenant_id", "term"),)


class Calibration(Base):
    """What the gate learnt of one scorer on one knowledge base at one revision."""

    __tablename__ = "calibrations"

    tenant_id: Mapped[str] = _tenant()
    scorer: Mapped[str] = mapped_column(String(128), primary_key=True)
    base: Mapped[str] = mapped_column(String(128), primary_key=True)
    revision: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    fitted_at: Mapped[datetime]


class Conversation(Base):
    """A session of one customer. `turns` counts them and numbers the next."""

    __tablename__ = "conversations"

    tenant_id: Mapped[str] = _tenant()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(128))
    channel: Mapped[str] = mapped_column(String(32))
    turns: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "updated_at"),)


class Turn(Base):
    """One question and its reply; `response` is the whole chat response as it was sent."""

    __tablename__ = "turns"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int]
    question: Mapped[str]
    standalone: Mapped[str]
    reply: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(32))
    response: Mapped[dict[str, Any]]
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

    tenant_id: Mapped[str] = _tenant()
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

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class Profile(Base):
    """A tenant's profile; a tenant without a row has the default one."""

    __tablename__ = "profiles"

    tenant_id: Mapped[str] = _tenant()
    profile: Mapped[dict[str, Any]]
    updated_at: Mapped[datetime]


class OutboxEvent(Base):
    """Work that follows from a commit; written by that commit, deleted by the one that did the work."""

    __tablename__ = "outbox"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    payload: Mapped[dict[str, Any]]
    attempts: Mapped[int]
    due_at: Mapped[datetime]

    __table_args__ = (Index(None, "due_at"),)


class UsageCounter(Base):
    """How often something happened on a day (UTC), for example `outcome:answered` or `llm:prompt_tokens`."""

    __tablename__ = "usage_counters"

    tenant_id: Mapped[str] = _tenant()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[int]


class KnowledgeGap(Base):
    """A question that the knowledge base did not answer, however often it was asked."""

    __tablename__ = "knowledge_gaps"

    tenant_id: Mapped[str] = _tenant()
    question_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    question: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(32))
    count: Mapped[int]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "last_seen"),)


class Ticket(Base):
    """Something to be done for a customer, under a number that people can read.

    `open_key` is the hash of conversation and subject while the ticket is not done, so that there is one of each.
    `respond_by` and `resolve_by` are the ends of the service level; a ticket that waits for its customer has
    `waiting_since`, and its clock stands still. `version` counts its changes.
    """

    __tablename__ = "tickets"

    tenant_id: Mapped[str] = _tenant()
    number: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(128))
    user_id: Mapped[str] = mapped_column(String(128))
    subject: Mapped[str] = mapped_column(String(200))
    description: Mapped[str]
    category: Mapped[str] = mapped_column(String(32))
    priority: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16))
    assignee: Mapped[str] = mapped_column(String(128))
    open_key: Mapped[str | None] = mapped_column(String(64))
    version: Mapped[int]
    respond_by: Mapped[datetime]
    resolve_by: Mapped[datetime]
    responded_at: Mapped[datetime | None]
    waiting_since: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "open_key"),
        Index(None, "tenant_id", "session_id"),
        Index(None, "tenant_id", "user_id"),
        Index(None, "tenant_id", "updated_at"),
    )


class TicketEvent(Base):
    """What happened to a ticket, numbered from 1. `actor` did it; the customer is told of `public` ones only."""

    __tablename__ = "ticket_events"

    tenant_id: Mapped[str] = _tenant()
    ticket: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(128))
    text: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    public: Mapped[bool]
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "ticket"], ["tickets.tenant_id", "tickets.number"], ondelete="CASCADE"),
    )


class Webhook(Base):
    """A subscription: `events` are sent to `url`, signed with `secret`."""

    __tablename__ = "webhooks"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    url: Mapped[str]
    secret: Mapped[str] = mapped_column(String(128))
    events: Mapped[list[str]]
    description: Mapped[str]
    enabled: Mapped[bool]
    created_at: Mapped[datetime]


class WebhookDelivery(Base):
    """One event on its way to one subscription; kept for a while afterwards. `body` is sent as it is on every try."""

    __tablename__ = "webhook_deliveries"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(String(32))
    event_id: Mapped[str] = mapped_column(String(32))
    event: Mapped[str] = mapped_column(String(32))
    body: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int]
    due_at: Mapped[datetime]
    status: Mapped[int | None]
    error: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "webhook_id"], ["webhooks.tenant_id", "webhooks.id"], ondelete="CASCADE"),
        UniqueConstraint("tenant_id", "webhook_id", "event_id"),
        Index(None, "state", "due_at"),
    )


class DeskSession(Base):
    """A session that was with the human desk at least once; `state` is changed by compare-and-set alone.

    `version` counts its transitions, `messages` numbers its messages; see `app.desk.types`.
    """

    __tablename__ = "desk_sessions"

    tenant_id: Mapped[str] = _tenant()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    version: Mapped[int]
    messages: Mapped[int]
    agent_id: Mapped[str] = mapped_column(String(64))
    user_id: Mapped[str] = mapped_column(String(128))
    caller: Mapped[str] = mapped_column(String(128))
    channel: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(String(32))
    priority: Mapped[int]
    emotion: Mapped[float]
    skill: Mapped[str] = mapped_column(String(64))
    card: Mapped[dict[str, Any]]
    ticket: Mapped[str] = mapped_column(String(32))
    queued_at: Mapped[datetime | None]
    assigned_at: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    fresh_at: Mapped[datetime | None]
    active_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "session_id"], ["conversations.tenant_id", "conversations.session_id"], ondelete="CASCADE"
        ),
        Index(None, "state"),
        Index(None, "tenant_id", "state", "agent_id"),
        Index(None, "tenant_id", "resolved_at"),
    )


class DeskMessage(Base):
    """A message between customer and staff. `client_id` is the sender's own, so that one sent twice is kept once."""

    __tablename__ = "desk_messages"

    tenant_id: Mapped[str] = _tenant()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sender: Mapped[str] = mapped_column(String(16))
    agent_id: Mapped[str] = mapped_column(String(64))
    client_id: Mapped[str | None] = mapped_column(String(64))
    content: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "session_id"], ["desk_sessions.tenant_id", "desk_sessions.session_id"], ondelete="CASCADE"
        ),
        UniqueConstraint("tenant_id", "session_id", "sender", "client_id"),
    )


class DeskEvent(Base):
    """One transition of a session; `version` is the one that it made."""

    __tablename__ = "desk_events"

    tenant_id: Mapped[str] = _tenant()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    event: Mapped[str] = mapped_column(String(32))
    source: Mapped[str] = mapped_column(String(16))
    target: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(16))
    agent_id: Mapped[str] = mapped_column(String(64))
    note: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "session_id"], ["desk_sessions.tenant_id", "desk_sessions.session_id"], ondelete="CASCADE"
        ),
    )


class DeskStaff(Base):
    """A person who serves customers. No skills: takes anything; a capacity of 0 is none."""

    __tablename__ = "desk_staff"

    tenant_id: Mapped[str] = _tenant()
    agent_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(64))
    skills: Mapped[list[str]]
    capacity: Mapped[int]
    last_seen: Mapped[datetime | None]


class DeskSolution(Base):
    """What a person answered, reviewed, for the knowledge base to take over; outlives the conversation."""

    __tablename__ = "desk_solutions"

    tenant_id: Mapped[str] = _tenant()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    question_hash: Mapped[str] = mapped_column(String(64))
    question: Mapped[str]
    answer: Mapped[str]
    agent_id: Mapped[str] = mapped_column(String(64))
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "session_id", "question_hash"),
        Index(None, "tenant_id", "created_at"),
    )
