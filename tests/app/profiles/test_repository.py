from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.profile import TenantProfile
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.profiles.repository import FRESH_SECONDS, ProfileRepository

DEFAULT = TenantProfile(fallback_script="没有找到")
SHOP = TenantProfile(name="小云", avoid_topics=("政治", "竞品"), suggested_questions=("怎么退货",))


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite+aiosqlite:///{(tmp_path / 'yingda.sqlite3').as_posix()}")
    await upgrade_schema(database)
    yield database
    await database.close()


async def test_a_tenant_without_a_profile_has_the_default(database: Database) -> None:
    assert await ProfileRepository(database, DEFAULT).get("t") is DEFAULT


async def test_a_profile_comes_back_as_it_was_put_and_only_for_its_tenant(database: Database) -> None:
    await ProfileRepository(database, DEFAULT).put("t", SHOP)
    reopened = ProfileRepository(database, DEFAULT)
    assert await reopened.get("t") == SHOP
    assert (await reopened.get("t")).version == SHOP.version != DEFAULT.version
    assert await reopened.get("T") is DEFAULT


async def test_this_process_goes_by_a_new_profile_at_once_and_another_soon(database: Database) -> None:
    clock = Clock()
    here, there = ProfileRepository(database, DEFAULT, clock), ProfileRepository(database, DEFAULT, clock)
    assert await there.get("t") is DEFAULT
    await here.put("t", SHOP)
    assert await here.get("t") is SHOP
    assert await there.get("t") is DEFAULT
    clock.now += FRESH_SECONDS
    assert await there.get("t") == SHOP


async def test_a_profile_that_did_not_change_is_the_same_object(database: Database) -> None:
    clock = Clock()
    profiles = ProfileRepository(database, DEFAULT, clock)
    await profiles.put("t", SHOP)
    clock.now += FRESH_SECONDS
    assert await profiles.get("t") is SHOP


async def test_a_read_that_was_overtaken_does_not_bring_the_old_profile_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = ProfileRepository(database, DEFAULT)
    go_on = asyncio.Event()

    async def slow(_: str) -> TenantProfile:
        await go_on.wait()
        return DEFAULT

    monkeypatch.setattr(profiles, "_load_stored", slow)
    reading = asyncio.create_task(profiles.get("t"))
    await asyncio.sleep(0)
    await profiles.put("t", SHOP)
    go_on.set()
    assert await reading is SHOP
    assert await profiles.get("t") is SHOP


async def test_those_who_ask_at_one_moment_cost_one_read(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = ProfileRepository(database, DEFAULT)
    reads: list[str] = []
    stored = repository._load_stored

    async def counted(tenant: str) -> TenantProfile:
        reads.append(tenant)
        return await stored(tenant)

    monkeypatch.setattr(repository, "_load_stored", counted)
    profiles = await asyncio.gather(*(repository.get("t") for _ in range(20)))
    assert reads == ["t"]
    assert all(profile is profiles[0] for profile in profiles)
