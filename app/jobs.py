"""What the server does periodically; what these jobs do is written elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from loguru import logger

if TYPE_CHECKING:
    from app.desk.watch import Watch
    from app.documents.repository_labels import LabelRepository
    from app.retention.service import Retention
    from app.search.service import Searches

_DEFAULTS = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
"""A job that is late runs once, however late: the scheduler would skip it after a second, a daily one for a day."""


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """every: from one beginning to the next; one that is still at it is left alone. first: after the start."""

    name: str
    run: Callable[[], Awaitable[object]]
    every: timedelta
    first: timedelta


def schedule(
    searches: Searches,
    retention: Retention,
    labels: LabelRepository,
    watch: Watch,
    save_metrics: Callable[[], Awaitable[None]],
    save_use_of_keys: Callable[[], Awaitable[None]],
) -> tuple[PeriodicJob, ...]:
    """Documents come into force, or go out of it, at most ten seconds late. Retention begins soon after the start, so
    that a server which is restarted every day deletes too.
    """
    seconds, minutes = timedelta(seconds=1), timedelta(minutes=1)
    return (
        PeriodicJob("desk", watch.look, 10 * seconds, 0 * seconds),
        PeriodicJob("validity", labels.turn, 10 * seconds, 10 * seconds),
        PeriodicJob("series", save_metrics, 10 * seconds, 10 * seconds),
        PeriodicJob("keys", save_use_of_keys, minutes, minutes),
        PeriodicJob("calibration", searches.catch_up, 5 * minutes, 5 * minutes),
        PeriodicJob("retention", retention.run, timedelta(days=1), 10 * minutes),
    )


class Jobs:
    """Runs jobs on the running event loop, from `start` to `close`."""

    def __init__(self, jobs: tuple[PeriodicJob, ...]) -> None:
        self._jobs = jobs
        self._scheduler = AsyncIOScheduler(timezone=UTC, job_defaults=_DEFAULTS)
        self._running: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Begins."""
        for job in self._jobs:
            first = datetime.now(UTC) + job.first
            self._scheduler.add_job(
                self._run, "interval", [job], seconds=job.every.total_seconds(), next_run_time=first, id=job.name
            )
        self._scheduler.start()

    async def close(self) -> None:
        """Stops; a job that is at it is cut short, for each goes on after the next start."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, job: PeriodicJob) -> None:
        task = asyncio.ensure_future(job.run())
        self._running.add(task)
        try:
            await task
        except Exception:  # the database may be away for a while; the next run comes
            logger.exception("the periodic job {} failed", job.name)
        finally:
            self._running.discard(task)
