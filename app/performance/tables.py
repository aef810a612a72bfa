"""What is counted."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class UsageCounter(Base):
    """How often something happened on a day (UTC), for example `outcome:answered` or `llm:prompt_tokens`."""

    __tablename__ = "usage_counters"

    tenant_id: Mapped[str] = tenant_key()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[int]
