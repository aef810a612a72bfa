"""Gaps, put together from what finds and answers questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation.types import CaseOrigin, NewCase
from app.gaps.draft_writer import DraftWriter
from app.gaps.miner import GapMiner
from app.gaps.repository import GapRepository
from app.gaps.repository_drafts import DraftRepository
from app.gaps.review import GapReview
from app.gaps.workbench import GapWorkbench

if TYPE_CHECKING:
    from app.evaluation.service import EvaluationSets
    from app.faqs.service import FaqService
    from app.tenants import Tenants
    from app.wiring.knowledge import KnowledgeBase
    from app.wiring.models import LanguageModels
    from knowledge.types import Retrieval

# The evaluation set of questions that were gaps once.
CASES = "缺口回归"


class GapCases:
    """See `RegressionCases`."""

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


def build_gap_parts(
    base: KnowledgeBase,
    tenants: Tenants,
    models: LanguageModels,
    faqs: FaqService,
    evaluation_sets: EvaluationSets,
    threshold: float,
) -> tuple[GapWorkbench, GapMiner, GapReview]:
    """Builds the workbench, the mining and the review of gaps. threshold: from which an answer is sure."""

    async def search(tenant: str, question: str) -> Retrieval:
        return await (await tenants.get_parts(tenant)).retriever.search(question)

    database = base.database
    mining = GapMiner(database, base.generations.get_embedder, search, threshold)
    workbench, drafts = GapWorkbench(GapRepository(database), search), DraftRepository(database)
    drafting = DraftWriter(workbench, drafts, lambda tenant: models.for_tenant(tenant).build_drafter())
    cases = GapCases(evaluation_sets)
    return workbench, mining, GapReview(database, workbench, drafting, drafts, faqs, cases)
