"""The day that a document gives as its own; documents that were read before show the day on which they were put in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    op.add_column("documents", sa.Column("dated", sa.Text(), nullable=False, server_default=""))
