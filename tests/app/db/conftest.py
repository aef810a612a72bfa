"""A migrated database of the test's own: every test here runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.db.engine import Database
from app.db.migrate import upgrade
from tests.services import postgres_database


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The address of an empty database."""
    if request.param == "postgresql":
        async with postgres_database() as address:
            yield address
    else:
        yield f"sqlite+aiosqlite:///{(tmp_path / 'new' / 'test.sqlite3').as_posix()}"


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await upgrade(database)
    yield database
    await database.close()
