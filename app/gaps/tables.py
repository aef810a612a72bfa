"""Questions that the knowledge base did not answer."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


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
