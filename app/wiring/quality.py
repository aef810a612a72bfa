"""The quality check: what it reads of the other features, and running it without a server or by one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from loguru import logger

from agents.understanding.reading import read
from app.db.engine import Database
from app.db.migrate import open_migrated
from app.errors import Conflict
from app.jobs.repository import RunRepository
from app.jobs.types import OPEN, RunState
from app.profiles.repository import ProfileRepository
from app.quality.checks.registry import build_checks
from app.quality.checks.types import IssueKind, IssueState
from app.quality.repository import IssueFilters, load_page
from app.quality.schemas import QualityIssueOut
from app.quality.service import KIND, Nearest, QualityOptions, QualityService
from app.retrieval import build_default_profile
from app.settings import split_list
from app.wiring.knowledge import open_knowledge
from knowledge.errors import EmbeddingUnavailable
from knowledge.fusion import fuse_rankings
from knowledge.index import has_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.settings import Settings
    from app.wiring.knowledge import KnowledgeBase
    from knowledge.index import Index, Snapshot
    from knowledge.types import Chunk, Vector
    from knowledge.vocabulary import VocabularyEntry

LOOK_SECONDS = 0.5
# Passages and entries that are recalled for a question, and passages among them that its answer is held against.
RECALLED, NEAR = 50, 5
MAX_LISTED = 10_000


class _Sources:
    """See `app.quality.service.QualitySources`."""

    def __init__(self, settings: Settings, base: KnowledgeBase, profiles: ProfileRepository) -> None:
        self._weights = settings.rrf_vector_weight, settings.rrf_keyword_weight
        self._base = base
        self._profiles = profiles

    async def get_index(self, tenant: str) -> Index:
        return await self._base.open_index(tenant)

    async def list_vocabulary(self, tenant: str) -> list[VocabularyEntry]:
        return [stored.entry for stored in await self._base.vocabulary.list_all(tenant)]

    async def get_zone(self, tenant: str) -> ZoneInfo:
        return ZoneInfo((await self._profiles.get(tenant)).timezone)

    async def find_near(self, tenant: str, snapshot: Snapshot, questions: Sequence[str]) -> Nearest:
        """As the search recalls and fuses; by keywords alone where there are no vectors. As long as it works, it rests,
        since customers ask meanwhile.
        """
        vectors = await self._embed_questions(tenant, questions) if has_vectors(snapshot) and questions else {}
        analyzer = self._base.analyzers.get_history(tenant).get_analyzer(snapshot.revision)
        found: dict[str, Sequence[Chunk]] = {}
        for question in questions:
            began = perf_counter()
            hits = [await snapshot.search_lexical(analyzer.tokenize_question(question), RECALLED)]
            if question in vectors:
                hits.insert(0, await snapshot.search_dense(vectors[question], RECALLED))
            ranked = [[hit.chunk_id for hit in each] for each in hits]
            fused = fuse_rankings(zip(self._weights[-len(ranked) :], ranked, strict=True))
            passages = (snapshot.get_chunk(chunk_id) for chunk_id in fused)
            found[question] = list(islice((chunk for chunk in passages if chunk.question is None), NEAR))
            await asyncio.sleep(perf_counter() - began)
        return found

    async def _embed_questions(self, tenant: str, questions: Sequence[str]) -> dict[str, Vector]:
        embedder = await self._base.generations.get_embedder(tenant)
        try:
            made = await embedder.embed_questions([read(question).normalized_text for question in questions])
        except EmbeddingUnavailable as error:
            logger.bind(tenant=tenant).warning("answers are held against what keywords find alone: {}", error)
            return {}
        return dict(zip(questions, made, strict=True))


def build_quality_service(settings: Settings, base: KnowledgeBase, profiles: ProfileRepository) -> QualityService:
    """Builds the quality check over the parts of one process."""
    words = split_list(settings.quality_sensitive_words)
    return QualityService(base.database, _Sources(settings, base, profiles), build_checks(words))


@dataclass(frozen=True, slots=True)
class _Alone:
    """A run of nobody's queue; see `app.jobs.types.JobContext`."""

    tenant: str
    run_id: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)

    async def report_progress(self, done: int, total: int) -> None:
        """Does nothing: nobody asks."""


async def check_alone(settings: Settings, tenant: str, document_id: str) -> None:
    """Checks where no server runs; the caller holds the lock on DATA_DIR."""
    async with open_knowledge(settings, owns_index=True) as base:
        profiles = ProfileRepository(base.database, build_default_profile(settings))
        options = QualityOptions(document_id=document_id).model_dump()
        await build_quality_service(settings, base, profiles).run_check(_Alone(tenant, parameters=options))


async def check_by_server(settings: Settings, tenant: str, document_id: str) -> None:
    """Has the server that holds the lock check, and waits until it has. Raises Conflict where it cannot."""
    database = Database(settings.sql_url)
    try:
        runs = RunRepository(database)
        run = await runs.add(tenant, KIND, QualityOptions(document_id=document_id).model_dump())
        while run.state in OPEN:
            await asyncio.sleep(LOOK_SECONDS)
            run = await runs.get(tenant, run.id) or run
    finally:
        await database.close()
    if run.state is not RunState.DONE:
        told = (run.error or {}).get("message", run.state)
        raise Conflict(f"服务没有完成这次检查：{told}", code="quality_check_failed")


async def open_issues(
    settings: Settings, tenant: str, kind: IssueKind | None, document_id: str
) -> list[QualityIssueOut]:
    """Lists what the last check found and nobody ignored."""
    async with open_migrated(settings.sql_url) as database:
        filters = IssueFilters(kind, None, IssueState.OPEN, document_id)
        found, _ = await load_page(database, tenant, filters, 0, MAX_LISTED)
        return found
