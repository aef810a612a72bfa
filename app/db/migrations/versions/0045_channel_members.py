"""Who users of platforms are in the company's own system."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.add_column("channel_sessions", sa.Column("customer", sa.String(64), server_default="", nullable=False))
    op.create_table(
        "channel_members",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("customer", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "account", "customer", name="pk_channel_members"),
    )
    op.create_index(
        "ix_channel_members_tenant_id_account_user_id", "channel_members", ["tenant_id", "account", "user_id"]
    )
