from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, Field

from app.db import leased_queue
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.jobs import service
from app.jobs.due import DueRuns
from app.jobs.repository import RunRepository
from app.jobs.repository_queue import ClaimedRun, RunQueue
from app.jobs.service import JobService
from app.jobs.types import MAX_INTERRUPTIONS, Daily, Every, JobContext, JobKind, JobRun, RunState


class Options(BaseModel):
    most: int = Field(3, ge=1)


async def nothing(context: JobContext) -> dict[str, object]:
    return {}


KINDS = {
    kind.name: kind
    for kind in (
        JobKind("sweep", "清扫", nothing, Daily(3)),
        JobKind("count", "点数", nothing, Every(timedelta(hours=6)), Options),
        JobKind("tidy", "整理", nothing),
    )
}
SHANGHAI, NEW_YORK = ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")


def service_of(database: Database) -> JobService:
    return JobService(KINDS, RunRepository(database), lambda: None)


async def found(database: Database, run: JobRun | ClaimedRun, tenant: str = "t") -> JobRun:
    stored = await RunRepository(database).get(tenant, run.id)
    assert stored is not None
    return stored


async def claimed(database: Database, worker: str) -> ClaimedRun:
    run = await RunQueue(database).claim(KINDS, worker)
    assert run is not None
    return run


async def test_while_a_run_is_open_another_trigger_of_the_same_gives_that_one(database: Database) -> None:
    jobs = service_of(database)
    runs = await asyncio.gather(*(jobs.trigger_run("t", "count", {"most": 3}) for _ in range(5)))
    assert {run.id for run in runs} == {runs[0].id}
    assert (await jobs.trigger_run("t", "count")).id == runs[0].id
    assert (await jobs.trigger_run("t", "count", {"most": 4})).id != runs[0].id
    assert (await jobs.trigger_run("u", "count")).id != runs[0].id
    run = await claimed(database, "a")
    assert (await jobs.trigger_run("t", "count")).id == run.id
    assert await RunQueue(database).finish(run, "a", RunState.DONE, {"n": 1}, None)
    assert (await jobs.trigger_run("t", "count")).id != run.id


async def test_of_many_workers_one_has_a_run_and_of_a_tenant_and_kind_one_is_at_work(database: Database) -> None:
    jobs, queue = service_of(database), RunQueue(database)
    for most in (1, 2):
        await jobs.trigger_run("t", "count", {"most": most})
    taken = await asyncio.gather(*(queue.claim(KINDS, f"w{number}") for number in range(6)))
    assert sum(run is not None for run in taken) == 1
    await jobs.trigger_run("u", "count")
    other = await claimed(database, "b")
    assert (other.tenant, await queue.claim(KINDS, "c")) == ("u", None)
    (first, worker) = next((run, f"w{number}") for number, run in enumerate(taken) if run)
    await queue.finish(first, worker, RunState.DONE, {}, None)
    assert {(await claimed(database, "c")).parameters["most"], first.parameters["most"]} == {1, 2}  # in either order


async def test_what_this_process_does_not_know_it_does_not_take(database: Database) -> None:
    await service_of(database).trigger_run("t", "tidy")
    assert await RunQueue(database).claim(["count"], "a") is None


