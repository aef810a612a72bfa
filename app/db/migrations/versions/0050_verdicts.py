"""A model's verdicts that a gate is calibrated by, and how many of a model's replies could not be read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.create_table(
        "calibration_verdicts",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("report_id", sa.String(length=32), nullable=False),
        sa.Column("questions", sa.JSON(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_calibration_verdicts"),
    )
    op.create_table(
        "unreadable_replies",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("replies", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "day", "provider", "model", name="pk_unreadable_replies"),
    )
