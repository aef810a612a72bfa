"""Of which blocks the text of a chunk is made; nothing for those that were read before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.add_column("chunks", sa.Column("layout", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("chunks", "layout")
