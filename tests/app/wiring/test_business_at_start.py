from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from app.settings import Settings
from app.wiring.business import open_business
from scripts import seed_business


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    told: list[str] = []
    sink = logger.add(lambda message: told.append(str(message)), level="WARNING", format="{message}")
    yield told
    logger.remove(sink)


async def started(path: Path, told: list[str]) -> list[str]:
    settings = Settings(business_database_url=f"sqlite:///{path}")
    async with open_business(settings, None):
        for _ in range(600):
            if told:
                break
            await asyncio.sleep(0.001)
    return told


async def test_a_business_database_that_is_not_there_is_told_at_the_start(tmp_path: Path, warnings: list[str]) -> None:
    told = await started(tmp_path / "nowhere.sqlite3", warnings)
    assert any(str(tmp_path / "nowhere.sqlite3") in line and "doctor.py" in line for line in told)


async def test_one_that_is_there_is_not_spoken_of(tmp_path: Path, warnings: list[str]) -> None:
    path = tmp_path / "shop.sqlite3"
    assert await asyncio.to_thread(seed_business.main, ["--url", f"sqlite:///{path}"]) == 0
    assert await started(path, warnings) == []
