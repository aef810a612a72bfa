"""Conversations on platforms, their messages, and the replies to send."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class ChannelSessionRow(Base):
    """A conversation on a platform and its session. `peer`: a digest of its id on the platform, the session id once it
    has ended. `customer`: a digest of the platform's user, empty if the platform proves none. `seen`: the number of the
    last message of the desk that was handled.
    """

    __tablename__ = "channel_sessions"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account: Mapped[str] = mapped_column(String(32))
    peer: Mapped[str] = mapped_column(String(64))
    customer: Mapped[str] = mapped_column(String(64), server_default="")
    address: Mapped[dict[str, Any]]
    seen: Mapped[int]
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "account", "peer"),)


class ChannelMessageRow(Base):
    """A customer's message; `id` is a digest of the platform's own. It stays after the answer, so that a
    duplicate is recognized. `due_at`: when it may be claimed, or when the lease of `worker` ends.
    """

    __tablename__ = "channel_messages"

    tenant_id: Mapped[str] = tenant_key()
    account: Mapped[str] = mapped_column(String(32), primary_key=True)
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    text: Mapped[str]
    media: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    status: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int]
    worker: Mapped[str] = mapped_column(String(32), server_default="")
    awaited_until: Mapped[datetime | None]
    sent_at: Mapped[datetime]
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "status", "due_at"), Index(None, "tenant_id", "session_id"))


class ChannelReplyRow(Base):
    """One message of a reply in the platform's format. `message`: the customer's message that it answers, empty for
    none. Ids rise with time; the pieces of a session are sent in their order. `worker`, `due_at`: as of a message.
    """

    __tablename__ = "channel_replies"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    account: Mapped[str] = mapped_column(String(32))
    session_id: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(String(64))
    payload: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int]
    error: Mapped[str]
    worker: Mapped[str] = mapped_column(String(32), server_default="")
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        Index(None, "status", "due_at"),
        Index(None, "tenant_id", "session_id"),
        Index(None, "tenant_id", "account", "message"),
    )


class ChannelMemberRow(Base):
    """The member behind a platform's user, as the company's backend says. `customer`: a digest of the user."""

    __tablename__ = "channel_members"

    tenant_id: Mapped[str] = tenant_key()
    account: Mapped[str] = mapped_column(String(32), primary_key=True)
    customer: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "account", "user_id"),)


class ChannelCursorRow(Base):
    """Where an account continues to fetch."""

    __tablename__ = "channel_cursors"

    tenant_id: Mapped[str] = tenant_key()
    account: Mapped[str] = mapped_column(String(32), primary_key=True)
    cursor: Mapped[str]
    updated_at: Mapped[datetime]
