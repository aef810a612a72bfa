"""Knowledge base, calibrations and conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "calibrations",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("scorer", sa.String(length=128), nullable=False),
        sa.Column("base", sa.String(length=128), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "scorer", "base", name="pk_calibrations"),
    )
    op.create_table(
        "contents",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "content_hash", name="pk_contents"),
    )
    op.create_table(
        "conversations",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("channel", sa.String(length=32), nullable=False),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name="pk_conversations"),
    )
    op.create_table(
        "documents",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("version_id", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_documents"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_documents_tenant_id_name"),
    )
    op.create_index("ix_documents_tenant_id_category", "documents", ["tenant_id", "category"])
    op.create_index("ix_documents_tenant_id_content_hash", "documents", ["tenant_id", "content_hash"])
    op.create_table(
        "kb_state",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("indexed_revision", sa.BigInteger(), nullable=False),
        sa.Column("text_version", sa.String(length=32), nullable=False),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_kb_state"),
    )
    op.create_table(
        "terms",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("term", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_terms"),
        sa.UniqueConstraint("tenant_id", "term", name="uq_terms_tenant_id_term"),
    )
    op.create_table(
        "document_versions",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "content_hash"],
            ["contents.tenant_id", "contents.content_hash"],
            name="fk_document_versions_contents",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "document_id"],
            ["documents.tenant_id", "documents.id"],
            name="fk_document_versions_documents",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_document_versions"),
        sa.UniqueConstraint(
            "tenant_id", "document_id", "number", name="uq_document_versions_tenant_id_document_id_number"
        ),
    )
    op.create_index("ix_document_versions_tenant_id_content_hash", "document_versions", ["tenant_id", "content_hash"])
    op.create_table(
        "turns",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("standalone", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("response", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["conversations.tenant_id", "conversations.session_id"],
            name="fk_turns_conversations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_turns"),
        sa.UniqueConstraint("tenant_id", "session_id", "number", name="uq_turns_tenant_id_session_id_number"),
    )
    op.create_table(
        "chunks",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("version_id", sa.String(length=32), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("heading_path", sa.JSON(), nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("entry", sa.String(length=64), nullable=False),
        sa.Column("terms", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "version_id"],
            ["document_versions.tenant_id", "document_versions.id"],
            name="fk_chunks_document_versions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_chunks"),
    )
    op.create_index("ix_chunks_tenant_id_document_id", "chunks", ["tenant_id", "document_id"])
    op.create_index("ix_chunks_tenant_id_version_id", "chunks", ["tenant_id", "version_id"])
