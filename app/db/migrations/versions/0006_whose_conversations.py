"""Whose conversations are: their member, the digest of their secret, and which turns hold whose rows.

Conversations from before have neither member nor secret, so they stay closed to `client` keys.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("caller", sa.String(length=128), nullable=False, server_default=""))
    op.add_column("conversations", sa.Column("token", sa.String(length=64), nullable=False, server_default=""))
    op.add_column("conversations", sa.Column("token_expires", sa.DateTime(timezone=True), nullable=True))
    op.add_column("turns", sa.Column("rows_of", sa.String(length=128), nullable=False, server_default=""))
    op.add_column("tickets", sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.false()))
    # Whose rows a turn from before holds is not known: a space is no member's number.
    op.execute("UPDATE turns SET rows_of = ' ' WHERE CAST(response AS TEXT) LIKE '%\"index\":\"SQL\"%'")
    op.execute("UPDATE desk_sessions SET user_id = caller WHERE caller <> ''")
    # What a conversation opened names the member who was proved; what staff opened is what they typed.
    opened = "SELECT 1 FROM ticket_events e WHERE e.tenant_id = tickets.tenant_id AND e.ticket = tickets.number"
    op.execute(
        f"UPDATE tickets SET verified = true WHERE user_id <> '' AND EXISTS ({opened} AND e.kind = 'created'"
        " AND e.actor IN ('bot', 'system'))"
    )
