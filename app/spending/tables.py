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


class UnreadableReplies(Base):
    """Replies of a shape that a tenant asked a model for on a day (UTC) and could not read. provider: see
    `agents.llm.profiles`.
    """

    __tablename__ = "unreadable_replies"

    tenant_id: Mapped[str] = tenant_key()
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    provider: Mapped[str] = mapped_column(String(64), primary_key=True)
    model: Mapped[str] = mapped_column(String(200), primary_key=True)
    replies: Mapped[int]
