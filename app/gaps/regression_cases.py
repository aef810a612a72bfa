"""Questions that were gaps once, as cases of an evaluation set: each has to be answered by the entry that closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation.types import CaseOrigin, NewCase

if TYPE_CHECKING:
    from app.evaluation.service import EvaluationSets

# The evaluation set of questions that were gaps once.
CASES = "缺口回归"


class RegressionCases:
    """The cases of this set, one of each gap that was answered."""

    def __init__(self, sets: EvaluationSets) -> None:
        self._sets = sets

    async def add(self, tenant: str, gap_id: str, question: str, faq_id: str) -> None:
        """Adds the test that a question is answered from an entry, in place of an earlier case of the gap."""
        kept = await self._sets.get_or_add(tenant, CASES, "补上的知识缺口：每一条都应由补上的精选问答回答")
        expect = Expectation(frozenset({TurnKind.ANSWER}), documents=(faq_id,))
        key = f"gap-{gap_id}"
        dialogue = Dialogue(key, (LabelledTurn(f"{key}.1", question, "gap", expect),))
        await self._sets.put(tenant, kept.id, [NewCase(dialogue, CaseOrigin.GAP, gap_id)])

    async def remove(self, tenant: str, gap_id: str) -> None:
        """Takes it out of every set that has it."""
        for kept in await self._sets.list_all(tenant):
            cases, _ = await self._sets.list_cases(tenant, kept.id, origin=CaseOrigin.GAP)
            for case in cases:
                if case.origin_id == gap_id:
                    await self._sets.drop_case(tenant, kept.id, case.id)
