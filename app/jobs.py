"""Schedules of the server; what they run is written elsewhere."""

from __future__ import annotations

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from app.knowledge_ops.search import Searches

CALIBRATION_MINUTES = 5


def start_jobs(searches: Searches) -> AsyncIOScheduler:
    """Starts all schedules on the running event loop; `shutdown` of the result stops them."""
    scheduler = AsyncIOScheduler(job_defaults={"coalesce": True, "max_instances": 1})
    scheduler.add_job(searches.catch_up, "interval", minutes=CALIBRATION_MINUTES, id="calibration")
    scheduler.start()
    return scheduler
