"""Labelled conversations that a tenant is measured with, and the reports on how they went."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKeyConstraint, Index, String, UniqueConstraint
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
    # Among those that came with it.
    place: Mapped[int]
    turns: Mapped[list[Any]] = mapped_column(JSON)
    # What the customer says first, to be searched.
    first: Mapped[str]
    # Of the turns.
    count: Mapped[int]
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


class EvaluationReportRow(Base):
    """A report; its id is that of the run of the job that makes it.

    `figures` are empty until it is finished. `circumstances`: what answered: models, the knowledge base's revision.
    """

    __tablename__ = "evaluation_reports"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    set_id: Mapped[str] = mapped_column(String(32))
    set_name: Mapped[str] = mapped_column(String(100))
    circumstances: Mapped[dict[str, Any]]
    figures: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "created_at"),)


class EvaluationResultRow(Base):
    """What came of one turn; `told` are the fields of `app.evaluation.results.TurnResult` that have no column."""

    __tablename__ = "evaluation_results"

    tenant_id: Mapped[str] = tenant_key()
    report_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    case: Mapped[str] = mapped_column(String(64), primary_key=True)
    turn: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # Of its conversation in the set.
    place: Mapped[int]
    say: Mapped[str]
    tag: Mapped[str] = mapped_column(String(64))
    verdict: Mapped[str] = mapped_column(String(16))
    told: Mapped[dict[str, Any]]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "report_id"],
            ["evaluation_reports.tenant_id", "evaluation_reports.id"],
            ondelete="CASCADE",
        ),
    )
