from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.db import wal
from app.db.engine import Database
from app.search.repository import CalibrationRepository
from knowledge.probability import CalibrationMap


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)])
@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_commits_survive_a_power_cut_and_references_hold(database: Database, pragma: str, value: object) -> None:
    async with database.read() as connection:
        assert (await connection.execute(text(f"PRAGMA {pragma}"))).scalar_one() == value


async def test_a_failed_write_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO kb_state VALUES ('t', 1, 1, '1', 0)"))
            raise ZeroDivisionError
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM kb_state"))).scalar_one() == 0


def calibration(unrelated: float) -> CalibrationMap:
    return CalibrationMap("cosine", unrelated, 100.5, 101.5)


async def test_a_reader_sees_one_state_while_another_process_writes(database: Database) -> None:
    other = Database(str(database.engine.url))
    count = text("SELECT count(*) FROM calibrations")
    async with database.read() as connection:
        before = (await connection.execute(count)).scalar_one()
        await CalibrationRepository(other, "t").save("cosine", "e5", 1, calibration(1.5))
        assert (await connection.execute(count)).scalar_one() == before
    async with database.read() as connection:
        assert (await connection.execute(count)).scalar_one() == before + 1
    await other.close()


async def test_writers_of_two_processes_wait_for_each_other(database: Database) -> None:
    other = Database(str(database.engine.url))
    stores = [CalibrationRepository(database, "t"), CalibrationRepository(other, "t")]
    await asyncio.gather(*(stores[i % 2].save("cosine", str(i), i, calibration(i)) for i in range(20)))
    for i in range(20):
        assert await stores[0].load("cosine", str(i)) == (i, calibration(i))
    await other.close()


async def test_of_replicas_that_fit_at_the_same_moment_none_fails(database: Database) -> None:
    store = CalibrationRepository(database, "t")
    await asyncio.gather(*(store.save("cosine", "e5", 3, calibration(1.5)) for _ in range(8)))
    assert await store.load("cosine", "e5") == (3, calibration(1.5))


async def test_calibrations_of_tenants_are_apart_and_the_last_one_counts(database: Database) -> None:
    store = CalibrationRepository(database, "t")
    for revision in (1, 2):
        await store.save("cosine", "e5", revision, calibration(revision))
    assert await store.load("cosine", "e5") == (2, calibration(2))
    assert await store.load("lexical", "e5") is None
    assert await CalibrationRepository(database, "other").load("cosine", "e5") is None


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("durable", "synchronous"), [(True, 2), (False, 1)])
async def test_what_is_durable_waits_for_the_disk(database: Database, durable: bool, synchronous: int) -> None:
    def asked(connection: Connection) -> object:
        return connection.exec_driver_sql("PRAGMA synchronous").scalar_one()

    assert await database.transact(asked, durable=durable) == synchronous
    async with database.write() as connection:
        assert await connection.run_sync(asked) == 2


def size(log: Path) -> int:
    return log.stat().st_size


@pytest.mark.acceptance(only=True)
@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_the_log_stays_short_although_somebody_always_reads(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wal, "LIMIT_BYTES", 1_000_000)
    monkeypatch.setattr(wal, "STEP_BYTES", 500_000)
    database = Database(str(database.engine.url))
    log, longest, writing = Path(f"{database.engine.url.database}-wal"), 0, True

    async def reads() -> None:
        while writing:
            async with database.read() as connection:
                for _ in range(5):
                    await connection.execute(text("SELECT count(*) FROM calibrations"))

    readers = [asyncio.create_task(reads()) for _ in range(4)]
    for number in range(150):
        pages = f"INSERT INTO calibrations VALUES ('t', '{number}', '{'x' * 100_000}', 1, '{{}}', '2026-03-01')"
        await database.transact(lambda connection, row=pages: connection.exec_driver_sql(row) and None)  # type: ignore[misc]
        longest = max(longest, size(log))
    writing = False
    await asyncio.gather(*readers)
    await database.close()
    assert longest < 8_000_000  # of 15,000,000 that were written


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_a_reader_that_stays_holds_no_writer_up(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "LIMIT_BYTES", 1000)
    database = Database(str(database.engine.url))
    async with database.read() as connection:
        await connection.execute(text("SELECT count(*) FROM calibrations"))
        for number in range(20):  # one try to cut the log, not twenty
            await CalibrationRepository(database, "t").save("cosine", str(number), 1, calibration(1.5))
    assert await CalibrationRepository(database, "t").load("cosine", "19") is not None
    await database.close()


async def test_a_look_that_fails_gives_its_connection_back(database: Database) -> None:
    async def count() -> int:
        return await database.look(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    assert await count() == 1
    with pytest.raises(DBAPIError):
        await database.look(lambda connection: connection.execute(text("SELECT no_such_column")).one())
    assert await count() == 1  # its connection came back whole
