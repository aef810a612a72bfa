"""How long data is kept, and what a delivery is about."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
BATCH = 500


def upgrade() -> None:
    op.create_table(
        "retention_periods",
        sa.Column("tenant_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("days", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "kind", name="pk_retention_periods"),
    )
    op.add_column("webhook_deliveries", sa.Column("about", sa.String(length=160), server_default="", nullable=False))
    _say_what_deliveries_are_about()
    op.create_index("ix_webhook_deliveries_tenant_id_about", "webhook_deliveries", ["tenant_id", "about"])


def _say_what_deliveries_are_about() -> None:
    table = sa.table("webhook_deliveries", *(sa.column(name) for name in ("tenant_id", "id", "body", "about")))
    connection, key = op.get_bind(), (table.c.tenant_id, table.c.id)
    query = sa.select(*key, table.c.body).order_by(*key).limit(BATCH)
    rows = connection.execute(query).all()
    while rows:
        for row in rows:
            told = json.loads(row.body).get("data", {})
            about = f"session:{told['session_id']}" if told.get("session_id") else ""
            about = about or (f"gap:{told['gap_id']}" if told.get("gap_id") else "")
            mine = (table.c.tenant_id == row.tenant_id) & (table.c.id == row.id)
            connection.execute(sa.update(table).where(mine).values(about=about))
        last = rows[-1].tenant_id, rows[-1].id
        rows = connection.execute(query.where(sa.tuple_(*key) > sa.tuple_(*map(sa.literal, last)))).all()
