"""Gaps, put together from what finds and answers questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.gaps.draft_writer import DraftWriter
from app.gaps.miner import GapMiner
from app.gaps.regression_cases import RegressionCases
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
    cases = RegressionCases(evaluation_sets)
    return workbench, mining, GapReview(database, workbench, drafting, drafts, faqs, cases)
