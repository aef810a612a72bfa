"""Labelled questions and conversations that a tenant is measured with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKeyConstraint, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class EvaluationSetRow(Base):
    """A set, called by its name."""

    __tablename__ = "evaluation_sets"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (UniqueConstraint("tenant_id", "name"),)


class EvaluationCaseRow(Base):
    """One conversation of a set; a question is one of a single turn.

    `key` names it within its set, whatever becomes of its row: by it two reports are compared. `turns` are as
    `app.evaluation.dialogues` writes them. `origin`, `origin_id`: what it was made of, such as a gap.
    """

    __tablename__ = "evaluation_cases"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    set_id: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(String(64))
    place: Mapped[int]
    """Among those that came with it."""
    turns: Mapped[list[Any]] = mapped_column(JSON)
    first: Mapped[str]
    """What the customer says first, to be searched."""
    count: Mapped[int]
    """Of the turns."""
    user_id: Mapped[str] = mapped_column(String(128))
    origin: Mapped[str] = mapped_column(String(16))
    origin_id: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("tenant_id", "set_id", "key"),
        ForeignKeyConstraint(
            ["tenant_id", "set_id"], ["evaluation_sets.tenant_id", "evaluation_sets.id"], ondelete="CASCADE"
        ),
    )
