"""Feedback on replies, and conversations by their last activity."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("rating", sa.String(length=8), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "turn_id"], ["turns.tenant_id", "turns.id"], name="fk_feedback_turns", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "turn_id", name="pk_feedback"),
    )
    op.create_index("ix_conversations_tenant_id_updated_at", "conversations", ["tenant_id", "updated_at"])
