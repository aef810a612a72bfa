"""Pictures and files of conversations, and how far both sides have read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    for table in ("turns", "desk_messages"):
        op.add_column(table, sa.Column("attachments", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("channel_messages", sa.Column("media", sa.JSON(), nullable=False, server_default="{}"))
    for name in ("customer_seen", "staff_seen"):
        op.add_column("desk_sessions", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "attachments",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("sender", sa.String(16), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("media_type", sa.String(96), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("height", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_state", sa.String(8), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_attachments"),
    )
    op.create_index("ix_attachments_tenant_id_session_id", "attachments", ["tenant_id", "session_id"])
    op.create_index("ix_attachments_tenant_id_created_at", "attachments", ["tenant_id", "created_at"])
    op.create_table(
        "attachment_removals",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_attachment_removals"),
    )
    op.create_index("ix_attachment_removals_due_at", "attachment_removals", ["due_at"])
