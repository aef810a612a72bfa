from __future__ import annotations

import asyncio

import pytest

from app import work_loop
from app.db.leased_queue import LeaseLost
from app.errors import DatabaseUnavailable
from app.work_loop import run_leased


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_loop, "BEAT_SECONDS", 0.01)


class Endless:
    """Work that stops where it is told to."""

    def __init__(self) -> None:
        self.begun, self.stopped = asyncio.Event(), False

    async def run(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True


async def test_a_lease_is_renewed_until_the_work_is_over() -> None:
    beats, enough = 0, asyncio.Event()

    async def renew() -> bool:
        nonlocal beats
        beats += 1
        if beats == 3:
            enough.set()
        return True

    async def work() -> str:
        await enough.wait()
        return "done"

    assert (await run_leased(work(), renew)).result() == "done"
    assert beats >= 3


async def test_work_whose_lease_is_lost_is_stopped() -> None:
    work = Endless()

    async def renew() -> bool:
        return False

    with pytest.raises(LeaseLost):
        await run_leased(work.run(), renew)
    assert work.stopped


async def test_a_database_that_is_away_for_a_moment_stops_no_work() -> None:
    answers: list[object] = [DatabaseUnavailable("away"), DatabaseUnavailable("away"), True, False]
    work = Endless()

    async def renew() -> bool:
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return bool(answer)

    with pytest.raises(LeaseLost):
        await run_leased(work.run(), renew)
    assert (answers, work.stopped) == ([], True)


async def test_work_is_stopped_with_whoever_waits_for_it_or_where_its_lease_cannot_be_renewed() -> None:
    async def renew() -> bool:
        return True

    async def fail() -> bool:
        raise ZeroDivisionError

    left, broken = Endless(), Endless()
    waiting = asyncio.create_task(run_leased(left.run(), renew))
    await left.begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(ZeroDivisionError):
        await run_leased(broken.run(), fail)
    assert left.stopped and broken.stopped


async def test_a_failure_is_told_by_the_task() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    async def renew() -> bool:
        return True

    assert isinstance((await run_leased(work(), renew)).exception(), ZeroDivisionError)
