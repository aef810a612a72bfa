"""What administrators did."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class AuditRow(Base):
    """One action. Its id begins with the time. outcome: null while it is carried out, and where that was cut off.
    No bodies, so no secrets.
    """

    __tablename__ = "audit_log"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime]
    actor_id: Mapped[str] = mapped_column(String(32))
    actor: Mapped[str] = mapped_column(String(128))
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[dict[str, Any]]
    outcome: Mapped[str | None] = mapped_column(String(16))
    request_id: Mapped[str] = mapped_column(String(64))
