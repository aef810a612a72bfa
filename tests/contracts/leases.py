"""What counts of open things have to keep, in the memory of a process or in Redis; a test class inherits it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager

from app.limits.leases import Lease, LeaseRequest, Leases
from app.limits.types import LimitKind

STREAMS, SOCKETS = LimitKind.STREAMS, LimitKind.SOCKETS


def leased(told: Lease | LimitKind) -> Lease:
    """A lease that was given."""
    assert isinstance(told, Lease), told
    return told


class LeasesContract(ABC):
    """Inherit, and write `opened`."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[Leases]:
        """Where nothing is open yet."""

    async def test_as_many_are_open_as_may_be_and_one_that_closes_makes_room(self) -> None:
        async with self.opened() as leases:
            wanted: list[LeaseRequest] = [(STREAMS, "a", 3)]
            told = await asyncio.gather(*(leases.acquire(wanted) for _ in range(30)))
            given = [one for one in told if isinstance(one, Lease)]
            assert len(given) == 3 and told.count(STREAMS) == 27
            assert leases.count_held(STREAMS, "a") == 3
            given[0].release()
            given[0].release()  # says nothing new
            again = await self.patiently(leases, wanted)
            assert await leases.acquire(wanted) is STREAMS
            for lease in (*given, again):
                lease.release()
            assert leases.count_held(STREAMS, "a") == 0

    async def test_names_and_kinds_are_counted_apart_and_0_is_no_limit(self) -> None:
        async with self.opened() as leases:
            for kind in (STREAMS, SOCKETS):
                for name in ("a", ("key", "a"), ("address", "t", "203.0.113.9"), "\ud800"):
                    leased(await leases.acquire([(kind, name, 1)]))
                    assert await leases.acquire([(kind, name, 1)]) is kind
            for _ in range(20):
                leased(await leases.acquire([(STREAMS, "free", 0)]))

    async def test_of_several_all_are_taken_or_none(self) -> None:
        async with self.opened() as leases:
            leased(await leases.acquire([(SOCKETS, "few", 1)]))
            for _ in range(5):
                assert await leases.acquire([(STREAMS, "many", 2), (SOCKETS, "few", 1)]) is SOCKETS
            for _ in range(2):
                leased(await leases.acquire([(STREAMS, "many", 2)]))

    async def test_what_is_taken_beyond_the_limit_counts_as_well(self) -> None:
        async with self.opened() as leases:
            wanted: list[LeaseRequest] = [(STREAMS, "a", 1)]
            first = leased(await leases.acquire(wanted))
            second = leased(await leases.acquire(wanted, beyond=True))
            first.release()
            assert leases.count_held(STREAMS, "a") == 1
            assert await leases.acquire(wanted) is STREAMS
            second.release()
            await self.patiently(leases, wanted)

    async def patiently(self, leases: Leases, wanted: list[LeaseRequest]) -> Lease:
        """One that was given back is free soon."""
        async with asyncio.timeout(60):
            while isinstance(told := await leases.acquire(wanted), LimitKind):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return told
