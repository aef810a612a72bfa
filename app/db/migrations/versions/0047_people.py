"""Colleagues with accounts of their own, sign-ins that the server can end, and teams."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("login", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("password", sa.String(256), nullable=True),
        sa.Column("subject", sa.String(128), nullable=True),
        sa.Column("invitation", sa.String(64), nullable=True),
        _moment("invited_until", nullable=True),
        _moment("created_at"),
        _moment("disabled_at", nullable=True),
        _moment("signed_in_at", nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_people"),
        sa.UniqueConstraint("tenant_id", "login", name="uq_people_tenant_id_login"),
        sa.UniqueConstraint("tenant_id", "subject", name="uq_people_tenant_id_subject"),
        sa.UniqueConstraint("invitation", name="uq_people_invitation"),
    )
    op.create_table(
        "sign_ins",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=True),
        sa.Column("key_digest", sa.String(64), nullable=True),
        _moment("created_at"),
        _moment("seen_at"),
        _moment("expires_at"),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="pk_sign_ins"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "person_id"], ["people.tenant_id", "people.id"], name="fk_sign_ins_people", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("digest", name="uq_sign_ins_digest"),
    )
    op.create_index("ix_sign_ins_tenant_id_person_id", "sign_ins", ["tenant_id", "person_id"])
    op.create_table(
        "desk_teams",
        sa.Column("tenant_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        _moment("created_at"),
        sa.PrimaryKeyConstraint("tenant_id", "id", name="pk_desk_teams"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_desk_teams_tenant_id_name"),
    )
    op.add_column("desk_staff", sa.Column("teams", sa.JSON(), server_default="[]", nullable=False))
    op.add_column("desk_staff", sa.Column("hours", sa.JSON(), server_default="[]", nullable=False))
    op.add_column("desk_sessions", sa.Column("team", sa.String(32), server_default="", nullable=False))
