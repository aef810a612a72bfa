"""How turns were answered, found by the turn or by its request."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("turns", sa.Column("trace_id", sa.String(length=64), server_default="", nullable=False))
    op.create_index("ix_turns_tenant_id_trace_id", "turns", ["tenant_id", "trace_id"])
    op.create_table(
        "turn_traces",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "turn_id"], ["turns.tenant_id", "turns.id"], name="fk_turn_traces_turns", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "turn_id", name="pk_turn_traces"),
    )
