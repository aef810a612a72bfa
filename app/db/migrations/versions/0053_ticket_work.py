"""Who opened a ticket, and the team that it is given to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"

_ORIGINS = {"bot": "conversation", "system": "desk"}
"""Of tickets that are there, by who stands first in their history; all others are of staff."""


def upgrade() -> None:
    op.add_column("tickets", sa.Column("origin", sa.String(16), nullable=False, server_default="staff"))
    op.add_column("tickets", sa.Column("team", sa.String(32), nullable=False, server_default=""))
    ticket = sa.table("tickets", *map(sa.column, ("tenant_id", "number", "origin")))
    event = sa.table("ticket_events", *map(sa.column, ("tenant_id", "ticket", "number", "actor")))
    own = (event.c.tenant_id == ticket.c.tenant_id) & (event.c.ticket == ticket.c.number) & (event.c.number == 1)
    for actor, origin in _ORIGINS.items():
        opened = sa.exists().where(own, event.c.actor == actor)
        op.execute(ticket.update().where(opened).values(origin=origin))
