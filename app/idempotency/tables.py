"""Requests that came with a key of their sender's."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class IdempotentRequest(Base):
    """A request and its result, which is there once `status` is. `until`: by when a running attempt, `owner`, says
    again that it lives; `session_id`: with which conversation the row goes.
    """

    __tablename__ = "idempotent_requests"

    tenant_id: Mapped[str] = tenant_key()
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    body_digest: Mapped[str] = mapped_column(String(64))
    owner: Mapped[str] = mapped_column(String(32))
    until: Mapped[datetime]
    status: Mapped[int | None]
    body: Mapped[bytes]
    sealed: Mapped[bytes]
    session_id: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "session_id"),)
