"""Conversations on platforms: which session they are, what came in, what is to go out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "channel_sessions",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("peer", sa.String(64), nullable=False),
        sa.Column("address", sa.JSON(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name="pk_channel_sessions"),
        sa.UniqueConstraint("tenant_id", "account", "peer", name="uq_channel_sessions_tenant_id_account_peer"),
    )
    op.create_table(
        "channel_messages",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        _moment("awaited_until", nullable=True),
        _moment("sent_at"),
        _moment("due_at"),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "account", "id", name="pk_channel_messages"),
    )
    op.create_index("ix_channel_messages_status_due_at", "channel_messages", ["status", "due_at"])
    op.create_index("ix_channel_messages_tenant_id_session_id", "channel_messages", ["tenant_id", "session_id"])
    op.create_table(
        "channel_replies",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("message", sa.String(64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        _moment("due_at"),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_channel_replies"),
    )
    op.create_index("ix_channel_replies_status_due_at", "channel_replies", ["status", "due_at"])
    op.create_index("ix_channel_replies_tenant_id_session_id", "channel_replies", ["tenant_id", "session_id"])
    op.create_index(
        "ix_channel_replies_tenant_id_account_message", "channel_replies", ["tenant_id", "account", "message"]
    )
    op.create_table(
        "channel_cursors",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("cursor", sa.Text(), nullable=False),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "account", name="pk_channel_cursors"),
    )
