"""What was measured, by minute and hour."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "metric_points",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("step", sa.String(length=8), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "step", "at", "name", name="pk_metric_points"),
    )
    op.create_index("ix_metric_points_step_at", "metric_points", ["step", "at"])
