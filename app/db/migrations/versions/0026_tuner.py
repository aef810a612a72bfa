"""Parameters of tenants, experiments, reports of calibrations and sweeps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_table(
        "tuner_params",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("overrides", sa.JSON(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "version", name="pk_tuner_params"),
    )
    op.create_table(
        "tuner_experiments",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("unit", sa.String(length=16), nullable=False),
        sa.Column("share", sa.BigInteger(), nullable=False),
        sa.Column("needed", sa.BigInteger(), nullable=False),
        sa.Column("overrides", sa.JSON(), nullable=False),
        sa.Column("open", sa.String(length=8), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=False),
        sa.Column("adopted", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_tuner_experiments"),
        sa.UniqueConstraint("tenant_id", "open", name="uq_tuner_experiments_tenant_id_open"),
    )
    op.create_table(
        "tuner_experiment_turns",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("experiment_id", sa.String(length=32), nullable=False),
        sa.Column("arm", sa.String(length=16), nullable=False),
        sa.Column("unit", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "turn_id", name="pk_tuner_experiment_turns"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "turn_id"],
            ["turns.tenant_id", "turns.id"],
            name="fk_tuner_experiment_turns_turns",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "ix_tuner_experiment_turns_tenant_id_experiment_id", "tuner_experiment_turns", ["tenant_id", "experiment_id"]
    )
    op.create_table(
        "tuner_reports",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("questions", sa.JSON(), nullable=True),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("applied", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_tuner_reports"),
    )
