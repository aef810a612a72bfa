"""Parameters of tenants with all that they were, and reports on what would be better."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class TunerParams(Base):
    """One version; the highest is in force. `changes`: by name, the values before and after."""

    __tablename__ = "tuner_params"

    tenant_id: Mapped[str] = tenant_key()
    version: Mapped[int] = mapped_column(primary_key=True)
    action: Mapped[str] = mapped_column(String(16))
    overrides: Mapped[dict[str, Any]]
    changes: Mapped[dict[str, Any]]
    by: Mapped[str]
    note: Mapped[str]
    created_at: Mapped[datetime]


class TunerReport(Base):
    """A calibration or a sweep. `questions`: those that it is made from, until it is made. `run_id`: the job."""

    __tablename__ = "tuner_reports"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    title: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    questions: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    run_id: Mapped[str] = mapped_column(String(32))
    result: Mapped[dict[str, Any] | None]
    by: Mapped[str]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    applied: Mapped[int | None]
