"""The quality check: what it reads of the other features, and running it without a server or by one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from app.db.engine import Database
from app.db.migrate import open_migrated
from app.errors import Conflict
from app.jobs.repository import RunRepository
from app.jobs.types import OPEN, RunState
from app.profiles.repository import ProfileRepository
from app.quality.checks.registry import checks
from app.quality.checks.types import IssueKind, IssueState
from app.quality.repository import IssueFilters, StoredIssue
from app.quality.service import KIND, QualityOptions, QualityService
from app.retrieval import build_default_profile
from app.settings import split_list
from app.wiring.knowledge import open_knowledge

if TYPE_CHECKING:
    from app.settings import Settings
    from app.wiring.knowledge import KnowledgeBase
    from knowledge.index import Index
    from knowledge.vocabulary import VocabularyEntry

LOOK_SECONDS = 0.5
MAX_LISTED = 10_000


class _Sources:
    """See `app.quality.service.QualitySources`."""

    def __init__(self, base: KnowledgeBase, profiles: ProfileRepository) -> None:
        self._base = base
        self._profiles = profiles

    async def index(self, tenant: str) -> Index:
        return await self._base.open_index(tenant)

    async def vocabulary(self, tenant: str) -> list[VocabularyEntry]:
        return [stored.entry for stored in await self._base.vocabulary.list_all(tenant)]

    async def zone(self, tenant: str) -> ZoneInfo:
        return ZoneInfo((await self._profiles.get(tenant)).timezone)


def build_quality_service(settings: Settings, base: KnowledgeBase, profiles: ProfileRepository) -> QualityService:
    """Builds the quality check over the parts of one process."""
    return QualityService(base.database, _Sources(base, profiles), checks(split_list(settings.quality_sensitive_words)))


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
        await build_quality_service(settings, base, profiles).run(_Alone(tenant, parameters=options))


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


async def open_issues(settings: Settings, tenant: str, kind: IssueKind | None, document_id: str) -> list[StoredIssue]:
    """What the last check found and nobody ignored."""
    async with open_migrated(settings.sql_url) as database:
        filters = IssueFilters(kind, None, IssueState.OPEN, document_id)
        found, _ = await QualityService.listed(database, tenant, filters, 0, MAX_LISTED)
        return found
