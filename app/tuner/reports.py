"""What would be better, by labelled questions: made in the background, put in force by somebody who confirms it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.errors import Conflict, InvalidRequest, NotFound
from app.ids import create_id
from app.privacy import mask_personal_data
from app.search.verdict_service import describe_verdicts
from app.tuner import repository_reports as rows
from app.tuner.calibrating import ScoredQuestion, calibrated
from app.tuner.effects import CALIBRATION, SWEEP, ParameterEffect, effects
from app.tuner.grid import MAX_POINTS, GridPoint, TriedQuestion, grid, standing, swept
from app.tuner.labelled import TuningQuestion, enough
from app.tuner.measuring import Measuring
from app.tuner.ranges import checked, fitting, tuned
from app.tuner.repository_reports import TuningReport
from app.tuner.types import Action, Params

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.jobs.types import JobContext
    from app.search.service import CalibratedSearch
    from app.search.verdict_service import JudgingEstimate, VerdictService
    from app.search.verdicts import BaseVerdict
    from app.tenants import Tenants
    from app.tuner.service import Tuner

JUDGEMENT = "judgement"
TITLES = {CALIBRATION: "门槛校准", SWEEP: "参数扫描", JUDGEMENT: "大模型出题校准"}
"""Of what has no name of its own."""
Trigger = Callable[[str, str, str], Awaitable[str]]
"""Begins the run that makes a report: tenant, kind and id of the report -> id of the run."""


@dataclass(frozen=True, slots=True)
class NewReport:
    """What is to be found out. title: for people; parameters: of the kind."""

    kind: str
    title: str
    parameters: dict[str, Any]
    by: str


class Reports:
    """Of all tenants."""

    def __init__(
        self,
        database: Database,
        tuner: Tuner,
        tenants: Tenants,
        measuring: Measuring,
        judging: VerdictService,
        trigger: Trigger,
    ) -> None:
        self._database = database
        self._tuner = tuner
        self._tenants = tenants
        self._measuring = measuring
        self.judging = judging
        self._trigger = trigger

    async def begin(self, tenant: str, wish: NewReport, questions: Sequence[TuningQuestion] = ()) -> TuningReport:
        """Of questions without personal data, which are kept until the report is made; a model writes its own. Raises
        InvalidRequest, Conflict.
        """
        if wish.kind == JUDGEMENT:
            search = (await self._tenants.get_parts(tenant)).retriever
            self.judging.prepare(tenant, search, wish.parameters["passages"])  # refused now, not by the run
        else:
            enough(questions)
        if wish.kind == SWEEP:
            points = _points(wish.parameters)
            if len(points) > MAX_POINTS:
                raise InvalidRequest(f"一次最多扫描 {MAX_POINTS} 个组合", code="too_many_points", most=MAX_POINTS)
            for point in points:
                fitting(tuned(self._tuner.settings, checked(point.values(), self._tuner.settings)))
        asked = [replace(question, text=mask_personal_data(question.text)) for question in questions]
        report = TuningReport(create_id(), wish.kind, wish.title, wish.parameters, "", None, wish.by, now(), None, None)
        await self._database.transact(lambda connection: rows.add(connection, tenant, report, asked))
        try:
            run = await self._trigger(tenant, wish.kind, report.id)
        except Conflict:
            await self.drop(tenant, report.id)
            raise
        await self._database.transact(lambda connection: rows.started(connection, tenant, report.id, run))
        return replace(report, run_id=run)

    async def estimate(self, tenant: str, passages: int) -> JudgingEstimate:
        """What it takes to have a model judge so many passages. Raises Conflict, GenerationUnavailable."""
        return await self.judging.prepare_estimate(tenant, (await self._tenants.get_parts(tenant)).retriever, passages)

    async def find(self, tenant: str, report_id: str) -> TuningReport:
        """Raises NotFound."""
        async with self._database.read() as connection:
            found = await connection.run_sync(rows.find, tenant, report_id)
        if found is None:
            raise _unknown(report_id)
        return found

    async def page(self, tenant: str, kind: str, limit: int, offset: int) -> tuple[list[TuningReport], int]:
        """Reports, the latest first, and how many there are."""
        async with self._database.read() as connection:
            return await connection.run_sync(rows.page, tenant, kind, limit, offset)

    async def effects(self, tenant: str) -> dict[str, ParameterEffect]:
        """By parameter, what the last calibration and the last sweep of this base say of a step up and down."""
        async with self._database.read() as connection:
            found = {kind: await connection.run_sync(rows.find_latest, tenant, kind) for kind in (CALIBRATION, SWEEP)}
        made = {kind: report for kind, report in found.items() if report is not None}
        parts = await self._tenants.get_parts(tenant)
        return effects(made, parts.tuned.settings, parts.retriever.revision, parts.tuned.params.version)

    async def drop(self, tenant: str, report_id: str) -> None:
        """Deletes a report; a run that makes it finds nothing to do. Raises NotFound."""
        if not await self._database.transact(lambda connection: rows.drop(connection, tenant, report_id)):
            raise _unknown(report_id)

    async def apply(self, tenant: str, report_id: str, *, by: str, note: str = "") -> Params:
        """Puts in force what a report recommends, unless the parameters changed since it looked at them; a model's
        verdicts move no parameter. Raises NotFound, Conflict, InvalidRequest.
        """
        report = await self.find(tenant, report_id)
        if report.result is None:
            raise Conflict("还没有做完，没有可采用的结果", code="report_not_finished", id=report_id)
        if report.kind == JUDGEMENT:
            await self.judging.put_in_force(tenant, report_id, report.result, by=by)
            params = (await self._tuner.read(tenant)).params
            await self._database.transact(
                lambda connection: rows.applied(connection, tenant, report_id, params.version)
            )
            return params
        values: dict[str, float] = report.result["values"]
        if not values:
            raise Conflict("这份结果没有建议改动", code="nothing_recommended", id=report_id)
        params = await self._tuner.put(
            tenant,
            values,
            by=by,
            note=note or f"采用{report.title or TITLES[report.kind]}",
            expected=report.result["params_version"],
            action=Action.CALIBRATION,
        )
        await self._database.transact(lambda connection: rows.applied(connection, tenant, report_id, params.version))
        return params

    async def make(self, context: JobContext) -> dict[str, Any]:
        """The work of a run."""
        tenant, report_id = context.tenant, context.parameters["report"]
        async with self._database.read() as connection:
            report = await connection.run_sync(rows.find, tenant, report_id)
            questions = await connection.run_sync(rows.asked, tenant, report_id)
        if report is None or questions is None:
            return {"report": report_id, "made": False}
        async with self._tenants.use_parts(tenant) as parts:
            about = {"revision": parts.retriever.revision, "params_version": parts.tuned.params.version}
            make = {CALIBRATION: self._calibration, SWEEP: self._sweep, JUDGEMENT: self._judgement}[report.kind]
            result = about | await make(context, parts.retriever, report.parameters, questions)
        await self._database.transact(lambda connection: rows.finish(connection, tenant, report_id, result))
        return {"report": report_id, "made": True}

    async def _calibration(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        questions: Sequence[TuningQuestion],
    ) -> dict[str, Any]:
        scored, least = [], search.settings.min_surviving_chunks
        async for found in self._measuring.asked(search, questions):
            scored.append(ScoredQuestion(found.question.answerable, found.probability(least)))
            await context.report_progress(len(scored), len(questions))
        return await asyncio.to_thread(calibrated, scored, search.settings, parameters["refusal"])

    async def _judgement(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        _: Sequence[TuningQuestion],
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

    async def _sweep(
        self,
        context: JobContext,
        search: CalibratedSearch,
        parameters: dict[str, Any],
        questions: Sequence[TuningQuestion],
    ) -> dict[str, Any]:
        points, outcomes = _points(parameters), list[list[TriedQuestion]]()
        total, done = (len(points) + 1) * len(questions), 0
        for point in (None, *points):
            if point is None:
                tried = search
            else:
                tried = await self._measuring.calibrated(search, tuned(search.settings, point.values()))
            found = []
            async for one in self._measuring.asked(tried, questions):
                found.append(one.outcome())
                done += 1
                await context.report_progress(done, total)
            outcomes.append(found)
        return await asyncio.to_thread(swept, standing(search.settings), outcomes[0], points, outcomes[1:])


def _points(parameters: dict[str, Any]) -> list[GridPoint]:
    return grid(parameters["alphas"], parameters["ks"], parameters["widths"])


def _unknown(report_id: str) -> NotFound:
    return NotFound(f"没有编号为 {report_id} 的报告，可能已被删除", code="report_not_found", id=report_id)
