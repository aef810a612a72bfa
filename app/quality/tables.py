"""What is wrong with knowledge bases, and what people said of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class QualityCheckRow(Base):
    """The last check of the whole base, one row a tenant; see `app.quality.checks.types.Coverage`."""

    __tablename__ = "quality_checks"

    tenant_id: Mapped[str] = tenant_key()
    documents: Mapped[int]
    passages: Mapped[int]
    answers: Mapped[int]
    searches: Mapped[int]
    checked_at: Mapped[datetime]


class QualityIssueRow(Base):
    """One finding. `excerpts`: its passages, the document's own first; `values`: what stands against each other."""

    __tablename__ = "quality_issues"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    severity: Mapped[str] = mapped_column(String(16))
    document_id: Mapped[str] = mapped_column(String(32))
    chunk_id: Mapped[str] = mapped_column(String(64))
    other_document_id: Mapped[str] = mapped_column(String(32))
    other_chunk_id: Mapped[str] = mapped_column(String(64))
    detail: Mapped[str]
    excerpts: Mapped[list[str]]
    values: Mapped[list[str]]
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str]
    decided_by: Mapped[str]
    decided_at: Mapped[datetime | None]
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("documents", document_id="id"),
        UniqueConstraint("tenant_id", "fingerprint"),
        Index(None, "tenant_id", "state", "kind"),
        Index(None, "tenant_id", "document_id"),
    )
