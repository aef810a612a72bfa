"""What language models cost."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class ModelSpending(Base):
    """What a tenant used of a model on a day (UTC). cost: in millionths of the unit of LLM_PRICES."""

    __tablename__ = "model_spending"

    tenant_id: Mapped[str] = tenant_key()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    model: Mapped[str] = mapped_column(String(200), primary_key=True)
    calls: Mapped[int]
    prompt_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    cost: Mapped[int]
