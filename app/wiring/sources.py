"""Sources of documents, put together: what fetches, what looks through folders, and the job that syncs one."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from app.jobs.types import JobKind
from app.net.fetcher import Fetcher
from app.net.pace import HostPace
from app.settings import Settings
from app.sources.folder import FolderSync
from app.sources.repository import SourceRepository
from app.sources.service import KIND, SourceLimits, SourceService
from app.sources.website import WebsiteSync
from app.wiring.knowledge import KnowledgeBase


def build_source_service(settings: Settings, base: KnowledgeBase, fetcher: Fetcher) -> SourceService:
    """Builds the service of all tenants' sources."""
    return SourceService(
        SourceRepository(base.database),
        base.ingestion,
        base.ingestor,
        WebsiteSync(fetcher, HostPace(), base.ingestor),
        FolderSync(settings.max_upload_bytes),
        SourceLimits(settings.sources_per_tenant, settings.list_roots),
    )


class SourceSyncParameters(BaseModel):
    """Which source."""

    model_config = ConfigDict(extra="forbid")

    source_id: str = Field(max_length=32, description="数据来源的编号")


def sync_kind(sources: SourceService) -> JobKind:
    """Builds the job that syncs a source; the sources themselves say when each is due."""
    return JobKind(KIND, "同步数据来源", sources.sync, parameters=SourceSyncParameters)
