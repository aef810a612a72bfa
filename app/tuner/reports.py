"""Reports that recommend parameters from labelled questions: made in the background, applied after confirmation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field

from app.db.base import now
from app.errors import Conflict, InvalidRequest, NotFound
from app.http.schemas import RequestBody
from app.ids import create_id
from app.jobs.types import JobContext, JobKind
from app.privacy import mask_personal_data
from app.search.verdict_service import describe_verdicts
from app.tuner import repository
from app.tuner.calibration import calibrate_threshold
from app.tuner.effects import CALIBRATION, SWEEP, find_effects
from app.tuner.grid import MAX_POINTS, GridPoint, TriedQuestion, build_grid, compare_points, locate_settings
from app.tuner.measurement import SearchMeasurement, build_outcome
from app.tuner.ranges import apply_overrides, check_values, require_consistent
from app.tuner.report_schemas import ParameterEffectOut
from app.tuner.types import Action, Params, TuningReport
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.calibration.fit import MIN_LABELLED
from knowledge.evaluation.cutoffs import Probabilities

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.search.service import CalibratedSearch
    from app.search.verdict_service import JudgingEstimate, VerdictService
    from app.search.verdicts import BaseVerdict
    from app.tuner.service import Tuner
    from app.tuner.types import TunedSettings

JUDGEMENT = "judgement"
# By kind of report, the job that makes it.
JOBS = {CALIBRATION: "tuner_calibration", SWEEP: "tuner_sweep", JUDGEMENT: "tuner_judgement"}
# Titles of reports that have none of their own.
TITLES = {CALIBRATION: "门槛校准", SWEEP: "参数扫描", JUDGEMENT: "大模型出题校准"}
# Starts the run that makes a report: tenant, kind and id of the report -> id of the run.
Trigger = Callable[[str, str, str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class NewReport:
    """A report to be made. title: for people; parameters: of the kind."""

    kind: str
    title: str
    parameters: dict[str, Any]
    by: str


class ReportOptions(RequestBody):
    """Which report; it is begun by `POST /api/v1/tuner/calibrations`, `/sweeps` and `/judgements`."""

    report: str = Field(max_length=32, description="报告的编号")


class OpenedTenant(Protocol):
    """See `TenantParts`."""

    @property
    def retriever(self) -> CalibratedSearch: ...

    @property
    def tuned(self) -> TunedSettings: ...


class OpenedTenants(Protocol):
    """See `Tenants`."""

    async def get_parts(self, tenant: str) -> OpenedTenant: ...

    def use_parts(self, tenant: str) -> AbstractAsyncContextManager[OpenedTenant]: ...


class Reports:
    """The reports of all tenants."""

    def __init__(
        self,
        database: Database,
        tuner: Tuner,
        tenants: OpenedTenants,
        measuring: SearchMeasurement,
        judging: VerdictService,
        trigger: Trigger,
    ) -> None:
        self._database = database
        self._tuner = tuner
        self._tenants = tenants
        self._measuring = measuring
        self.judging = judging
        self._trigger = trigger

    @property
    def kinds(self) -> tuple[JobKind, ...]:
        """The kinds of jobs that make reports, on demand."""
        return tuple(JobKind(JOBS[kind], TITLES[kind], self.make_report, parameters=ReportOptions) for kind in JOBS)

    async def begin_report(
        self, tenant: str, new: NewReport, questions: Sequence[LabelledQuestion] = ()
    ) -> TuningReport:
        """Stores a new report and starts the run that makes it. The questions are stored without personal data until it
        is finished; for a judgement a model writes its own. Raises InvalidRequest, Conflict.
        """
        if new.kind == JUDGEMENT:
            search = (await self._tenants.get_parts(tenant)).retriever
            self.judging.prepare(tenant, search, new.parameters["passages"])  # refused now, not by the run
        else:
            _require_enough(questions)
        if new.kind == SWEEP:
            points = _build_points(new.parameters)
            if len(points) > MAX_POINTS:
                raise InvalidRequest(f"一次最多扫描 {MAX_POINTS} 个组合", code="too_many_points", most=MAX_POINTS)
            for point in points:
                require_consistent(
                    apply_overrides(self._tuner.settings, check_values(point.to_values(), self._tuner.settings))
                )
        masked = [replace(question, text=mask_personal_data(question.text)) for question in questions]
        report = TuningReport(create_id(), new.kind, new.title, new.parameters, "", None, new.by, now(), None, None)
        await self._database.transact(lambda connection: repository.add_report(connection, tenant, report, masked))
        try:
            run = await self._trigger(tenant, new.kind, report.id)
        except Conflict:
            await self.delete_report(tenant, report.id)
            raise
        await self._change_row(tenant, report.id, run_id=run)
        return replace(report, run_id=run)

    async def estimate_judging(self, tenant: str, passages: int) -> JudgingEstimate:
        """Estimates the cost of having a model judge so many passages. Raises Conflict, GenerationUnavailable."""
        return await self.judging.prepare_estimate(tenant, (await self._tenants.get_parts(tenant)).retriever, passages)

    async def find_report(self, tenant: str, report_id: str) -> TuningReport:
        """Returns a report. Raises NotFound."""
        found = await self._database.run_in_reader(repository.find_report, tenant, report_id)
        if found is None:
            raise _build_unknown_error(report_id)
        return found

    async def load_page(self, tenant: str, kind: str, limit: int, offset: int) -> tuple[list[TuningReport], int]:
        """Returns one page of reports, the latest first, and the total number."""
        return await repository.load_report_page(self._database, tenant, kind, limit, offset)

    async def find_effects(self, tenant: str) -> dict[str, ParameterEffectOut]:
        """Returns by parameter what the last calibration and sweep of this base say about a step up and down."""
        made = {}
        for kind in (CALIBRATION, SWEEP):
            if report := await self._database.run_in_reader(repository.find_latest_report, tenant, kind):
                made[kind] = report
        parts = await self._tenants.get_parts(tenant)
        return find_effects(made, parts.tuned.settings, parts.retriever.revision, parts.tuned.params.version)

    async def delete_report(self, tenant: str, report_id: str) -> None:
        """Deletes a report; a run that was to make it does nothing. Raises NotFound."""
        if not await self._database.transact(
            lambda connection: repository.delete_report(connection, tenant, report_id)
        ):
            raise _build_unknown_error(report_id)

    async def apply_report(self, tenant: str, report_id: str, *, by: str, note: str = "") -> Params:
        """Puts in force what a report recommends, unless the parameters changed since it was made; the verdicts of a
        model change no parameter. Raises NotFound, Conflict, InvalidRequest.
        """
        report = await self.find_report(tenant, report_id)
        if report.result is None:
            raise Conflict("还没有做完，没有可采用的结果", code="report_not_finished", id=report_id)
        if report.kind == JUDGEMENT:
            await self.judging.put_in_force(tenant, report_id, report.result, by=by)
            params = (await self._tuner.reload_settings(tenant)).params
        else:
            values: dict[str, float] = report.result["values"]
            if not values:
                raise Conflict("这份结果没有建议改动", code="nothing_recommended", id=report_id)
            params = await self._tuner.set_values(
                tenant,
                values,
                by=by,
                note=note or f"采用{report.title or TITLES[report.kind]}",
                expected=report.result["params_version"],
                action=Action.CALIBRATION,
            )
        await self._change_row(tenant, report_id, applied=params.version)
        return params

    async def make_report(self, context: JobContext) -> dict[str, Any]:
        """Makes a report: the work of a job run. Returns the result of the run."""
        tenant, report_id = context.tenant, context.parameters["report"]
        report = await self._database.run_in_reader(repository.find_report, tenant, report_id)
        questions = await self._database.run_in_reader(repository.load_questions, tenant, report_id)
        if report is None or questions is None:
            return {"report": report_id, "made": False}
        async with self._tenants.use_parts(tenant) as parts:
            about = {"revision": parts.retriever.revision, "params_version": parts.tuned.params.version}
            make = {CALIBRATION: self._run_calibration, SWEEP: self._run_sweep, JUDGEMENT: self._run_judgement}[
                report.kind
            ]
            result = about | await make(context, parts.retriever, report.parameters, questions)
        await self._change_row(tenant, report_id, result=result, questions=None, finished_at=now())
        return {"report": report_id, "made": True}

    async def _change_row(self, tenant: str, report_id: str, **values: Any) -> None:
        await self._database.transact(
            lambda connection: repository.change_report(connection, tenant, report_id, values)
        )

    async def _run_calibration(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        questions: Sequence[LabelledQuestion],
    ) -> dict[str, Any]:
        answerable, others, least = list[float](), list[float](), search.settings.min_surviving_chunks
        async for found in self._measuring.search_questions(search, questions):
            (answerable if found.question.answerable else others).append(found.find_passing_threshold(least))
            await context.report_progress(len(answerable) + len(others), len(questions))
        scored = Probabilities(answerable, others)
        return await asyncio.to_thread(calibrate_threshold, scored, search.settings, parameters["refusal"])

    async def _run_judgement(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        _: Sequence[LabelledQuestion],
    ) -> dict[str, Any]:
        """The questions are the model's own, about the tenant's documents."""
        prepared = self.judging.prepare(context.tenant, search, parameters["passages"])
        total = len(prepared.chunks)
        verdicts: list[BaseVerdict] = []
        for done, chunk in enumerate(prepared.chunks):
            await context.report_progress(done, total)
            verdicts += await prepared.judge.judge([chunk])
        await context.report_progress(total, total)
        return await asyncio.to_thread(describe_verdicts, verdicts, search.settings.similarity_threshold)

    async def _run_sweep(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        questions: Sequence[LabelledQuestion],
    ) -> dict[str, Any]:
        points, outcomes = _build_points(parameters), list[list[TriedQuestion]]()
        total, done = (len(points) + 1) * len(questions), 0
        for point in (None, *points):
            if point is None:
                trial = search
            else:
                trial = await self._measuring.calibrate_search(
                    search, apply_overrides(search.settings, point.to_values())
                )
            found = []
            async for result in self._measuring.search_questions(trial, questions):
                found.append(build_outcome(result))
                done += 1
                await context.report_progress(done, total)
            outcomes.append(found)
        return await asyncio.to_thread(
            compare_points, locate_settings(search.settings), outcomes[0], points, outcomes[1:]
        )


def _require_enough(questions: Sequence[LabelledQuestion]) -> None:
    answerable = sum(question.answerable for question in questions)
    others = len(questions) - answerable
    if min(answerable, others) < MIN_LABELLED:  # a curve over fewer of either kind is noise
        raise Conflict(
            f"能答的和不能答的题目各要至少 {MIN_LABELLED} 道，现有 {answerable} 道和 {others} 道",
            code="too_few_questions",
            answerable=answerable,
            unanswerable=others,
            least=MIN_LABELLED,
        )


def _build_points(parameters: dict[str, Any]) -> list[GridPoint]:
    return build_grid(parameters["alphas"], parameters["ks"], parameters["widths"])


def _build_unknown_error(report_id: str) -> NotFound:
    return NotFound(f"没有编号为 {report_id} 的报告，可能已被删除", code="report_not_found", id=report_id)
