"""Answers to gaps as they are drafted, and how a tenant reviews them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.create_table(
        "gap_drafts",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("gap_id", sa.String(length=32), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("variants", sa.JSON(), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("author", sa.String(length=64), nullable=False),
        sa.Column("approver", sa.String(length=64), nullable=False),
        sa.Column("faq_id", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "gap_id", name="pk_gap_drafts"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "gap_id"], ["gaps.tenant_id", "gaps.id"], name="fk_gap_drafts_gaps", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "gap_policies",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("two_persons", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_gap_policies"),
    )
