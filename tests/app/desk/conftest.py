"""The desk over a migrated database: every test that uses it runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.db.engine import Database
from app.desk.assembly import HumanDesk
from tests.app.db.conftest import database, postgresql, sqlite, template, url
from tests.app.desk.building import desk_over

__all__ = ["database", "postgresql", "sqlite", "template", "url"]


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[HumanDesk]:
    built = desk_over(database)
    await built.feed.poll()
    yield built
