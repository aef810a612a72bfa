from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.auth.principal import LOOPBACK, Principal, Role, check_tenant_id
from app.db.base import now
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.errors import Unauthorized
from app.keys.repository import KeyRepository, KeySnapshot, KeyStamp, has_valid_key
from app.keys.service import FRESH_SECONDS, KeyRing, create_key, hash_key
from app.keys.tables import ApiKey

HOME = "127.0.0.1"


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class CountingKeys(KeyRepository):
    """Counts how often SQL is asked."""

    reads = 0

    async def load_changed(self, since: KeyStamp | None) -> KeySnapshot | None:
        self.reads += 1
        return await super().load_changed(since)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{(tmp_path / 'yingda.sqlite3').as_posix()}"


@pytest.fixture
async def keys(url: str) -> AsyncIterator[CountingKeys]:
    database = Database(url)
    await upgrade_schema(database)
    yield CountingKeys(database)
    await database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def create(keys: KeyRepository, tenant: str = "acme", role: Role = Role.CLIENT) -> tuple[str, str]:
    """Key and id."""
    key = create_key()
    return key, await keys.create(tenant, role, "test", hash_key(key))


def contents(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_key_tells_tenant_and_role(keys: CountingKeys, clock: Clock) -> None:
    key, _ = await create(keys, "acme", Role.AGENT)
    assert await KeyRing(keys, clock=clock).authenticate(key, "8.8.8.8") == Principal("acme", frozenset({Role.AGENT}))


async def test_the_first_key_is_an_admin_of_the_default_tenant_and_is_not_stored(
    keys: CountingKeys, clock: Clock
) -> None:
    ring = KeyRing(keys, "first-secret", clock)
    assert await ring.authenticate("first-secret", HOME) == Principal("default", frozenset({Role.ADMIN}))
    assert await keys.list_all() == []


async def test_without_any_key_this_machine_may_do_everything_and_others_nothing(
    keys: CountingKeys, clock: Clock
) -> None:
    ring = KeyRing(keys, clock=clock)
    for key in (None, "whatever a client has to send"):
        assert await ring.authenticate(key, "::1") == LOOPBACK
    for host in ("192.168.1.5", None, "nonsense"):
        with pytest.raises(Unauthorized):
            await ring.authenticate(None, host)


@pytest.mark.parametrize("key", ["", "wrong", "密钥\udcff", "FIRST-SECRET", "first-secret "])
async def test_a_wrong_key_is_refused(keys: CountingKeys, clock: Clock, key: str) -> None:
    with pytest.raises(Unauthorized):
        await KeyRing(keys, "first-secret", clock).authenticate(key, HOME)


async def test_once_there_is_a_key_this_machine_needs_one_too(keys: CountingKeys, clock: Clock) -> None:
    with pytest.raises(Unauthorized):
        await KeyRing(keys, "first-secret", clock).authenticate(None, HOME)
    ring = KeyRing(keys, clock=clock)
    assert await ring.authenticate(None, HOME) == LOOPBACK
    await create(keys)
    clock.now += FRESH_SECONDS
    with pytest.raises(Unauthorized):
        await ring.authenticate(None, HOME)


async def test_a_revoked_key_ends_and_taking_the_last_one_back_does_not_open_the_door(
    keys: CountingKeys, clock: Clock
) -> None:
    ring = KeyRing(keys, clock=clock)
    key, key_id = await create(keys)
    await ring.authenticate(key, HOME)
    assert await keys.revoke_key(key_id)
    clock.now += FRESH_SECONDS
    for shown in (key, None):
        with pytest.raises(Unauthorized):
            await ring.authenticate(shown, HOME)
    assert not await keys.revoke_key(key_id)


async def test_a_new_key_works_on_a_server_that_runs(keys: CountingKeys, clock: Clock) -> None:
    ring = KeyRing(keys, "first-secret", clock)
    key, _ = await create(keys)
    await ring.authenticate("first-secret", HOME)
    later, _ = await create(keys, "other")
    clock.now += FRESH_SECONDS
    assert (await ring.authenticate(later, HOME)).tenant == "other"
    assert (await ring.authenticate(key, HOME)).tenant == "acme"


async def test_requests_do_not_ask_sql_while_the_copy_is_fresh(keys: CountingKeys, clock: Clock) -> None:
    key, _ = await create(keys)
    ring = KeyRing(keys, clock=clock)
    for _ in range(20):
        await ring.authenticate(key, HOME)
        with pytest.raises(Unauthorized):
            await ring.authenticate(create_key(), HOME)
    assert keys.reads == 1


async def test_what_is_stored_is_a_digest_and_no_key(keys: CountingKeys) -> None:
    key, _ = await create(keys)
    async with keys._database.read() as connection:
        [row] = await connection.execute(select(ApiKey.__table__))
    assert key not in str(row) and row.digest == hash_key(key)
    assert key.startswith("yd-") and len(key) > 40


@pytest.mark.as_shipped
async def test_whether_a_key_is_stored_is_asked_without_creating_anything(url: str, tmp_path: Path) -> None:
    assert not await has_valid_key(url)
    assert contents(tmp_path) == []
    database = Database(url)
    async with database.write():
        pass
    assert not await has_valid_key(url)  # no table yet
    await upgrade_schema(database)
    assert not await has_valid_key(url)
    _, key_id = await create(KeyRepository(database))
    assert await has_valid_key(url)
    await KeyRepository(database).revoke_key(key_id)
    assert not await has_valid_key(url)
    await database.close()


@pytest.mark.parametrize("text", ["default", "Acme-01", "a.b_c", "x" * 64])
def test_a_tenant_is_named_by_letters_and_digits(text: str) -> None:
    assert check_tenant_id(text) == text


@pytest.mark.parametrize("text", ["", "a b", "-a", "公司", "a/b", "x" * 65, "a\n"])
def test_other_names_of_tenants_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="租户编号"):
        check_tenant_id(text)


