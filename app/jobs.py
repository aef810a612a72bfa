"""Schedules of the server; what they run is written elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from app.documents.repository_labels import LabelRepository
from app.retention.service import Retention
from app.search.service import Searches

CALIBRATION_MINUTES = 5
RETENTION_HOURS = 24
RETENTION_FIRST_MINUTES = 10
"""After the start, so that a server which is restarted every day deletes too."""


VALIDITY_SECONDS = 10
"""How late a document may come into force, or go out of it."""


def start_jobs(searches: Searches, retention: Retention, labels: LabelRepository) -> AsyncIOScheduler:
    """Starts all schedules on the running event loop; `shutdown` of the result stops them."""
    scheduler = AsyncIOScheduler(job_defaults={"coalesce": True, "max_instances": 1})
    scheduler.add_job(searches.catch_up, "interval", minutes=CALIBRATION_MINUTES, id="calibration")
    soon = datetime.now(UTC) + timedelta(minutes=RETENTION_FIRST_MINUTES)
    scheduler.add_job(retention.run, "interval", hours=RETENTION_HOURS, next_run_time=soon, id="retention")
    scheduler.add_job(labels.turn, "interval", seconds=VALIDITY_SECONDS, id="validity")
    scheduler.start()
    return scheduler
