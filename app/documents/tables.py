"""Jobs that take documents in: what was sent, where each file stands, and the originals until they are settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, tenant_key


class IngestionJob(Base):
    """One upload. `finished_at` is set by the commit that settles its last file."""

    __tablename__ = "ingestion_jobs"

    tenant_id: Mapped[str] = tenant_key()
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    files: Mapped[int]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "tenant_id", "created_at"), Index(None, "tenant_id", "finished_at"))


class IngestionFile(Base):
    """A file of a job. `worker` has it until `leased_until`; `due_at`: not to be begun before.

    `interruptions`: how often a process ended while it had the file; `retries`: how often a model was out of reach.
    `labels`, `columns`, `previous`, `notices` and `error` are those of the types of the same name, as JSON; the notices
    stand in `items`.
    """

    __tablename__ = "ingestion_files"

    tenant_id: Mapped[str] = tenant_key()
    job_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    path: Mapped[str]
    external_id: Mapped[str]
    labels: Mapped[dict[str, Any]]
    columns: Mapped[dict[str, Any] | None]
    size: Mapped[int]
    state: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str] = mapped_column(String(16))
    document_id: Mapped[str] = mapped_column(String(32))
    title: Mapped[str]
    chunks: Mapped[int]
    chunks_done: Mapped[int]
    revision: Mapped[int]
    same_as: Mapped[str | None]
    previous: Mapped[dict[str, Any] | None]
    notices: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    worker: Mapped[str] = mapped_column(String(32))
    leased_until: Mapped[datetime | None]
    due_at: Mapped[datetime]
    interruptions: Mapped[int]
    retries: Mapped[int]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "job_id"], ["ingestion_jobs.tenant_id", "ingestion_jobs.id"], ondelete="CASCADE"
        ),
        Index(None, "state", "due_at"),
    )


class IngestionOriginal(Base):
    """The bytes of a file that is not settled yet; written before its job, so that only whole jobs are accepted."""

    __tablename__ = "ingestion_originals"

    tenant_id: Mapped[str] = tenant_key()
    job_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    data: Mapped[bytes]
    created_at: Mapped[datetime]
