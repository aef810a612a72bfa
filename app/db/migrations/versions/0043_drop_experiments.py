"""No more experiments on customers, nor runs that warm the cache; parameters that an experiment put in force stay."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.execute("UPDATE tuner_params SET action = 'put' WHERE action = 'experiment'")
    for table in ("tuner_experiment_turns", "tuner_experiments"):
        op.drop_table(table)
    op.execute("DELETE FROM job_runs WHERE kind = 'cache_warming'")


def downgrade() -> None:
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
