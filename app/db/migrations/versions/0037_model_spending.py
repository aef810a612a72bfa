"""What language models cost each tenant on each day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "model_spending",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "day", "model", name="pk_model_spending"),
    )
