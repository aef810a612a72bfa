"""Who made a version and why, and what became of it: draft, review, scheduled, published, archived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_TEXTS = ("name", "author", "reason", "note", "decided_by")
_MOMENTS = ("publish_at", "decided_at", "archived_at")


def upgrade() -> None:
    op.add_column("documents", sa.Column("published", sa.Boolean(), server_default=sa.true(), nullable=False))
    op.add_column("ingestion_files", sa.Column("change", sa.JSON(), server_default="{}", nullable=False))
    for name in _TEXTS:
        op.add_column("document_versions", sa.Column(name, sa.Text(), server_default="", nullable=False))
    for name in _MOMENTS:
        op.add_column("document_versions", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("document_versions", sa.Column("columns", sa.JSON(), nullable=True))
    op.add_column("document_versions", sa.Column("labels", sa.JSON(), server_default="{}", nullable=False))
    op.add_column(
        "document_versions", sa.Column("state", sa.String(length=16), server_default="published", nullable=False)
    )
    op.create_index("ix_document_versions_state_publish_at", "document_versions", ["state", "publish_at"])
    _fill()


def _fill() -> None:
    """Old versions were replaced when the next one came; their files had the name that the document has."""
    own = "documents.tenant_id = document_versions.tenant_id AND documents.id = document_versions.document_id"
    op.execute(f"UPDATE document_versions SET name = (SELECT documents.name FROM documents WHERE {own})")
    later = (
        "SELECT min(later.created_at) FROM document_versions AS later "
        "WHERE later.tenant_id = document_versions.tenant_id "
        "AND later.document_id = document_versions.document_id AND later.number > document_versions.number"
    )
    current = f"SELECT 1 FROM documents WHERE {own} AND documents.version_id = document_versions.id"
    op.execute(f"UPDATE document_versions SET state = 'archived', archived_at = ({later}) WHERE NOT EXISTS ({current})")
