from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest

from app.jobs.schedule import PeriodicJob, Scheduler

SOON, NEVER = timedelta(milliseconds=20), timedelta(days=1)


async def test_a_job_that_fails_runs_again() -> None:
    runs, enough = list[int](), asyncio.Event()

    async def fails() -> None:
        runs.append(len(runs))
        if len(runs) == 3:
            enough.set()
        raise OSError("away")

    jobs = Scheduler((PeriodicJob("fails", "", fails, SOON, timedelta(0)),))
    jobs.start()
    await asyncio.wait_for(enough.wait(), 10)
    await jobs.close()
    failure = jobs.ticks["fails"].error
    assert failure is not None
    assert failure.code == "internal_error"


async def test_a_job_that_comes_late_is_not_skipped() -> None:
    ran = asyncio.Event()

    async def run() -> None:
        ran.set()

    jobs = Scheduler((PeriodicJob("late", "", run, NEVER, timedelta(minutes=-1)),))
    jobs.start()
    await asyncio.wait_for(ran.wait(), 10)
    await jobs.close()


async def test_a_job_that_is_at_it_is_left_alone_and_has_ended_when_all_stops(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, states = asyncio.Event(), list[str]()

    async def long() -> None:
        states.append("begun")
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            states.append("ended")

    jobs = Scheduler((PeriodicJob("long", "", long, SOON, timedelta(0)),))
    jobs.start()
    await asyncio.wait_for(begun.wait(), 10)
    await asyncio.sleep(5 * SOON.total_seconds())
    await jobs.close()
    await asyncio.sleep(0.1)
    assert states == ["begun", "ended"]
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_jobs_that_never_started_stop() -> None:
    async def nothing() -> None: ...

    await Scheduler((PeriodicJob("nothing", "", nothing, NEVER, NEVER),)).close()


async def test_what_is_done_for_all_is_left_to_the_leader() -> None:
    leading, ran, own = False, list[bool](), asyncio.Event()

    async def for_all() -> None:
        ran.append(leading)

    async def each() -> None:
        own.set()

    first = PeriodicJob("for all", "", for_all, SOON, timedelta(0), for_all=True)
    jobs = Scheduler((first, PeriodicJob("each", "", each, SOON, timedelta(0))), lambda: leading)
    jobs.start()
    await asyncio.wait_for(own.wait(), 10)
    leading = True
    async with asyncio.timeout(10):
        while not ran:  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(SOON.total_seconds())
    await jobs.close()
    assert all(ran)
