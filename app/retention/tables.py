"""How long what is kept."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class RetentionPeriod(Base):
    """For how many days a tenant keeps one kind of data, 0 being for ever; without a row as the settings say."""

    __tablename__ = "retention_periods"

    tenant_id: Mapped[str] = tenant_key()
    kind: Mapped[str] = mapped_column(String(32), primary_key=True)
    days: Mapped[int]
