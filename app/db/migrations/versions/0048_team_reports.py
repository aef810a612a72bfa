"""What reports of a team count: stays at the desk, ratings of them, and turns by their time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"

_ACTIVE = """
INSERT INTO desk_handlings (tenant_id, session_id, number, channel, reason, priority, skill, agent_id, team, queued_at,
                            clock_at, accepted_at, ending)
SELECT tenant_id, session_id, version, channel, reason, priority, skill, agent_id, team, queued_at,
       CASE WHEN state = 'out_of_hours' THEN NULL ELSE queued_at END, assigned_at, ''
FROM desk_sessions
WHERE state IN ('queued', 'out_of_hours', 'assigned') AND queued_at IS NOT NULL
"""
"""Stays that go on while the database is upgraded."""


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "desk_handlings",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("channel", sa.String(32), nullable=False),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("skill", sa.String(64), nullable=False),
        sa.Column("agent_id", sa.String(64), nullable=False),
        sa.Column("team", sa.String(32), nullable=False),
        _moment("queued_at"),
        _moment("clock_at", nullable=True),
        _moment("accepted_at", nullable=True),
        _moment("responded_at", nullable=True),
        _moment("ended_at", nullable=True),
        sa.Column("ending", sa.String(16), nullable=False),
        sa.Column("response_s", sa.Double(), nullable=True),
        sa.Column("resolution_s", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "number", name="pk_desk_handlings"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["desk_sessions.tenant_id", "desk_sessions.session_id"],
            name="fk_desk_handlings_desk_sessions",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_desk_handlings_tenant_id_queued_at", "desk_handlings", ["tenant_id", "queued_at"])
    op.create_table(
        "desk_ratings",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("agent_id", sa.String(64), nullable=False),
        sa.Column("team", sa.String(32), nullable=False),
        sa.Column("score", sa.BigInteger(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "number", name="pk_desk_ratings"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "number"],
            ["desk_handlings.tenant_id", "desk_handlings.session_id", "desk_handlings.number"],
            name="fk_desk_ratings_desk_handlings",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_desk_ratings_tenant_id_created_at", "desk_ratings", ["tenant_id", "created_at"])
    op.create_index("ix_turns_tenant_id_created_at", "turns", ["tenant_id", "created_at"])
    op.execute(_ACTIVE)
