"""Keys end at a moment that was set, and get another secret while the one before still works."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.base import UtcDateTime

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("expires_at", UtcDateTime(), nullable=True))
    op.add_column("api_keys", sa.Column("previous_digest", sa.String(64), nullable=True))
    op.add_column("api_keys", sa.Column("previous_until", UtcDateTime(), nullable=True))
