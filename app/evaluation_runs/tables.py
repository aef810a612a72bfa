"""Reports of evaluation runs, with what came of every turn."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


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
    place: Mapped[int]
    """Of its conversation in the set."""
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
