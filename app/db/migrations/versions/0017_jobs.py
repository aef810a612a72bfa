"""Runs of background jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "job_runs",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("open", sa.String(length=128), nullable=True),
        sa.Column("busy", sa.String(length=64), nullable=True),
        sa.Column("scheduled", sa.DateTime(timezone=True), nullable=True),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("worker", sa.String(length=32), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("interruptions", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_job_runs"),
        sa.UniqueConstraint("tenant_id", "open", name="uq_job_runs_tenant_id_open"),
        sa.UniqueConstraint("tenant_id", "busy", name="uq_job_runs_tenant_id_busy"),
        sa.UniqueConstraint("tenant_id", "kind", "scheduled", name="uq_job_runs_tenant_id_kind_scheduled"),
    )
    op.create_index("ix_job_runs_state_created_at", "job_runs", ["state", "created_at"])
    op.create_index("ix_job_runs_tenant_id_finished_at", "job_runs", ["tenant_id", "finished_at"])
