"""Which process has a message, a reply or a delivery: by that its lease is renewed, and it is short."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"

_TABLES = ("channel_messages", "channel_replies", "webhook_deliveries")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("worker", sa.String(32), nullable=False, server_default=""))
