"""What administrators did, in a table of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.base import UtcDateTime

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "audit_log",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor_id", sa.String(32), nullable=False),
        sa.Column("actor", sa.String(128), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("target", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=True),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_audit_log")),
    )