async def test_a_key_ends_by_itself_and_works_again_with_a_later_end(keys: CountingKeys, clock: Clock) -> None:
    start, passed = now(), timedelta()
    ring = KeyRing(keys, clock=clock, today=lambda: start + passed)
    key, key_id = await create(keys)
    assert await keys.expire_key(key_id, start + timedelta(days=1))
    assert (await ring.authenticate(key, HOME)).key == key_id
    passed = timedelta(days=1)  # nothing is read anew: the clock alone ends it
    with pytest.raises(Unauthorized) as refused:
        await ring.authenticate(key, HOME)
    assert (refused.value.code, keys.reads) == ("key_expired", 1)
    assert not await ring.is_keyless(), "a key that ended must not open the door"
    await keys.expire_key(key_id, start + timedelta(days=3))
    ring.expire_copy()
    assert (await ring.authenticate(key, HOME)).key == key_id


async def test_after_a_rotation_both_secrets_work_until_the_grace_ends(keys: CountingKeys, clock: Clock) -> None:
    start, passed = now(), timedelta()
    ring = KeyRing(keys, clock=clock, today=lambda: start + passed)
    old, key_id = await create(keys)
    new, newest = create_key(), create_key()
    assert await keys.rotate_key(key_id, hash_key(new), start + timedelta(hours=1))
    assert {(await ring.authenticate(key, HOME)).key for key in (old, new)} == {key_id}
    passed = timedelta(hours=1)
    with pytest.raises(Unauthorized):
        await ring.authenticate(old, HOME)
    assert (await ring.authenticate(new, HOME)).key == key_id
    assert await keys.rotate_key(key_id, hash_key(newest), start + timedelta(hours=9))
    assert await keys.rotate_key(key_id, hash_key(old), start)  # at once
    ring.expire_copy()
    for ended in (new, newest):
        with pytest.raises(Unauthorized):
            await ring.authenticate(ended, HOME)
    assert (await ring.authenticate(old, HOME)).key == key_id
    await keys.revoke_key(key_id)
    assert not await keys.rotate_key(key_id, hash_key(create_key()), start)


async def test_another_tenants_key_and_one_that_ended_are_not_rotated(keys: CountingKeys, url: str) -> None:
    _, key_id = await create(keys, "acme")
    assert not await keys.rotate_key(key_id, hash_key(create_key()), now(), "other")
    await keys.expire_key(key_id, now() - timedelta(seconds=1))
    assert not await keys.rotate_key(key_id, hash_key(create_key()), now(), "acme")
    assert not await has_valid_key(url)
