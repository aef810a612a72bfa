"""The desk over a migrated database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.db.engine import Database
from app.desk.human_desk import HumanDesk
from tests.app.desk.building import desk_over


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[HumanDesk]:
    built = desk_over(database)
    await built.feed.poll()
    yield built
