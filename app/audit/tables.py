"""What administrators did."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class AuditRow(Base):
    """One action. Its id begins with the time. outcome: null while it is carried out, and where that was cut off;
    subject, changed: see `AuditAction`. No bodies, so no secrets.
    """

    __tablename__ = "audit_log"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime]
    actor_id: Mapped[str] = mapped_column(String(32))
    actor: Mapped[str] = mapped_column(String(128))
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[dict[str, Any]]
    subject: Mapped[str] = mapped_column(String(200), server_default="")
    changed: Mapped[list[str]] = mapped_column(JSON, server_default="[]")
    outcome: Mapped[str | None] = mapped_column(String(16))
    request_id: Mapped[str] = mapped_column(String(64))
