"""A migrated database in a folder of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.db.engine import Database
from app.db.migrate import upgrade


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite+aiosqlite:///{(tmp_path / 'test.sqlite3').as_posix()}")
    await upgrade(database)
    yield database
    await database.close()
