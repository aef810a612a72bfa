"""The words of a company's own."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class VocabularyRow(Base):
    """An entry as it is, or was, from the version `since` until before the version `until`; None: it still is.

    An entry that changes ends, and another one begins: the terms of documents may be those of an earlier version, and
    to make them anew what changed since has to be known. `form`: all its words as they are looked for.
    """

    __tablename__ = "vocabulary_entries"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    term: Mapped[str] = mapped_column(String(64))
    others: Mapped[list[str]]
    both_ways: Mapped[bool]
    form: Mapped[str]
    since: Mapped[int]
    until: Mapped[int | None]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "until"),)
