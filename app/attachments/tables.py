"""Attachments, and files of the store that are to go."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class AttachmentRow(Base):
    """A picture or file of a conversation; its bytes are in the store. `sent_at`: when it went out with a message, None
    while it only was uploaded. No foreign key: a channel takes the first picture before its conversation is there.
    """

    __tablename__ = "attachments"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(64))
    sender: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(128))
    media_type: Mapped[str] = mapped_column(String(96))
    bytes: Mapped[int]
    width: Mapped[int]
    height: Mapped[int]
    text: Mapped[str]
    text_state: Mapped[str] = mapped_column(String(8))
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "session_id"), Index(None, "tenant_id", "created_at"))


class AttachmentRemovalRow(Base):
    """A file of the store that is to be deleted once it is due: of an attachment that is gone, or that was begun and
    never kept.
    """

    __tablename__ = "attachment_removals"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    due_at: Mapped[datetime]

    __table_args__ = (Index(None, "due_at"),)
