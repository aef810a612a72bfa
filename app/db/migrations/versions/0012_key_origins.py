"""Web pages that may use a key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("origins", sa.JSON(), server_default="[]", nullable=False))
