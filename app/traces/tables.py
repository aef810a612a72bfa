"""How answers came about."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class StoredTrace(Base):
    """What the response of a turn does not tell; `body` is JSON, compressed. It goes with its turn."""

    __tablename__ = "turn_traces"

    tenant_id: Mapped[str] = tenant_key()
    turn_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    body: Mapped[bytes]

    __table_args__ = (delete_with("turns", turn_id="id"),)
