from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from app import work_loop
from app.db.engine import Database
from app.errors import Conflict
from app.jobs import worker as worker_module
from app.jobs.repository import RunRepository
from app.jobs.repository_queue import RunQueue
from app.jobs.service import JobService
from app.jobs.types import OPEN, Cancelled, JobContext, JobKind, JobRun, RunState, Work
from app.jobs.worker import JobWorker

Running = tuple[JobService, JobWorker]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JobWorker, "poll_seconds", 0.05)
    monkeypatch.setattr(work_loop, "BEAT_SECONDS", 0.02)


@asynccontextmanager
async def working(database: Database, work: Work, *others: Work) -> AsyncIterator[JobService]:
    """Kinds k0, k1 …, of which one process does the work."""
    kinds = {f"k{number}": JobKind(f"k{number}", "", run) for number, run in enumerate((work, *others))}
    worker = JobWorker(kinds, RunQueue(database), alone=True)
    worker.start()
    try:
        yield JobService(kinds, RunRepository(database), worker.wake)
    finally:
        await worker.close()


async def over(jobs: JobService, run: JobRun) -> JobRun:
    async with asyncio.timeout(60):
        while (found := await jobs.find_run("t", run.id)) is None or found.state in OPEN:  # noqa: ASYNC110 - SQL tells
            await asyncio.sleep(0.02)
    return found


async def test_a_run_does_its_work_and_leaves_a_summary(database: Database) -> None:
    async def work(context: JobContext) -> dict[str, object]:
        await context.report_progress(2, 2)
        await asyncio.sleep(0.1)
        return {"tenant": context.tenant, "of": context.parameters}

    async with working(database, work) as jobs:
        run = await over(jobs, await jobs.trigger_run("t", "k0"))
    assert (run.state, run.result, run.error) == (RunState.DONE, {"tenant": "t", "of": {}}, None)
    assert (run.done, run.total) == (2, 2)
    assert run.started_at is not None
    assert run.compute_duration(run.created_at) is not None


async def fails(context: JobContext) -> dict[str, object]:
    raise Conflict("还不能做。", code="not_yet")


async def breaks(context: JobContext) -> dict[str, object]:
    raise ZeroDivisionError("secret")


async def no_json(context: JobContext) -> dict[str, object]:
    return {"never": object()}


async def test_a_run_that_fails_keeps_its_error_and_the_next_goes_on(database: Database) -> None:
    async with working(database, fails, breaks, no_json) as jobs:
        runs = [await over(jobs, await jobs.trigger_run("t", kind)) for kind in ("k0", "k1", "k2", "k0")]
    assert [run.state for run in runs] == [RunState.FAILED] * 4
    errors = [run.error or {} for run in runs]
    assert [error["code"] for error in errors] == ["not_yet", "internal_error", "internal_error", "not_yet"]
    assert (errors[0]["message"], "secret" in errors[1]["message"]) == ("还不能做。", False)


def endless(begun: asyncio.Event, ended: list[str], step: Callable[[JobContext], Awaitable[None]]) -> Work:
    async def work(context: JobContext) -> dict[str, object]:
        begun.set()
        try:
            while True:
                await step(context)
        except (Cancelled, asyncio.CancelledError) as error:
            ended.append(type(error).__name__)
            raise

    return work


async def reports(context: JobContext) -> None:
    await context.report_progress(1, 2)
    await asyncio.sleep(0.01)


async def says_nothing(context: JobContext) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(("step", "how"), [(reports, "Cancelled"), (says_nothing, "CancelledError")])
async def test_a_cancelled_run_stops(
    database: Database, monkeypatch: pytest.MonkeyPatch, step: Callable[[JobContext], Awaitable[None]], how: str
) -> None:
    monkeypatch.setattr(worker_module, "CANCEL_SECONDS", 5.0 if how == "Cancelled" else 0.05)
    begun, ended = asyncio.Event(), list[str]()
    async with working(database, endless(begun, ended, step)) as jobs:
        run = await jobs.trigger_run("t", "k0")
        await begun.wait()
        assert (await jobs.cancel_run("t", run.id)).state is RunState.CANCELLED
        begun.clear()
        again = await jobs.trigger_run("t", "k0")  # begins once the first has stopped
        await asyncio.wait_for(begun.wait(), 20)
        assert ended == [how]
        assert again.id != run.id


async def test_a_process_that_stops_puts_its_run_back_and_the_next_takes_it_up(database: Database) -> None:
    begun, ended = asyncio.Event(), list[str]()
    async with working(database, endless(begun, ended, says_nothing)) as jobs:
        run = await jobs.trigger_run("t", "k0")
        await begun.wait()
    stopped = await jobs.find_run("t", run.id)
    assert stopped is not None
    assert stopped.state is RunState.QUEUED

    async def work(context: JobContext) -> dict[str, object]:
        return {"run": context.run_id}

    async with working(database, work) as jobs:
        assert (await over(jobs, run)).result == {"run": run.id}


async def test_a_process_is_at_two_runs_at_most(database: Database) -> None:
    at_work, most, go_on = 0, 0, asyncio.Event()

    async def work(context: JobContext) -> dict[str, object]:
        nonlocal at_work, most
        at_work, most = at_work + 1, max(most, at_work + 1)
        if most == worker_module.MAX_CONCURRENT_RUNS:
            asyncio.get_running_loop().call_later(0.2, go_on.set)
        await go_on.wait()
        at_work -= 1
        return {}

    async with working(database, *[work] * 4) as jobs:
        runs = [await jobs.trigger_run("t", f"k{number}") for number in range(4)]
        for run in runs:
            await over(jobs, run)
    assert most == worker_module.MAX_CONCURRENT_RUNS
