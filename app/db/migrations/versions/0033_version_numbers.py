"""Numbers of versions are given once: a page that shows a discarded draft cannot publish another one by its number."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column("documents", sa.Column("last_number", sa.BigInteger(), server_default="0", nullable=False))
    own = "v.tenant_id = documents.tenant_id AND v.document_id = documents.id"
    last = f"SELECT MAX(v.number) FROM document_versions v WHERE {own}"
    op.execute(f"UPDATE documents SET last_number = COALESCE(({last}), 0)")
