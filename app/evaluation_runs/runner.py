"""Plays an evaluation set through the product: the job that makes a report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict
from app.evaluation.model_judge import ModelJudge
from app.evaluation.playback import play_dialogues
from app.evaluation.results import TurnResult, build_result, compute_figures
from app.evaluation.types import EvaluatedProduct
from app.evaluation_runs import repository
from app.evaluation_runs.types import EvaluationReport
from app.evaluation_sets.service import EvaluationSets
from app.jobs.types import JobContext, JobKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.evaluation.dialogues import Dialogue

KIND = "evaluation"
# The product of a tenant, of which nothing is kept.
Sandbox = Callable[[str], AbstractAsyncContextManager[EvaluatedProduct]]
_SUMMARY = ("turns", "correct", "accuracy", "false_answers", "hallucination_rate", "faithfulness", "relevance")


class RunParameters(BaseModel):
    """What is played. judge: by the model too, where there is one."""

    model_config = ConfigDict(extra="forbid")

    set_id: str = Field(min_length=1, max_length=32)
    judge: bool = True


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
        return JobKind(KIND, "评测", self.run, parameters=RunParameters)

    async def run(self, context: JobContext) -> dict[str, Any]:
        """The most important figures. Raises NotFound, Conflict, Cancelled."""
        wanted = RunParameters.model_validate(context.parameters)
        tenant, report = context.tenant, context.run_id
        dialogues = await self._begin(tenant, report, wanted)
        async with self._database.read() as connection:
            done = await connection.run_sync(repository.list_judged_cases, tenant, report)
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

    async def _begin(self, tenant: str, report_id: str, wanted: RunParameters) -> list[Dialogue]:
        found = await self._sets.get(tenant, wanted.set_id)
        cases, _ = await self._sets.list_cases(tenant, wanted.set_id)
        if not cases:
            raise Conflict("评测集里还没有题目。", code="empty_evaluation_set", id=wanted.set_id)
        circumstances = await self._circumstances(tenant)
        judge = self._judge(tenant) if wanted.judge else None
        circumstances["judge"] = judge.name if judge is not None else ""
        report = EvaluationReport(report_id, found.id, found.name, circumstances, {}, now(), None)

        def work(connection: Connection) -> None:
            repository.begin(connection, tenant, report)
            repository.describe(connection, tenant, report_id, {"circumstances": circumstances})

        await self._database.transact(work)
        return [case.dialogue for case in cases]

    async def _keep_results(self, tenant: str, report: str, place: int, results: Sequence[TurnResult]) -> None:
        await self._database.transact(
            lambda connection: repository.add_results(connection, tenant, report, place, results)
        )

    async def _finish(self, tenant: str, report: str) -> dict[str, Any]:
        def work(connection: Connection) -> dict[str, Any]:
            results, _ = repository.list_results(connection, tenant, report)
            told = compute_figures(results)
            repository.finish(connection, tenant, report, told, now())
            return told

        told = await self._database.transact(work)
        return {name: told[name] for name in _SUMMARY}


async def _play_dialogue(product: EvaluatedProduct, dialogue: Dialogue, judge: ModelJudge | None) -> list[TurnResult]:
    """What came of one conversation."""
    results = []
    for played in await play_dialogues(product, [dialogue], date.today()):
        result = build_result(played)
        if judge is not None and result.unfounded is not None:
            result = await judge.judge_turn(played, result, product.chunks)
        results.append(result)
    return results
