"""By what conversations are found again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class ConversationTextRow(Base):
    """The words of a turn, of a message of staff or of a note, as `terms.build_terms` writes them; never changed.

    `entry` names it in its conversation. `row` is the number by which SQLite's full-text index knows it; that index and
    its triggers, and PostgreSQL's, are made by migration 0046.
    """

    __tablename__ = "conversation_texts"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    entry: Mapped[str] = mapped_column(String(64), primary_key=True)
    row: Mapped[int]
    terms: Mapped[str]

    __table_args__ = (
        delete_with("conversations", session_id="session_id"),
        UniqueConstraint("row"),
    )


class SavedViewRow(Base):
    """A search that staff look at again; `agent_id` is whose it is, empty for everybody's."""

    __tablename__ = "saved_views"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    agent_id: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(64))
    filter: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "tenant_id", "agent_id"),)
