"""Gaps: clusters of questions that were not answered, and what was done with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "gaps",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("checked", sa.BigInteger(), nullable=False),
        sa.Column("merged_into", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_gaps"),
    )
    op.create_index("ix_gaps_tenant_id_updated_at", "gaps", ["tenant_id", "updated_at"])
    op.create_table(
        "gap_items",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("reason", sa.String(length=16), nullable=False),
        sa.Column("session_id", sa.String(length=128), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("handoff", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("gap_id", sa.String(length=32), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_gap_items"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "turn_id"], ["turns.tenant_id", "turns.id"], name="fk_gap_items_turns", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "gap_id"], ["gaps.tenant_id", "gaps.id"], name="fk_gap_items_gaps", ondelete="CASCADE"
        ),
    )
    for column in ("gap_id", "turn_id", "session_id"):
        op.create_index(f"ix_gap_items_tenant_id_{column}", "gap_items", ["tenant_id", column])
    op.create_table(
        "gap_events",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("gap_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.String(length=64), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "gap_id", "number", name="pk_gap_events"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "gap_id"], ["gaps.tenant_id", "gaps.id"], name="fk_gap_events_gaps", ondelete="CASCADE"
        ),
    )
