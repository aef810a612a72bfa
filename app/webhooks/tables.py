"""Who is told of what, and what became of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class Webhook(Base):
    """A subscription: `events` are sent to `url`, signed with `secret`."""

    __tablename__ = "webhooks"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    url: Mapped[str]
    secret: Mapped[str] = mapped_column(String(128))
    events: Mapped[list[str]]
    description: Mapped[str]
    enabled: Mapped[bool]
    created_at: Mapped[datetime]


class WebhookDelivery(Base):
    """One event on its way to one subscription; kept for a while afterwards. `body` is sent as it is on every try.

    `worker`: the process that sends it, until `due_at`; empty for none.

    `about`: what the event tells of, `session:` or `gap:` and its id, so that it can be deleted with that.
    """

    __tablename__ = "webhook_deliveries"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(String(32))
    event_id: Mapped[str] = mapped_column(String(32))
    event: Mapped[str] = mapped_column(String(32))
    about: Mapped[str] = mapped_column(String(160), server_default="")
    body: Mapped[str]
    state: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int]
    worker: Mapped[str] = mapped_column(String(32), server_default="")
    due_at: Mapped[datetime]
    status: Mapped[int | None]
    error: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        delete_with("webhooks", webhook_id="id"),
        UniqueConstraint("tenant_id", "webhook_id", "event_id"),
        Index(None, "state", "due_at"),
        Index(None, "tenant_id", "about"),
    )
