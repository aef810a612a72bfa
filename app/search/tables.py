"""What the gate learnt, and from what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class CalibrationRow(Base):
    """What the gate learnt of one scorer on one knowledge base at one revision."""

    __tablename__ = "calibrations"

    tenant_id: Mapped[str] = tenant_key()
    scorer: Mapped[str] = mapped_column(String(128), primary_key=True)
    base: Mapped[str] = mapped_column(String(128), primary_key=True)
    revision: Mapped[int]
    parameters: Mapped[dict[str, Any]]
    fitted_at: Mapped[datetime]


class CalibrationVerdicts(Base):
    """Questions with what a model judged of them, by which a tenant's gate is calibrated: those in force.

    questions: `{"text", "answerable"}`; report_id: of the report that they were made for.
    """

    __tablename__ = "calibration_verdicts"

    tenant_id: Mapped[str] = tenant_key()
    report_id: Mapped[str] = mapped_column(String(32))
    questions: Mapped[list[Any]] = mapped_column(JSON)
    by: Mapped[str]
    created_at: Mapped[datetime]
