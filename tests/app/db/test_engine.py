from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, select, text
from sqlalchemy.exc import DBAPIError

from app.db import engine, wal
from app.db.engine import Database
from app.errors import DatabaseBusy, StorageFull
from app.performance.tables import UsageCounter
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


async def test_connections_that_open_a_new_file_together_all_get_it(tmp_path: Path) -> None:
    async def open_database(number: int) -> None:
        database = Database(f"sqlite+aiosqlite:///{tmp_path / f'{number}.db'}")
        async with database.write() as connection:
            assert (await connection.execute(text("PRAGMA journal_mode"))).scalar() == "wal"
        await database.close()

    for number in range(40):
        await asyncio.gather(*(open_database(number) for _ in range(3)))


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


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_a_full_disk_is_an_outage_until_there_is_room(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.read() as connection:
        pages = (await connection.execute(text("PRAGMA page_count"))).scalar_one()
    monkeypatch.setattr(engine, "_PRAGMAS", (*engine._PRAGMAS, f"PRAGMA max_page_count={pages + 100}"))
    small = Database(str(database.engine.url))
    assert await small.find_outage() is None
    row = "INSERT INTO calibrations VALUES ('t', 'x', '{}', 1, '{{}}', '2026-03-01')"
    with pytest.raises(StorageFull):
        await small.transact(lambda connection: connection.exec_driver_sql(row.format("x" * 1_000_000)) and None)
    with pytest.raises(StorageFull):
        async with small.write() as connection:
            await connection.exec_driver_sql(row.format("x" * 1_000_000))
    assert await small.find_outage() is None  # nothing of it was kept, so what is left is enough
    await small.transact(lambda connection: connection.exec_driver_sql(row.format("x" * 200_000)) and None)
    with pytest.raises(StorageFull):
        await small.transact(lambda connection: connection.exec_driver_sql(row.format("y" * 300_000)) and None)
    for _ in range(2):
        assert isinstance(await small.find_outage(), StorageFull)
    await small.transact(lambda connection: connection.exec_driver_sql("DELETE FROM calibrations") and None)
    assert await small.find_outage() is None
    await small.close()


@pytest.mark.parametrize("template", ["sqlite"], indirect=True)
async def test_a_lock_of_another_process_is_an_outage_and_a_write_waits_for_those_before_it_no_longer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_MS", 200)
    monkeypatch.setattr(engine, "_PRAGMAS", ("PRAGMA busy_timeout=200", *engine._PRAGMAS[1:]))
    waiting = Database(str(database.engine.url))
    async with database.write() as connection:
        await connection.execute(text("DELETE FROM calibrations"))
        written = await asyncio.gather(
            *(CalibrationRepository(waiting, "t").save("cosine", str(i), 1, calibration(i)) for i in range(5)),
            return_exceptions=True,
        )
        assert [type(error) for error in written] == [DatabaseBusy] * 5
        assert isinstance(await waiting.find_outage(), DatabaseBusy)
    assert await waiting.find_outage() is None
    await waiting.close()


async def test_a_look_that_fails_gives_its_connection_back(database: Database) -> None:
    async def count() -> int:
        return await database.run_in_reader(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    assert await count() == 1
    with pytest.raises(DBAPIError):
        await database.run_in_reader(lambda connection: connection.execute(text("SELECT no_such_column")).one())
    assert await count() == 1  # its connection came back whole


async def test_single_statements_read_and_write_in_transactions_of_their_own(database: Database) -> None:
    for number in range(1, 6):
        row = insert(UsageCounter).values(tenant_id="t", day=f"2026-01-0{number}", name="n", value=number)
        assert await database.execute(row) == 1
    query = select(UsageCounter.value, UsageCounter.day).where(UsageCounter.value > 1).order_by(UsageCounter.day)
    assert [row.value for row in await database.fetch(query)] == await database.fetch_values(query) == [2, 3, 4, 5]
    assert (await database.fetch_first(query), await database.fetch_value(query)) == ((2, "2026-01-02"), 2)
    assert await database.fetch_page(query, 1, 2) == ([(3, "2026-01-03"), (4, "2026-01-04")], 4)
    assert await database.execute(delete(UsageCounter).where(UsageCounter.value > 1)) == 4
    assert (await database.fetch(query), await database.fetch_values(query)) == ([], [])
    assert (await database.fetch_first(query), await database.fetch_value(query)) == (None, None)
