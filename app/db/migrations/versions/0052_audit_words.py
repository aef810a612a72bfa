"""The audit log keeps the name of what was acted on and which fields were sent; documents can be disabled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    op.add_column("audit_log", sa.Column("subject", sa.String(length=200), server_default="", nullable=False))
    op.add_column("audit_log", sa.Column("changed", sa.JSON(), server_default="[]", nullable=False))
    op.add_column("documents", sa.Column("disabled", sa.Boolean(), server_default=sa.false(), nullable=False))
