"""What the last quality check of a knowledge base looked at, and when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    op.create_table(
        "quality_checks",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("passages", sa.BigInteger(), nullable=False),
        sa.Column("answers", sa.BigInteger(), nullable=False),
        sa.Column("searches", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_quality_checks"),
    )
