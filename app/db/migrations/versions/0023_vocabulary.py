"""Words of a tenant's own, and which of them made the terms of a document."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "vocabulary_entries",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("term", sa.String(length=64), nullable=False),
        sa.Column("others", sa.JSON(), nullable=False),
        sa.Column("both_ways", sa.Boolean(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_vocabulary_entries"),
    )
    op.create_index("ix_vocabulary_entries_tenant_id_until", "vocabulary_entries", ["tenant_id", "until"])
    op.add_column("documents", sa.Column("text_version", sa.String(length=32), nullable=False, server_default=""))
    op.add_column("documents", sa.Column("vocabulary", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("kb_state", sa.Column("vocabulary", sa.BigInteger(), nullable=False, server_default="0"))
    state = "SELECT text_version FROM kb_state WHERE kb_state.tenant_id = documents.tenant_id"
    op.execute(f"UPDATE documents SET text_version = COALESCE(({state}), '')")
    op.drop_column("kb_state", "text_version")
