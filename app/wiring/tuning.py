"""Calibrations and sweeps over the searches of tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.settings import Settings
from app.tuner.measurement import SearchMeasurement
from app.tuner.reports import JOBS, Reports

if TYPE_CHECKING:
    from app.search.service import CalibratedSearch, Searches
    from app.wiring.container import Container


def build_tuner_reports(container: Container, searches: Searches) -> Reports:
    """Builds the reports of the tuner. Nothing that they find is in force before somebody confirms it."""

    def create_trial(search: CalibratedSearch, settings: Settings) -> CalibratedSearch:
        return searches.create_trial(search, container.base, settings)

    async def trigger(tenant: str, kind: str, report: str) -> str:
        return (await container.jobs.trigger_run(tenant, JOBS[kind], {"report": report})).id

    measuring = SearchMeasurement(create_trial, container.limits.slots)
    return Reports(container.base.database, container.tuner, container.tenants, measuring, container.judging, trigger)
