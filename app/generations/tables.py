"""Which index answers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class GenerationRow(Base):
    """Of a tenant whose knowledge base was indexed anew: those without a row have their first index, which is of
    EMBEDDER. Every process builds its own index of the embedder that stands here.
    """

    __tablename__ = "index_generations"

    tenant_id: Mapped[str] = tenant_key()
    number: Mapped[int]
    embedder: Mapped[str] = mapped_column(String(32))
    since: Mapped[datetime]
