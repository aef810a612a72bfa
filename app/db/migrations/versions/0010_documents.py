"""Documents are known by path or external id and may be valid for a while; taking them in is a job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    # The column keeps its unique constraint. To build the table anew on SQLite would delete what refers to it.
    op.alter_column("documents", "name", new_column_name="identity", existing_type=sa.Text(), existing_nullable=False)
    for name in ("name", "path", "external_id", "url"):
        op.add_column("documents", sa.Column(name, sa.Text(), server_default="", nullable=False))
    for name in ("valid_from", "valid_until"):
        op.add_column("documents", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("documents", sa.Column("live", sa.Boolean(), server_default=sa.true(), nullable=False))
    documents = sa.table("documents", *(sa.column(name) for name in ("identity", "name", "path")))
    op.execute(sa.update(documents).values(name=documents.c.identity, path=documents.c.identity))
    op.create_table(
        "ingestion_jobs",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("files", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_ingestion_jobs"),
    )
    op.create_index("ix_ingestion_jobs_tenant_id_created_at", "ingestion_jobs", ["tenant_id", "created_at"])
    op.create_index("ix_ingestion_jobs_tenant_id_finished_at", "ingestion_jobs", ["tenant_id", "finished_at"])
    _create_files()
    op.create_table(
        "ingestion_originals",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "job_id", "number", name="pk_ingestion_originals"),
    )


def _create_files() -> None:
    op.create_table(
        "ingestion_files",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("chunks", "chunks_done", "revision")),
        sa.Column("same_as", sa.Text(), nullable=True),
        *(sa.Column(name, sa.JSON(), nullable=True) for name in ("previous", "notices", "error")),
        sa.Column("worker", sa.String(length=32), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("interruptions", "retries")),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=True) for name in ("started_at", "finished_at")),
        sa.PrimaryKeyConstraint("tenant_id", "job_id", "number", name="pk_ingestion_files"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "job_id"],
            ["ingestion_jobs.tenant_id", "ingestion_jobs.id"],
            name="fk_ingestion_files_ingestion_jobs",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_ingestion_files_state_due_at", "ingestion_files", ["state", "due_at"])
