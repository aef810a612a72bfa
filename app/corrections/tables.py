"""Corrections of the chunks of documents."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class CorrectionRow(Base):
    """One chunk of a document, as it was read and as it is to be; null where it stays as it was read."""

    __tablename__ = "corrections"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    document_id: Mapped[str] = mapped_column(String(32))
    original_text: Mapped[str]
    original_heading: Mapped[list[str]]
    question: Mapped[str | None]
    ordinal: Mapped[int]
    text: Mapped[str | None]
    heading: Mapped[list[str] | None]
    excluded: Mapped[bool] = mapped_column(server_default=false())
    author: Mapped[str]
    reason: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        delete_with("documents", document_id="id"),
        Index(None, "tenant_id", "document_id"),
        Index(None, "tenant_id", "state"),
    )
