"""Calibrations and sweeps over the searches of tenants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.evaluation.dialogues import TurnKind
from app.tuner.kinds import NAMES
from app.tuner.measurement import SearchMeasurement
from app.tuner.questions import MAX_QUESTIONS, TuningQuestion
from app.tuner.reports import Reports

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.evaluation_sets.service import EvaluationSets
    from app.jobs.service import JobService
    from app.limits.slots import TurnSlots
    from app.search.service import Searches
    from app.search.verdict_service import VerdictService
    from app.tenants import Tenants
    from app.tuner.service import Tuner


class LabelledCases:
    """Implements `LabelledSets` by evaluation sets: of every case its first message, which leans on nothing before it,
    where that is to be answered from the knowledge base, or to be refused.
    """

    def __init__(self, sets: EvaluationSets) -> None:
        self._sets = sets

    async def load_questions(self, tenant: str, name: str) -> list[TuningQuestion]:
        """name: the id of a set. See `LabelledSets`."""
        cases, _ = await self._sets.list_cases(tenant, name, limit=MAX_QUESTIONS)
        found = []
        for turn in (case.dialogue.turns[0] for case in cases):
            kinds = turn.expect.kinds
            if kinds == {TurnKind.ANSWER} or (TurnKind.REFUSE in kinds and TurnKind.ANSWER not in kinds):
                found.append(TuningQuestion(turn.say, TurnKind.ANSWER in kinds, turn.expect.documents))
        return found


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
        return (await get_jobs().trigger_run(tenant, NAMES[kind], {"report": report})).id

    measuring = SearchMeasurement(searches.create_trial, slots)
    return Reports(database, tuner, tenants, measuring, judging, trigger)
