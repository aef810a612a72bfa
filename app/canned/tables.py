"""Replies that staff have ready."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class CannedReplyRow(Base):
    """One text of a tenant, found by its shortcut."""

    __tablename__ = "canned_replies"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    shortcut: Mapped[str] = mapped_column(String(32))
    text: Mapped[str]
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "shortcut"),)
