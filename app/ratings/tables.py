"""What customers think of having been served by a person."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, delete_with, tenant_key


class RatingRow(Base):
    """One a stay at the desk, from 1 to 5. It goes with its conversation."""

    __tablename__ = "desk_ratings"

    tenant_id: Mapped[str] = tenant_key()
    session_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    agent_id: Mapped[str] = mapped_column(String(64))
    team: Mapped[str] = mapped_column(String(32))
    score: Mapped[int]
    comment: Mapped[str]
    created_at: Mapped[datetime]

    __table_args__ = (
        delete_with("desk_handlings", session_id="session_id", number="number"),
        Index(None, "tenant_id", "created_at"),
    )
