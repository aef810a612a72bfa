"""Keys narrowed to parts of the interface."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("scopes", sa.JSON(), server_default="[]", nullable=False))
