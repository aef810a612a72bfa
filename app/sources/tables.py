"""Sources of documents and what they hold."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class SourceRow(Base):
    """See `WatchedSource`."""

    __tablename__ = "sources"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str]
    config: Mapped[dict[str, Any]]
    folder: Mapped[str]
    category: Mapped[str]
    tags: Mapped[list[str]]
    enabled: Mapped[bool]
    interval_minutes: Mapped[int]
    next_sync_at: Mapped[datetime | None]
    last: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "next_sync_at"),)


class SourceItemRow(Base):
    """See `SourceItem`; `key` is made of its locator."""

    __tablename__ = "source_items"

    tenant_id: Mapped[str] = tenant_key()
    source_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    locator: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    document_id: Mapped[str] = mapped_column(String(32))
    signature: Mapped[str]
    etag: Mapped[str]
    last_modified: Mapped[str]
    content_hash: Mapped[str] = mapped_column(String(64))
    text_hash: Mapped[str] = mapped_column(String(64))
    depth: Mapped[int]
    reason: Mapped[str]
    error_code: Mapped[str] = mapped_column(String(64))
    error: Mapped[str]
    seen_at: Mapped[datetime | None]
    changed_at: Mapped[datetime | None]

    __table_args__ = (delete_with("sources", source_id="id"),)
