"""Alembic's entry point: works on the connection that `app.db.migrate` opened."""

from __future__ import annotations

from alembic import context

from app.db.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
with context.begin_transaction():
    context.run_migrations()
