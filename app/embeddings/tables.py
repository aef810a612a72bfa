"""Vectors by content."""

from __future__ import annotations

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class Embedding(Base):
    """A vector by content, float32 in little-endian order. `used_on`: the ordinal of a day, to the week."""

    __tablename__ = "embeddings"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    vector: Mapped[bytes]
    used_on: Mapped[int]

    __table_args__ = (Index(None, "used_on"),)
