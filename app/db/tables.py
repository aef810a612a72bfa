"""The table of the outbox."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


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
