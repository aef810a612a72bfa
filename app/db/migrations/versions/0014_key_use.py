"""When keys were used last, and when they were changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    for name in ("changed_at", "last_used_at"):
        op.add_column("api_keys", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
