"""Curated answers, and the ways to ask that each of them owns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class FaqRow(Base):
    """One entry. `revision`: of the knowledge base, from which on searches know what is here; 0 for a draft. What is
    published has a document of the same id.
    """

    __tablename__ = "faqs"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    question: Mapped[str]
    answer: Mapped[str]
    variants: Mapped[list[str]]
    buttons: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(String(16))
    author: Mapped[str]
    hits: Mapped[int]
    revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "updated_at"),)


class FaqWordingRow(Base):
    """A way to ask belongs to one entry. `wording`: SHA-256 of its normal form."""

    __tablename__ = "faq_wordings"

    tenant_id: Mapped[str] = tenant_key()
    wording: Mapped[str] = mapped_column(String(64), primary_key=True)
    faq_id: Mapped[str] = mapped_column(String(32))

    __table_args__ = (
        delete_with("faqs", faq_id="id"),
        Index(None, "tenant_id", "faq_id"),
    )
