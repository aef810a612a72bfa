"""Runs of background jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class JobRunRow(Base):
    """One run. `worker` has it until `leased_until`; `interruptions`: how often a process ended while it had it.

    Three columns keep runs apart that must not be two, on every database and for any number of replicas: `open` has
    what the run is about while it is queued or running, `busy` its kind while a process is at it, `scheduled` the time
    at which it was due.
    """

    __tablename__ = "job_runs"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    parameters: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(16))
    open: Mapped[str | None] = mapped_column(String(128))
    busy: Mapped[str | None] = mapped_column(String(64))
    scheduled: Mapped[datetime | None]
    done: Mapped[int]
    total: Mapped[int]
    result: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    worker: Mapped[str] = mapped_column(String(32))
    leased_until: Mapped[datetime | None]
    interruptions: Mapped[int]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("tenant_id", "open"),
        UniqueConstraint("tenant_id", "busy"),
        UniqueConstraint("tenant_id", "kind", "scheduled"),
        Index(None, "state", "created_at"),
        Index(None, "tenant_id", "finished_at"),
    )
