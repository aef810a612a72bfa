"""What is tried again, how often it waits, and what is not tried again."""

from __future__ import annotations

import asyncio

import pytest

from app.retrying import retry


async def test_it_waits_twice_as_long_each_time_up_to_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    tries = 0
    async for attempt in retry("away", 1.0, most=5.0):
        with attempt:
            tries += 1
            if tries < 6:
                raise OSError("away")
    assert waited == [1.0, 2.0, 4.0, 5.0, 5.0]
    waited.clear()
    tries = 0
    async for attempt in retry("away", 3.0):
        with attempt:
            tries += 1
            if tries < 4:
                raise OSError("away")
    assert waited == [3.0, 3.0, 3.0]


async def test_another_failure_and_the_end_of_the_process_are_handed_on() -> None:
    async def work(error: BaseException) -> None:
        async for attempt in retry("away", 0.0, on=OSError):
            with attempt:
                raise error

    with pytest.raises(ValueError, match="wrong"):
        await work(ValueError("wrong"))
    with pytest.raises(asyncio.CancelledError):
        await work(asyncio.CancelledError())
