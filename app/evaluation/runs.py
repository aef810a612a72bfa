"""Evaluation runs: the job that plays a set through the product, and the reports that it makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Unpack

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, NotFound
from app.evaluation import repository
from app.evaluation.comparison import ReportComparison, compare_results
from app.evaluation.model_judge import ModelJudge
from app.evaluation.playback import play_dialogues
from app.evaluation.results import ResultQuery, TurnResult, compute_figures
from app.evaluation.schemas import EvaluationReportOut, EvaluationRunIn
from app.evaluation.service import EvaluationSets
from app.evaluation.types import EvaluatedProduct, EvaluationReport
from app.jobs.service import JobService
from app.jobs.types import OPEN, JobContext, JobKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.evaluation.dialogues import Dialogue

KIND = "evaluation"
# The product of a tenant, of which nothing is kept.
Sandbox = Callable[[str], AbstractAsyncContextManager[EvaluatedProduct]]
_SUMMARY = ("turns", "correct", "accuracy", "false_answers", "hallucination_rate", "faithfulness", "relevance")


class EvaluationRunner:
    """judge: of a tenant, on its account, None where no model is configured; circumstances: what answers now, for the
    report.
    """

    def __init__(
        self,
        database: Database,
        sets: EvaluationSets,
        sandbox: Sandbox,
        judge: Callable[[str], ModelJudge | None],
        circumstances: Callable[[str], Awaitable[dict[str, Any]]],
    ) -> None:
        self._database = database
        self._sets = sets
        self._sandbox = sandbox
        self._judge = judge
        self._circumstances = circumstances

    @property
    def kind(self) -> JobKind:
        """As the jobs know it. A run that was cut short goes on with the conversations that have no results."""
        return JobKind(KIND, "评测", self.run, parameters=EvaluationRunIn)

    async def run(self, context: JobContext) -> dict[str, Any]:
        """Runs an evaluation, and returns the most important figures. Raises NotFound, Conflict, Cancelled."""
        wanted = EvaluationRunIn.model_validate(context.parameters)
        tenant, report = context.tenant, context.run_id
        dialogues = await self._begin(tenant, report, wanted)
        done = await self._database.run_in_reader(repository.list_judged_cases, tenant, report)
        turns = sum(len(one.turns) for one in dialogues)
        played = sum(len(one.turns) for one in dialogues if one.id in done)
        judge = self._judge(tenant) if wanted.judge else None
        async with self._sandbox(tenant) as product:
            for place, dialogue in enumerate(dialogues):
                if dialogue.id in done:
                    continue
                await context.report_progress(played, turns)
                results = await _play_dialogue(product, dialogue, judge)
                await self._keep_results(tenant, report, place, results)
                played += len(results)
        await context.report_progress(turns, turns)
        return await self._finish(tenant, report)

    async def _begin(self, tenant: str, report_id: str, wanted: EvaluationRunIn) -> list[Dialogue]:
        found = await self._sets.get_filled(tenant, wanted.set_id)
        cases, _ = await self._sets.list_cases(tenant, wanted.set_id)
        circumstances = await self._circumstances(tenant)
        judge = self._judge(tenant) if wanted.judge else None
        circumstances["judge"] = judge.name if judge is not None else ""
        report = EvaluationReport(report_id, found.id, found.name, circumstances, {}, now(), None)

        def work(connection: Connection) -> None:
            repository.add_report(connection, tenant, report)
            repository.change_report(connection, tenant, report_id, circumstances=circumstances)

        await self._database.transact(work)
        return [case.dialogue for case in cases]

    async def _keep_results(self, tenant: str, report: str, place: int, results: Sequence[TurnResult]) -> None:
        await self._database.transact(
            lambda connection: repository.add_results(connection, tenant, report, place, results)
        )

    async def _finish(self, tenant: str, report: str) -> dict[str, Any]:
        def work(connection: Connection) -> dict[str, Any]:
            results, _ = repository.list_results(connection, tenant, report)
            figures = compute_figures(results)
            repository.change_report(connection, tenant, report, figures=figures, finished_at=now())
            return figures

        figures = await self._database.transact(work)
        return {name: figures[name] for name in _SUMMARY}


async def _play_dialogue(product: EvaluatedProduct, dialogue: Dialogue, judge: ModelJudge | None) -> list[TurnResult]:
    """Plays one conversation and returns the results of its turns."""
    played = await play_dialogues(product, [dialogue], date.today())
    if judge is None:
        return [turn.result for turn in played]
    return [await judge.judge_turn(turn, product.chunks) for turn in played]


class EvaluationRuns:
    """jobs: which the runs are of."""

    def __init__(self, database: Database, sets: EvaluationSets, jobs: JobService) -> None:
        self._database = database
        self._sets = sets
        self._jobs = jobs

    async def start(self, tenant: str, parameters: Mapping[str, Any]) -> EvaluationReportOut:
        """Begins a run; while one of the same set is queued or running, that one. Raises NotFound, Conflict."""
        found = await self._sets.get_filled(tenant, parameters["set_id"])
        run = await self._jobs.trigger_run(tenant, KIND, dict(parameters))
        report = EvaluationReport(run.id, found.id, found.name, {}, {}, now(), None)
        await self._database.transact(lambda connection: repository.add_report(connection, tenant, report))
        return await self.get(tenant, run.id)

    async def list_reports(
        self, tenant: str, set_id: str, limit: int, offset: int, sort: str = ""
    ) -> tuple[list[EvaluationReportOut], int]:
        """Reports, the latest first unless `sort` says otherwise, and how many there are. set_id: "" for all."""
        found, total = await repository.list_reports(
            self._database, tenant, set_id=set_id, sort=sort, limit=limit, offset=offset
        )
        return [EvaluationReportOut.from_report(one, await self._jobs.find_run(tenant, one.id)) for one in found], total

    async def get(self, tenant: str, report_id: str) -> EvaluationReportOut:
        """Returns a report with the figures of the results that there are by now. Raises NotFound."""

        def work(connection: Connection) -> EvaluationReport:
            found = _get_report(connection, tenant, report_id)
            if found.finished_at is not None:
                return found
            results, _ = repository.list_results(connection, tenant, report_id)
            return replace(found, figures=compute_figures(results) if results else {})

        found = await self._database.run_in_reader(work)
        return EvaluationReportOut.from_report(found, await self._jobs.find_run(tenant, report_id))

    async def list_results(
        self, tenant: str, report_id: str, **wanted: Unpack[ResultQuery]
    ) -> tuple[list[TurnResult], int]:
        """Returns a page of the results of turns, and their total number. Raises NotFound."""

        def work(connection: Connection) -> tuple[list[TurnResult], int]:
            _get_report(connection, tenant, report_id)
            return repository.list_results(connection, tenant, report_id, **wanted)

        return await self._database.run_in_reader(work)

    async def compare_reports(self, tenant: str, before: str, after: str) -> ReportComparison:
        """Compares two reports turn by turn. Raises NotFound."""
        old, _ = await self.list_results(tenant, before)
        new, _ = await self.list_results(tenant, after)
        return compare_results(old, new)

    async def delete_report(self, tenant: str, report_id: str) -> None:
        """Deletes a report. Raises NotFound, Conflict while its run is not over."""
        found = await self.get(tenant, report_id)
        if found.state in OPEN:
            raise Conflict("评测还在运行，请先取消。", code="evaluation_running", id=report_id)
        await self._database.transact(lambda connection: repository.delete_report(connection, tenant, report_id))


def _get_report(connection: Connection, tenant: str, report_id: str) -> EvaluationReport:
    found = repository.find_report(connection, tenant, report_id)
    if found is None:
        raise NotFound("没有这份评测报告，可能已被删除。", code="evaluation_report_not_found", id=report_id)
    return found
