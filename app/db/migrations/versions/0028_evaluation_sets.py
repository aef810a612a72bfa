"""Labelled questions and conversations that a tenant is measured with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "evaluation_sets",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_evaluation_sets"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_evaluation_sets_tenant_id_name"),
    )
    op.create_table(
        "evaluation_cases",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("turns", sa.JSON(), nullable=False),
        sa.Column("first", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("origin_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_evaluation_cases"),
        sa.UniqueConstraint("tenant_id", "set_id", "key", name="uq_evaluation_cases_tenant_id_set_id_key"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "set_id"],
            ["evaluation_sets.tenant_id", "evaluation_sets.id"],
            name="fk_evaluation_cases_evaluation_sets",
            ondelete="CASCADE",
        ),
    )
