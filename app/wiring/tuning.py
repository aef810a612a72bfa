"""Calibrations and sweeps over the searches of tenants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.tuner.measurement import SearchMeasurement
from app.tuner.reports import JOBS, Reports

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.jobs.service import JobService
    from app.limits.slots import TurnSlots
    from app.search.service import Searches
    from app.search.verdict_service import VerdictService
    from app.tenants import Tenants
    from app.tuner.service import Tuner


def build_tuner_reports(
    database: Database,
    tuner: Tuner,
    tenants: Tenants,
    searches: Searches,
    slots: TurnSlots,
    judging: VerdictService,
    get_jobs: Callable[[], JobService],
) -> Reports:
    """Builds the reports of the tuner. Nothing that they find is in force before somebody confirms it.

    get_jobs: gives the jobs, one kind of which makes these reports.
    """

    async def trigger(tenant: str, kind: str, report: str) -> str:
        return (await get_jobs().trigger_run(tenant, JOBS[kind], {"report": report})).id

    measuring = SearchMeasurement(searches, slots)
    return Reports(database, tuner, tenants, measuring, judging, trigger)
