"""Which product a document is about, in which version; and the documents that a key is bound to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    for name in ("product", "product_version"):
        op.add_column("documents", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_documents_tenant_id_product_version", "documents", ["tenant_id", "product_version"])
    op.add_column("api_keys", sa.Column("filter", sa.JSON(), nullable=False, server_default="{}"))
