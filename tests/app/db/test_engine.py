from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text

from app.db.calibrations import CalibrationRepository
from app.db.engine import Database


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)])
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


async def test_a_reader_sees_one_state_while_another_process_writes(database: Database) -> None:
    other = Database(str(database.engine.url))
    count = text("SELECT count(*) FROM calibrations")
    async with database.read() as connection:
        before = (await connection.execute(count)).scalar_one()
        await CalibrationRepository(other).save("t", "cosine", "e5", 1, {"a": 1.5})
        assert (await connection.execute(count)).scalar_one() == before
    async with database.read() as connection:
        assert (await connection.execute(count)).scalar_one() == before + 1
    await other.close()


async def test_writers_of_two_processes_wait_for_each_other(database: Database) -> None:
    other = Database(str(database.engine.url))
    stores = [CalibrationRepository(database), CalibrationRepository(other)]
    await asyncio.gather(*(stores[i % 2].save("t", "cosine", str(i), i, {"i": i}) for i in range(20)))
    for i in range(20):
        row = await stores[0].load("t", "cosine", str(i))
        assert row is not None
        assert row.revision == i
    await other.close()
