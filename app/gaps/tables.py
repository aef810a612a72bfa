"""Questions that the knowledge base did not answer, one by one, and the gaps that they make."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


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


class GapRow(Base):
    """A cluster of questions; see `app.gaps.types.Gap`."""

    __tablename__ = "gaps"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    question: Mapped[str]
    checked: Mapped[int]
    merged_into: Mapped[str] = mapped_column(String(32))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "updated_at"),)


class GapItemRow(Base):
    """One miss, see `app.gaps.types.Miss`. That of a turn goes with the turn; others by `session_id`."""

    __tablename__ = "gap_items"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(80), primary_key=True)
    reason: Mapped[str] = mapped_column(String(16))
    session_id: Mapped[str] = mapped_column(String(128))
    turn_id: Mapped[str | None] = mapped_column(String(64))
    question: Mapped[str]
    note: Mapped[str]
    handoff: Mapped[bool]
    revision: Mapped[int]
    gap_id: Mapped[str | None] = mapped_column(String(32))
    asked_at: Mapped[datetime]

    __table_args__ = (
        delete_with("turns", turn_id="id"),
        delete_with("gaps", gap_id="id"),
        Index(None, "tenant_id", "gap_id"),
        Index(None, "tenant_id", "turn_id"),
        Index(None, "tenant_id", "session_id"),
    )


class GapEventRow(Base):
    """What was done with a gap, numbered from 1."""

    __tablename__ = "gap_events"

    tenant_id: Mapped[str] = tenant_key()
    gap_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    event: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(64))
    note: Mapped[str]
    at: Mapped[datetime]

    __table_args__ = (delete_with("gaps", gap_id="id"),)


class GapDraftRow(Base):
    """The answer to a gap, see `app.gaps.types.GapDraft`."""

    __tablename__ = "gap_drafts"

    tenant_id: Mapped[str] = tenant_key()
    gap_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    question: Mapped[str]
    answer: Mapped[str]
    variants: Mapped[list[str]]
    origin: Mapped[str] = mapped_column(String(16))
    author: Mapped[str] = mapped_column(String(64))
    approver: Mapped[str] = mapped_column(String(64))
    faq_id: Mapped[str] = mapped_column(String(32))

    __table_args__ = (delete_with("gaps", gap_id="id"),)


class GapPolicyRow(Base):
    """How a tenant reviews. A tenant without a row lets one person do both."""

    __tablename__ = "gap_policies"

    tenant_id: Mapped[str] = tenant_key()
    two_persons: Mapped[bool]
