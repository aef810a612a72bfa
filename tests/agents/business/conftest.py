from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.sample.database import seed_database
from tests.agents.business.asking import SHOP, TODAY


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("business") / "shop.sqlite3"
    asyncio.run(seed_database(f"sqlite:///{path}", TODAY))
    return path


@pytest.fixture
async def database(seeded: Path) -> AsyncIterator[BusinessDatabase]:
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{seeded}", SHOP))
    yield database
    await database.close()
