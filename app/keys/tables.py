"""API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class ApiKey(Base):
    """A key as its SHA-256 only; the key itself is shown once, when it is made. Unique beyond tenants: it finds one.
    `last_used_at` to the minute. After a rotation the digest before works until `previous_until`.
    `filter`: the documents that it is bound to, see `Filter.stated_fields`.
    """

    __tablename__ = "api_keys"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    changed_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    scopes: Mapped[list[str]] = mapped_column(server_default="[]")
    previous_digest: Mapped[str | None] = mapped_column(String(64))
    previous_until: Mapped[datetime | None]
    origins: Mapped[list[str]] = mapped_column(server_default="[]")
    filter: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
