"""What every queue of work in a table has to keep, on every database; a test class inherits it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from app.db import leased_queue
from app.db.base import Base, now
from app.db.engine import Database

# More rows than one claim gives.
ROWS = 6


@contextmanager
def leases_of(length: timedelta) -> Iterator[None]:
    """Leases that are given within are so long; those of no length have ended at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leased_queue, "LEASE", length)
        yield


class BackoffContract(ABC):
    """Inherit, and write these methods for the work in a table: rows that are due and do not wait for each other."""

    table: type[Base]

    @abstractmethod
    async def add(self, database: Database, count: int) -> None:
        """Adds work that is due."""

    @abstractmethod
    async def fail_all(self, database: Database) -> int:
        """Claims all that is due, fails at it for a while, and returns how much it was."""

    async def test_work_that_fails_waits_twice_as_long_each_time(self, database: Database) -> None:
        await self.add(database, 1)
        pauses = []
        for _ in range(3):
            failed_at = now()
            assert await self.fail_all(database) == 1
            assert await self.fail_all(database) == 0, "it has to wait"
            pauses.append((await self._load_due(database) - failed_at).total_seconds())
            await self.set_due(database, now())
        assert pauses[1] == pytest.approx(2 * pauses[0], rel=0.5)
        assert pauses[2] == pytest.approx(2 * pauses[1], rel=0.5)

    async def test_a_clock_that_was_set_back_by_a_day_holds_nothing_up(self, database: Database) -> None:
        await self.add(database, 1)
        await self.set_due(database, now() + timedelta(days=1))
        assert await self.fail_all(database) == 1

    async def set_due(self, database: Database, moment: datetime) -> None:
        """Makes everything due at a moment."""
        async with database.write() as connection:
            await connection.execute(update(self.table).values({"due_at": moment}))

    async def _load_due(self, database: Database) -> datetime:
        async with database.read() as connection:
            due: datetime = (await connection.execute(select(self.table.__table__.c["due_at"]))).scalar_one()
        return due


class LeasedQueueContract(ABC):
    """Inherit, and write these methods; an item is whatever names a row."""

    @abstractmethod
    async def add(self, database: Database, count: int) -> None:
        """Adds work that is due, of which none waits for another."""

    @abstractmethod
    async def claim(self, database: Database, worker: str) -> Sequence[Any]:
        """Claims some of what is due, after what processes that ended had was taken back."""

    @abstractmethod
    async def renew(self, database: Database, item: Any, worker: str) -> bool:
        """Renews the lease on it; False where it is not the worker's any more."""

    @abstractmethod
    async def finish(self, database: Database, item: Any, worker: str) -> None:
        """Says that it is done."""

    async def test_of_many_workers_each_row_goes_to_one(self, database: Database) -> None:
        await self.add(database, ROWS)

        async def claim_all(worker: str) -> list[Any]:
            mine: list[Any] = []
            while claimed := await self.claim(database, worker):
                mine += claimed
            return mine

        found = await asyncio.gather(*(claim_all(f"w{number}") for number in range(4)))
        items = [item for mine in found for item in mine]
        assert len(items) == ROWS
        assert not any(item in items[:index] for index, item in enumerate(items))

    async def test_a_row_is_claimed_once_while_its_lease_holds(self, database: Database) -> None:
        await self.add(database, 1)
        (item,) = await self.claim(database, "a")
        assert not await self.claim(database, "b")
        assert await self.renew(database, item, "a")
        assert not await self.renew(database, item, "b")

    async def test_what_a_killed_process_had_is_taken_over_and_not_its_own_any_more(self, database: Database) -> None:
        await self.add(database, 1)
        with leases_of(timedelta(0)):
            (item,) = await self.claim(database, "silent")
        (again,) = await self.claim(database, "next")
        assert again == item
        assert not await self.renew(database, item, "silent")
        await self.finish(database, item, "silent")
        assert await self.renew(database, again, "next"), "what the silent one said came too late"

    async def test_a_lease_that_is_renewed_is_not_taken_over(self, database: Database) -> None:
        await self.add(database, 1)
        with leases_of(timedelta(0)):
            (item,) = await self.claim(database, "slow")
        assert await self.renew(database, item, "slow"), "nobody took it meanwhile"
        assert not await self.claim(database, "next")

    async def test_a_lease_of_before_the_clock_was_set_back_is_over(self, database: Database) -> None:
        await self.add(database, 1)
        with leases_of(timedelta(days=1)):
            (item,) = await self.claim(database, "killed")
        assert await self.claim(database, "next") == [item]

    async def test_what_is_done_is_not_claimed_again(self, database: Database) -> None:
        await self.add(database, 2)
        with leases_of(timedelta(0)):
            item, *_ = await self.claim(database, "a")
        await self.finish(database, item, "a")
        assert not await self.renew(database, item, "a")
        assert item not in [*await self.claim(database, "b"), *await self.claim(database, "b")]
