"""Reports of evaluation runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "evaluation_reports",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("set_id", sa.String(length=32), nullable=False),
        sa.Column("set_name", sa.String(length=100), nullable=False),
        sa.Column("circumstances", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_evaluation_reports"),
    )
    op.create_index("ix_evaluation_reports_tenant_id_created_at", "evaluation_reports", ["tenant_id", "created_at"])
    op.create_table(
        "evaluation_results",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("report_id", sa.String(length=32), nullable=False),
        sa.Column("case", sa.String(length=64), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("say", sa.Text(), nullable=False),
        sa.Column("tag", sa.String(length=64), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "report_id", "case", "turn", name="pk_evaluation_results"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "report_id"],
            ["evaluation_reports.tenant_id", "evaluation_reports.id"],
            name="fk_evaluation_results_evaluation_reports",
            ondelete="CASCADE",
        ),
    )
