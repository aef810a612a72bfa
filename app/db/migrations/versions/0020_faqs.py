"""Curated answers, and documents that are made of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("documents", sa.Column("kind", sa.String(length=16), server_default="file", nullable=False))
    op.create_table(
        "faqs",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("variants", sa.JSON(), nullable=False),
        sa.Column("buttons", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("hits", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_faqs"),
    )
    op.create_index("ix_faqs_tenant_id_updated_at", "faqs", ["tenant_id", "updated_at"])
    op.create_table(
        "faq_wordings",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("wording", sa.String(length=64), nullable=False),
        sa.Column("faq_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "faq_id"],
            ["faqs.tenant_id", "faqs.id"],
            name="fk_faq_wordings_faqs",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "wording", name="pk_faq_wordings"),
    )
    op.create_index("ix_faq_wordings_tenant_id_faq_id", "faq_wordings", ["tenant_id", "faq_id"])
