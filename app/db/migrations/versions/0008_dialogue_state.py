"""What a conversation is about, kept with its turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("turns", sa.Column("state", sa.JSON(), server_default="{}", nullable=False))
