from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from knowledge import batching
from knowledge.batching import Batcher
from knowledge.work_place import PLACE


class Refused(Exception):
    pass


class Calls:
    """Notes the calls; each one waits until it is let through."""

    def __init__(self, most: int = 4, lanes: int = 1) -> None:
        self.made: list[list[str]] = []
        self.let = asyncio.Event()
        self.batcher = Batcher(self._compute, lambda: most, lanes, Refused)

    async def _compute(self, items: list[str]) -> list[str]:
        assert PLACE.get() is None, "a call belongs to no single request"
        self.made.append(items)
        await self.let.wait()
        if "bad" in items:
            raise Refused
        if "down" in items:
            raise OSError
        return [item.upper() for item in items]

    def ask(self, *items: str) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.batcher.compute(item)) for item in items]


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing goes because of the clock alone."""
    monkeypatch.setattr(batching, "GATHER_SECONDS", 600.0)
    yield


async def test_one_that_is_alone_goes_without_waiting(patient: None) -> None:
    calls = Calls()
    calls.let.set()
    async with asyncio.timeout(60):
        assert await calls.batcher.compute("a") == "A"
        assert await calls.batcher.compute("b") == "B"


async def test_what_comes_during_a_call_goes_together_with_the_next(patient: None) -> None:
    calls = Calls()
    first = calls.ask("a")
    await settled()
    rest = calls.ask("b", "c", "d")
    await settled()
    assert calls.made == [["a"]]
    calls.let.set()
    assert await asyncio.gather(*first, *rest) == ["A", "B", "C", "D"]
    assert calls.made == [["a"], ["b", "c", "d"]]


async def test_a_call_has_no_more_items_than_it_may(patient: None) -> None:
    calls = Calls(most=2)
    calls.let.set()
    assert await asyncio.gather(*calls.ask("a", "b", "c", "d", "e")) == ["A", "B", "C", "D", "E"]
    assert [len(items) for items in calls.made] == [2, 2, 1]


async def test_beside_another_call_items_gather_for_a_moment_alone() -> None:
    calls = Calls(lanes=2)
    asked = calls.ask("a")
    await settled()
    asked += calls.ask("b")
    await settled()
    asked += calls.ask("c")
    async with asyncio.timeout(60):
        while len(calls.made) < 2:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.001)
    assert calls.made == [["a"], ["b", "c"]]
    calls.let.set()
    assert await asyncio.gather(*asked) == ["A", "B", "C"]


async def test_those_that_gather_go_at_once_when_the_other_call_ends(patient: None) -> None:
    calls = Calls(lanes=2)
    asked = calls.ask("a")
    await settled()
    asked += calls.ask("b")
    await settled()
    calls.let.set()
    async with asyncio.timeout(60):
        assert await asyncio.gather(*asked) == ["A", "B"]


async def test_an_item_that_is_refused_spoils_no_other() -> None:
    calls = Calls()
    calls.let.set()
    results = await asyncio.gather(*calls.ask("a", "bad", "c"), return_exceptions=True)
    assert (results[0], results[2]) == ("A", "C")
    assert isinstance(results[1], Refused)


async def test_an_outage_is_everybodys_and_nobody_asks_again() -> None:
    calls = Calls()
    calls.let.set()
    results = await asyncio.gather(*calls.ask("a", "down", "c"), return_exceptions=True)
    assert [type(result) for result in results] == [OSError] * 3
    assert len(calls.made) == 1


async def test_an_item_that_is_given_up_is_left_out() -> None:
    calls = Calls()
    first = calls.ask("a")
    await settled()
    gone, kept = calls.ask("b", "c")
    await settled()
    gone.cancel()
    calls.let.set()
    assert await asyncio.gather(*first, kept) == ["A", "C"]
    assert calls.made == [["a"], ["c"]]


async def test_one_that_is_given_up_meanwhile_leaves_the_others_their_results() -> None:
    calls = Calls()
    gone, kept = calls.ask("a", "b")
    await settled()
    gone.cancel()
    calls.let.set()
    assert await kept == "B"
