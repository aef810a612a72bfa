"""Evaluation runs and their reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.evaluation.comparing import ReportComparison, compared
from app.evaluation.judging import TurnVerdict
from app.evaluation.results import TurnResult, figures
from app.evaluation_runs import repository
from app.evaluation_runs.runner import KIND
from app.evaluation_runs.types import EvaluationReport
from app.evaluation_sets.service import EvaluationSets
from app.jobs.service import JobService
from app.jobs.types import OPEN, JobRun

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A report with the run that makes it; None once that is deleted by age."""

    report: EvaluationReport
    run: JobRun | None


class EvaluationRuns:
    """jobs: which the runs are of."""

    def __init__(self, database: Database, sets: EvaluationSets, jobs: JobService) -> None:
        self._database = database
        self._sets = sets
        self._jobs = jobs

    async def start(self, tenant: str, parameters: Mapping[str, Any]) -> ReportedRun:
        """Begins a run; while one of the same set is queued or running, that one. Raises NotFound, Conflict."""
        found = await self._sets.get(tenant, parameters["set_id"])
        if not found.cases:
            raise Conflict("评测集里还没有题目。", code="empty_evaluation_set", id=found.id)
        run = await self._jobs.trigger(tenant, KIND, dict(parameters))
        report = EvaluationReport(run.id, found.id, found.name, {}, {}, now(), None)
        await self._database.transact(lambda connection: repository.begin(connection, tenant, report))
        return await self.get(tenant, run.id)

    async def reports(
        self, tenant: str, set_id: str, limit: int, offset: int, sort: str = ""
    ) -> tuple[list[ReportedRun], int]:
        """Reports, the latest first unless `sort` says otherwise, and how many there are. set_id: "" for all."""
        async with self._database.read() as connection:
            found, total = await connection.run_sync(
                lambda sync: repository.reports(sync, tenant, set_id=set_id, sort=sort, limit=limit, offset=offset)
            )
        return [ReportedRun(one, await self._jobs.run(tenant, one.id)) for one in found], total

    async def get(self, tenant: str, report_id: str) -> ReportedRun:
        """With the figures of what there is by now. Raises NotFound."""
        async with self._database.read() as connection:
            found = await connection.run_sync(_known, tenant, report_id)
            if found.finished_at is None:
                results, _ = await connection.run_sync(repository.results, tenant, report_id)
                found = replace(found, figures=figures(results) if results else {})
        return ReportedRun(found, await self._jobs.run(tenant, report_id))

    async def results(
        self, tenant: str, report_id: str, *, verdict: TurnVerdict | None, text: str, tag: str, limit: int, offset: int
    ) -> tuple[list[TurnResult], int]:
        """What came of turns, and how many there are. Raises NotFound."""
        async with self._database.read() as connection:
            await connection.run_sync(_known, tenant, report_id)
            return await connection.run_sync(
                lambda sync: repository.results(
                    sync, tenant, report_id, verdict=verdict, text=text, tag=tag, limit=limit, offset=offset
                )
            )

    async def compare(self, tenant: str, before: str, after: str) -> ReportComparison:
        """Two reports turn by turn. Raises NotFound."""
        async with self._database.read() as connection:
            for one in (before, after):
                await connection.run_sync(_known, tenant, one)
            old, _ = await connection.run_sync(repository.results, tenant, before)
            new, _ = await connection.run_sync(repository.results, tenant, after)
        return compared(old, new)

    async def drop(self, tenant: str, report_id: str) -> None:
        """Deletes a report. Raises NotFound, Conflict while its run is not over."""
        found = await self.get(tenant, report_id)
        if found.run is not None and found.run.state in OPEN:
            raise Conflict("评测还在运行，请先取消。", code="evaluation_running", id=report_id)
        await self._database.transact(lambda connection: repository.drop(connection, tenant, report_id))


def _known(connection: Connection, tenant: str, report_id: str) -> EvaluationReport:
    found = repository.report(connection, tenant, report_id)
    if found is None:
        raise NotFound("没有这份评测报告，可能已被删除。", code="evaluation_report_not_found", id=report_id)
    return found
