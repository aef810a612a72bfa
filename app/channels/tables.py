"""Conversations on platforms, what came in on them, and what is to go out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class ChannelSessionRow(Base):
    """A conversation on a platform, and the session that it is here. `peer` is a digest of what names it there, and of
    nothing once it ended there. `customer`: a digest of the platform's user, empty where the platform proves none.
    `seen`: the number of the last message of the desk that was looked at.
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
    """A customer's message; `id` is a digest of the platform's own. It is kept after it was answered, so that one that
    is sent again is known. `due_at`: when it may be worked on, or the lease of who does ends.
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
    awaited_until: Mapped[datetime | None]
    sent_at: Mapped[datetime]
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "status", "due_at"), Index(None, "tenant_id", "session_id"))


class ChannelReplyRow(Base):
    """One message of a reply, as the platform takes it. `message`: the customer's that it answers, empty for none.
    Ids rise with time: by them the pieces of a session are sent in order.
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
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        Index(None, "status", "due_at"),
        Index(None, "tenant_id", "session_id"),
        Index(None, "tenant_id", "account", "message"),
    )


class ChannelMemberRow(Base):
    """Who a user of a platform is in the company's own system, as its backend says. `customer` is a digest."""

    __tablename__ = "channel_members"

    tenant_id: Mapped[str] = tenant_key()
    account: Mapped[str] = mapped_column(String(32), primary_key=True)
    customer: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "account", "user_id"),)


class ChannelCursorRow(Base):
    """From where an account goes on fetching."""

    __tablename__ = "channel_cursors"

    tenant_id: Mapped[str] = tenant_key()
    account: Mapped[str] = mapped_column(String(32), primary_key=True)
    cursor: Mapped[str]
    updated_at: Mapped[datetime]
