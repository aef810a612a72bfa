"""What counters of limits have to keep, in the memory of a process or in Redis; a test class inherits it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager

from app.limits.types import HOUR, LimitKind, Rate
from app.limits.windows import Counters, Wanted

KEY, SESSION = LimitKind.KEY, LimitKind.SESSION


class CountersContract(ABC):
    """Inherit, and write `opened`."""

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[Counters]:
        """Counters that counted nothing yet."""

    async def test_a_rate_is_kept_and_what_is_refused_is_told_how_long(self) -> None:
        async with self.opened() as counters:
            told = [await counters.count_names([(KEY, "a", Rate(3, HOUR))]) for _ in range(50)]
        assert told[:3] == [None] * 3
        assert {one[0] for one in told[3:] if one} == {KEY}
        assert all(one is not None and 0 < one[1] <= 2 * HOUR for one in told[3:])

    async def test_whoever_waits_as_told_is_taken(self) -> None:
        rate = Rate(3, 0.5)
        async with self.opened() as counters:
            while (refused := await counters.count_names([(KEY, "a", rate)])) is None:
                pass
            assert 0 < refused[1] <= 2 * rate.seconds
            await asyncio.sleep(refused[1] + 0.01)
            assert await counters.count_names([(KEY, "a", rate)]) is None

    async def test_names_and_kinds_are_counted_apart(self) -> None:
        names = ["a", "b", ("a", "b"), ("t", "customer", "c", True), ("t", "customer", "c", False), "顾客", "\ud800"]
        async with self.opened() as counters:
            for kind in (KEY, SESSION):
                for name in names:
                    assert await counters.count_names([(kind, name, Rate(1, HOUR))]) is None
                    assert await counters.count_names([(kind, name, Rate(1, HOUR))]) is not None

    async def test_nothing_is_counted_without_a_limit(self) -> None:
        async with self.opened() as counters:
            assert await counters.count_names([]) is None
            assert {await counters.count_names([(KEY, "a", Rate(0))]) for _ in range(20)} == {None}
            assert await counters.count_names([(KEY, "a", Rate(1, HOUR))]) is None

    async def test_the_first_that_is_too_much_ends_it_and_those_after_are_not_counted(self) -> None:
        one: Wanted = (KEY, "one", Rate(5, HOUR))
        few: Wanted = (SESSION, "few", Rate(1, HOUR))
        last: Wanted = (KEY, "last", Rate(1, HOUR))
        async with self.opened() as counters:
            assert await counters.count_names([one, few]) is None
            refused = await counters.count_names([one, (KEY, "free", Rate(0)), few, last])
            assert refused is not None and refused[0] is SESSION
            assert await counters.count_names([last]) is None
            taken = [await counters.count_names([one]) for _ in range(5)]
            assert [one is None for one in taken] == [True] * 3 + [False] * 2

    async def test_of_many_at_once_as_many_are_taken_as_may_be(self) -> None:
        async with self.opened() as counters:
            told = await asyncio.gather(*(counters.count_names([(KEY, "a", Rate(10, HOUR))]) for _ in range(100)))
        assert told.count(None) == 10
