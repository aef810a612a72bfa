"""Embeddings by content, where replicas share them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "embeddings",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("used_on", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_embeddings"),
    )
    op.create_index("ix_embeddings_used_on", "embeddings", ["used_on"])
