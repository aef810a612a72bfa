"""Calibrations and sweeps over the searches of tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.evaluation.dialogues import TurnKind
from app.settings import Settings
from app.tuner.kinds import NAMES
from app.tuner.measurement import SearchMeasurement
from app.tuner.questions import MAX_QUESTIONS, TuningQuestion
from app.tuner.reports import Reports

if TYPE_CHECKING:
    from app.evaluation.service import EvaluationSets
    from app.search.service import CalibratedSearch, Searches
    from app.wiring.container import Container


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


def build_tuner_reports(container: Container, searches: Searches) -> Reports:
    """Builds the reports of the tuner. Nothing that they find is in force before somebody confirms it."""

    def create_trial(search: CalibratedSearch, settings: Settings) -> CalibratedSearch:
        return searches.create_trial(search, container.base, settings)

    async def trigger(tenant: str, kind: str, report: str) -> str:
        return (await container.jobs.trigger_run(tenant, NAMES[kind], {"report": report})).id

    measuring = SearchMeasurement(create_trial, container.limits.slots)
    return Reports(container.base.database, container.tuner, container.tenants, measuring, container.judging, trigger)