async def test_a_lease_that_ends_is_taken_over(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = RunQueue(database)
    await service_of(database).trigger_run("t", "tidy")
    run = await claimed(database, "silent")
    await queue.recover_runs("b", alone=False)
    assert await queue.claim(KINDS, "b") is None
    monkeypatch.setattr(leased_queue, "LEASE", timedelta(seconds=-1))
    assert await queue.renew_lease(run, "silent", 1, 2)
    await queue.recover_runs("b", alone=False)
    again = await claimed(database, "b")
    assert again.id == run.id
    assert not await queue.renew_lease(run, "silent", 2, 2)
    assert not await queue.finish(run, "silent", RunState.DONE, {}, None)
    assert (await found(database, run)).state is RunState.RUNNING


async def test_a_lease_of_before_the_clock_was_set_back_is_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = RunQueue(database)
    await service_of(database).trigger_run("t", "tidy")
    with monkeypatch.context() as patch:
        patch.setattr(leased_queue, "LEASE", timedelta(days=1))
        run = await claimed(database, "killed")
    await queue.recover_runs("b", alone=False)
    assert (await claimed(database, "b")).id == run.id


async def test_a_run_that_ends_process_after_process_is_given_up(database: Database) -> None:
    queue = RunQueue(database)
    run = await service_of(database).trigger_run("t", "tidy")
    for number in range(MAX_INTERRUPTIONS):
        assert (await found(database, run)).state is RunState.QUEUED
        await claimed(database, f"killed {number}")
        await queue.recover_runs("next", alone=True)
    failed = await found(database, run)
    assert (failed.state, failed.error and failed.error["code"]) == (RunState.FAILED, "job_interrupted")
    assert (await service_of(database).trigger_run("t", "tidy")).id != run.id


async def test_a_cancelled_run_stays_so_and_holds_its_place_until_it_stopped(database: Database) -> None:
    jobs, queue = service_of(database), RunQueue(database)
    waiting = await jobs.trigger_run("t", "tidy")
    assert (await jobs.cancel_run("t", waiting.id)).state is RunState.CANCELLED
    assert await queue.claim(KINDS, "a") is None
    await jobs.trigger_run("t", "tidy")
    run = await claimed(database, "a")
    await jobs.cancel_run("t", run.id)
    assert not await queue.renew_lease(run, "a", 1, 2)
    assert not await queue.finish(run, "a", RunState.DONE, {}, None)
    await jobs.trigger_run("t", "tidy")
    assert await queue.claim(KINDS, "b") is None
    await queue.release_cancelled(run, "a")
    assert (await claimed(database, "b")).id != run.id
    assert (await jobs.cancel_run("t", run.id)).state is RunState.CANCELLED
    with pytest.raises(NotFound):
        await jobs.cancel_run("u", run.id)


async def test_the_list_tells_the_last_run_of_each_kind(database: Database) -> None:
    jobs = service_of(database)
    first = await jobs.trigger_run("t", "tidy")
    await jobs.cancel_run("t", first.id)
    second, other = await jobs.trigger_run("t", "tidy"), await jobs.trigger_run("t", "sweep")
    await jobs.trigger_run("u", "tidy")
    assert {kind: run.id for kind, run in (await jobs.load_latest("t")).items()} == {
        "tidy": second.id,
        "sweep": other.id,
    }
    page, total = await jobs.load_page("t", "tidy", limit=1)
    assert ([run.id for run in page], total) == ([second.id], 2)


async def test_what_cannot_be_run_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = service_of(database)
    with pytest.raises(NotFound):
        await jobs.trigger_run("t", "unknown")
    for kind, parameters in (("count", {"most": 0}), ("tidy", {"most": 1})):
        with pytest.raises(Conflict):
            await jobs.trigger_run("t", kind, parameters)
    monkeypatch.setattr(service, "MAX_OPEN", 1)
    await jobs.trigger_run("t", "tidy")
    with pytest.raises(Conflict):
        await jobs.trigger_run("t", "sweep")


async def test_each_tenant_gets_one_run_a_day_at_its_own_hour_whoever_looks(database: Database) -> None:
    moment = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)  # 02:30 in Shanghai, 13:30 in New York
    runs = RunRepository(database)
    bases = {"cn": moment - timedelta(days=9), "us": moment - timedelta(days=9), "new": moment}

    async def since() -> dict[str, datetime]:
        return bases

    async def zone(tenant: str) -> ZoneInfo:
        return NEW_YORK if tenant == "us" else SHANGHAI

    replicas = [DueRuns([KINDS["sweep"]], runs, since, zone, clock=lambda: moment) for _ in range(2)]

    async def due() -> dict[str, list[datetime]]:
        await asyncio.gather(*(replica.begin_due_runs() for replica in (*replicas, *replicas)))
        pages = {tenant: (await runs.load_page(tenant, "", offset=0, limit=9))[0] for tenant in bases}
        return {tenant: sorted(run.scheduled for run in page if run.scheduled) for tenant, page in pages.items()}

    def shanghai(day: int) -> datetime:
        return datetime(2026, 11, day, 3, tzinfo=SHANGHAI)

    new_york = datetime(2026, 11, 20, 3, tzinfo=NEW_YORK)
    assert await due() == {"cn": [shanghai(20)], "us": [new_york], "new": []}
    while run := await RunQueue(database).claim(KINDS, "w"):
        await RunQueue(database).finish(run, "w", RunState.DONE, {}, None)
    moment += timedelta(hours=1)
    assert await due() == {"cn": [shanghai(20), shanghai(21)], "us": [new_york], "new": [shanghai(21)]}


async def test_what_is_due_waits_for_a_run_that_is_still_open(database: Database) -> None:
    runs, jobs = RunRepository(database), service_of(database)
    open_run, due = await jobs.trigger_run("t", "sweep"), datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert not await runs.add_scheduled("t", "sweep", {}, due)
    await jobs.cancel_run("t", open_run.id)
    assert await runs.add_scheduled("t", "sweep", {}, due)
    assert await runs.add_scheduled("t", "sweep", {}, due)
    assert (await runs.load_page("t", "sweep", offset=0, limit=9))[1] == 2


def test_what_is_regular_is_due_at_times_that_do_not_depend_on_who_asks() -> None:
    schedule = Every(timedelta(hours=6))
    moment = datetime(2026, 11, 20, 13, 5, tzinfo=UTC)
    assert schedule.find_last_due(moment, SHANGHAI) == datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert schedule.find_last_due(moment + timedelta(hours=4), NEW_YORK) == datetime(2026, 11, 20, 12, tzinfo=UTC)
