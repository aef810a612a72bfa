"""The human desk: sessions, messages, transitions, staff, solutions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "desk_sessions",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.BigInteger(), nullable=False),
        sa.Column("agent_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("caller", sa.String(length=128), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.String(length=32), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("emotion", sa.Double(), nullable=False),
        sa.Column("skill", sa.String(length=64), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("ticket", sa.String(length=32), nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("assigned_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fresh_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("active_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["conversations.tenant_id", "conversations.session_id"],
            name="fk_desk_sessions_conversations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name="pk_desk_sessions"),
    )
    op.create_index("ix_desk_sessions_state", "desk_sessions", ["state"])
    op.create_index("ix_desk_sessions_tenant_id_state_agent_id", "desk_sessions", ["tenant_id", "state", "agent_id"])
    op.create_index("ix_desk_sessions_tenant_id_resolved_at", "desk_sessions", ["tenant_id", "resolved_at"])
    op.create_table(
        "desk_messages",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sender", sa.String(length=16), nullable=False),
        sa.Column("agent_id", sa.String(length=64), nullable=False),
        sa.Column("client_id", sa.String(length=64), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _of_session("desk_messages"),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "seq", name="pk_desk_messages"),
        sa.UniqueConstraint(
            "tenant_id",
            "session_id",
            "sender",
            "client_id",
            name="uq_desk_messages_tenant_id_session_id_sender_client_id",
        ),
    )
    op.create_table(
        "desk_events",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("event", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("target", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.String(length=16), nullable=False),
        sa.Column("agent_id", sa.String(length=64), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _of_session("desk_events"),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "version", name="pk_desk_events"),
    )
    op.create_table(
        "desk_staff",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("agent_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("skills", sa.JSON(), nullable=False),
        sa.Column("capacity", sa.BigInteger(), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "agent_id", name="pk_desk_staff"),
    )
    op.create_table(
        "desk_solutions",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("question_hash", sa.String(length=64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_desk_solutions"),
        sa.UniqueConstraint(
            "tenant_id", "session_id", "question_hash", name="uq_desk_solutions_tenant_id_session_id_question_hash"
        ),
    )
    op.create_index("ix_desk_solutions_tenant_id_created_at", "desk_solutions", ["tenant_id", "created_at"])


def _of_session(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", "session_id"],
        ["desk_sessions.tenant_id", "desk_sessions.session_id"],
        name=f"fk_{table}_desk_sessions",
        ondelete="CASCADE",
    )
