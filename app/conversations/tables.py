"""Conversations and what was said in them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class Conversation(Base):
    """A session of one customer. `turns` counts them and numbers the next.

    `caller` is the member whose it is, `token` the digest of its secret; empty for nobody, and for none.
    """

    __tablename__ = "conversations"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(128))
    channel: Mapped[str] = mapped_column(String(32))
    caller: Mapped[str] = mapped_column(String(128), server_default="")
    token: Mapped[str] = mapped_column(String(64), server_default="")
    token_expires: Mapped[datetime | None]
    turns: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "updated_at"), Index(None, "tenant_id", "caller"))


class StoredTurn(Base):
    """One question and its reply; `response` is the whole chat response as it was sent, without a session's secret.

    `rows_of` is the member whose business data it holds, empty for none; `state` what the conversation was about then;
    `trace_id` of the request that brought it; `attachments`: see `Attachment.build_brief`.
    """

    __tablename__ = "turns"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int]
    question: Mapped[str]
    standalone: Mapped[str]
    reply: Mapped[str]
    outcome: Mapped[str] = mapped_column(String(32))
    rows_of: Mapped[str] = mapped_column(String(128), server_default="")
    response: Mapped[dict[str, Any]]
    state: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    trace_id: Mapped[str] = mapped_column(String(64), server_default="")
    attachments: Mapped[list[dict[str, Any]]] = mapped_column(JSON, server_default="[]")
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("conversations", session_id="session_id"),
        UniqueConstraint("tenant_id", "session_id", "number"),
        Index(None, "tenant_id", "trace_id"),
        Index(None, "tenant_id", "created_at"),
    )


class Feedback(Base):
    """What a customer thinks of one reply; a later vote replaces the earlier one."""

    __tablename__ = "feedback"

    tenant_id: Mapped[str] = tenant_key()
    turn_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    rating: Mapped[str] = mapped_column(String(8))
    reason: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (delete_with("turns", turn_id="id"),)
