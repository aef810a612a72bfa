"""What the gate learnt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class CalibrationRow(Base):
    """What the gate learnt of one scorer on one knowledge base at one revision."""

    __tablename__ = "calibrations"

    tenant_id: Mapped[str] = tenant_key()
    scorer: Mapped[str] = mapped_column(String(128), primary_key=True)
    base: Mapped[str] = mapped_column(String(128), primary_key=True)
    revision: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    fitted_at: Mapped[datetime]
