"""What a process does periodically; what that is, is written elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loguru import logger

from app.db.base import now
from app.errors import Description, describe

# A job that is late runs once, however late: the scheduler would skip it after a second, a daily one for a day.
_DEFAULTS = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """every: from one beginning to the next; one that is still at it is left alone. first: after the start. title:
    Chinese, for people. for_all: the leader does it for all replicas; else each does its own.
    """

    name: str
    title: str
    run: Callable[[], Awaitable[object]]
    every: timedelta
    first: timedelta
    for_all: bool = False


@dataclass(frozen=True, slots=True)
class LastTick:
    """How a periodic job did in this process: kept in memory alone. duration: seconds."""

    started_at: datetime
    duration: float
    error: Description | None


class Scheduler:
    """Runs periodic jobs on the running event loop, from `start` to `close`. leads: whether this process is the one
    that does what is done for all.
    """

    def __init__(self, jobs: tuple[PeriodicJob, ...], leads: Callable[[], bool] = lambda: True) -> None:
        self.jobs = jobs
        self._leads = leads
        # By name, the last run that ended.
        self.ticks: dict[str, LastTick] = {}
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=_DEFAULTS)
        self._running: set[asyncio.Task[object]] = set()
        self._closing = False

    def start(self) -> None:
        """Starts all periodic jobs."""
        for job in self.jobs:
            first = datetime.now(UTC) + job.first
            self._scheduler.add_job(
                self._run, "interval", [job], seconds=job.every.total_seconds(), next_run_time=first, id=job.name
            )
        self._scheduler.start()

    async def close(self) -> None:
        """Stops; a job that is at it is cut short, for each goes on after the next start."""
        self._closing = True
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, job: PeriodicJob) -> None:
        if job.for_all and not self._leads():
            return
        task, started, failure = asyncio.ensure_future(job.run()), now(), None
        self._running.add(task)
        try:
            await task
        except asyncio.CancelledError:
            if not self._closing:
                raise
            return  # the library would log it as an error
        except Exception as error:  # the database may be away for a while; the next run comes
            failure = describe(error)
            logger.exception("the periodic job {} failed", job.name)
        finally:
            self._running.discard(task)
        self.ticks[job.name] = LastTick(started, (now() - started).total_seconds(), failure)
