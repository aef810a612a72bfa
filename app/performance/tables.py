"""What is counted."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class UsageCounter(Base):
    """How often something happened on a day (UTC), for example `outcome:answered` or `llm:prompt_tokens`."""

    __tablename__ = "usage_counters"

    tenant_id: Mapped[str] = tenant_key()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[int]


class MetricPoint(Base):
    """A counter of one minute or hour (`step`) that begins `at`, for example `outcome:answered`; see `flat`."""

    __tablename__ = "metric_points"

    tenant_id: Mapped[str] = tenant_key()
    step: Mapped[str] = mapped_column(String(8), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[int]

    __table_args__ = (Index(None, "step", "at"),)
