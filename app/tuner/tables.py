"""Parameters of tenants with all that they were, experiments, and reports on what would be better."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKeyConstraint, Index, String, UniqueConstraint
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


class TunerExperiment(Base):
    """`open` is "yes" while it runs, so that a tenant has one at most. `result`: as it was when it ended."""

    __tablename__ = "tuner_experiments"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str]
    unit: Mapped[str] = mapped_column(String(16))
    share: Mapped[int]
    needed: Mapped[int]
    overrides: Mapped[dict[str, Any]]
    open: Mapped[str | None] = mapped_column(String(8))
    result: Mapped[dict[str, Any] | None]
    by: Mapped[str]
    ended_by: Mapped[str]
    adopted: Mapped[int | None]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("tenant_id", "open"),)


class TunerExperimentTurn(Base):
    """Which arm answered a turn, and for whom; it goes with its turn. `unit`: a digest of the customer or session."""

    __tablename__ = "tuner_experiment_turns"

    tenant_id: Mapped[str] = tenant_key()
    turn_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    experiment_id: Mapped[str] = mapped_column(String(32))
    arm: Mapped[str] = mapped_column(String(16))
    unit: Mapped[str] = mapped_column(String(32))

    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "turn_id"], ["turns.tenant_id", "turns.id"], ondelete="CASCADE"),
        Index(None, "tenant_id", "experiment_id"),
    )


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
