"""The sources of a tenant: kept, synced, and due again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.db.base import now
from app.documents.ingestion import IngestionService
from app.errors import Conflict, NotFound, describe
from app.jobs.service import JobService
from app.jobs.types import Cancelled, JobContext, JobRun
from app.net.targets import check_url
from app.sources.document_keeper import DocumentKeeper, SourceDeleted
from app.sources.folder import FolderSync, check_folder
from app.sources.repository import SourceRepository
from app.sources.types import FolderConfig, ItemState, NewSource, WatchedSource, WebsiteConfig
from app.sources.website import WebsiteSync
from knowledge.ingest import Ingestor

KIND = "source_sync"
# The parameter that names the source of a run.
ONE = "source_id"
# Documents that expire together when their source is deleted.
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """most: sources of a tenant; roots: of a tenant, see `check_folder`."""

    most: int
    roots: Callable[[str], tuple[Path, ...]]


class SourceService:
    """What an administrator does with sources, and what a sync of one does."""

    def __init__(
        self,
        rows: SourceRepository,
        ingestion: IngestionService,
        ingestor: Ingestor,
        website: WebsiteSync,
        folder: FolderSync,
        limits: SourceLimits,
    ) -> None:
        self.rows, self.limits = rows, limits
        self._ingestion, self._ingestor = ingestion, ingestor
        self._website, self._folder = website, folder

    async def add(self, tenant: str, new: NewSource) -> WatchedSource:
        """Raises InvalidRequest for what must not be looked at, Conflict for one too many, FetchUnavailable."""
        self._check(tenant, new.config)
        made = await self.rows.add(tenant, new, self.limits.most)
        if made is None:
            message = f"最多可以有 {self.limits.most} 个数据来源，请先删除不用的，或由管理员调高 SOURCES_PER_TENANT。"
            raise Conflict(message, code="too_many_sources", most=self.limits.most)
        return made

    async def get(self, tenant: str, source_id: str) -> WatchedSource:
        """Raises NotFound."""
        found = await self.rows.get(tenant, source_id)
        if found is None:
            raise NotFound(f"没有编号为 {source_id} 的数据来源", code="source_not_found", source_id=source_id)
        return found

    async def change_source(self, tenant: str, source_id: str, values: Mapping[str, Any]) -> WatchedSource:
        """Changes a source. values: those of `NewSource`, except its kind. Raises NotFound, InvalidRequest,
        FetchUnavailable.
        """
        before = await self.get(tenant, source_id)
        changed = dict(values)
        if "config" in changed:
            self._check(tenant, changed["config"])
            if changed["config"] != before.config:  # pages that did not change may link to what counts now
                changed["last"] = before.last and before.last | {"complete": False}
        if {"enabled", "interval_minutes"} & changed.keys():
            minutes = changed.get("interval_minutes", before.interval_minutes)
            runs = changed.get("enabled", before.enabled) and minutes
            changed["next_sync_at"] = now() + timedelta(minutes=minutes) if runs else None
        if changed:
            await self.rows.change_source(tenant, source_id, changed)
        return await self.get(tenant, source_id)

    async def delete_source(self, tenant: str, source_id: str, *, expire: bool) -> None:
        """Deletes a source. Its documents stay; expire: and expire, but for those that another source has too. Cut
        short, it can be asked for again. Raises NotFound.
        """
        await self.get(tenant, source_id)
        items = await self.rows.list_items(tenant, source_id) if expire else []
        current = [item.document_id for item in items if item.state is ItemState.CURRENT and item.document_id]
        for start in range(0, len(current), _AT_ONCE):  # each waits for the index, which follows them together
            expiring = (self._expire_document(tenant, source_id, one) for one in current[start : start + _AT_ONCE])
            await asyncio.gather(*expiring)
        await self.rows.delete_source(tenant, source_id)

    async def _expire_document(self, tenant: str, source_id: str, document_id: str) -> None:
        if not await self.rows.is_held_elsewhere(tenant, source_id, document_id):
            with suppress(NotFound):  # somebody deleted it meanwhile
                await self._ingestion.change_document(tenant, document_id, {"valid_until": now()})

    async def sync(self, context: JobContext) -> dict[str, Any]:
        """Runs a sync: looks at all items of a source. Raises NotFound, and what `WebsiteSync` and
        `FolderSync` raise.
        """
        tenant = context.tenant
        source = await self.get(tenant, context.parameters[ONE])
        items = {item.locator: item for item in await self.rows.list_items(tenant, source.id)}
        keeper = DocumentKeeper(tenant, source, items, self.rows, self._ingestion, self._ingestor)
        ending = _SyncEnd(context.run_id, now())
        await self.rows.record_end(tenant, source.id, ending.build_summary(keeper))  # until it is over: incomplete
        try:
            complete = await self._run(tenant, source, keeper, context)
            after = await self.rows.get(tenant, source.id)
            ending.complete = complete and after is not None and after.config == source.config
        except SourceDeleted:
            return {"deleted": True}
        except Cancelled:  # by an administrator, which is no error
            raise
        except Exception as error:
            ending.error = error
            raise
        finally:
            await self.rows.record_end(tenant, source.id, ending.build_summary(keeper))
        await self._ingestion.wait_until_indexed(tenant, keeper.revision)
        if ending.complete:
            await self.rows.forget_unseen(tenant, source.id, ending.started)
        return asdict(keeper.counts) | {"complete": ending.complete}

    async def _run(self, tenant: str, source: WatchedSource, keeper: DocumentKeeper, context: JobContext) -> bool:
        if isinstance(source.config, FolderConfig):
            return await self._folder.run(source.config, self.limits.roots(tenant), keeper, context)
        trusting = bool(source.last and source.last["complete"])
        return await self._website.run(source.config, keeper, context, trusting=trusting)

    def _check(self, tenant: str, config: WebsiteConfig | FolderConfig) -> None:
        if isinstance(config, FolderConfig):
            check_folder(config.path, self.limits.roots(tenant))
        else:
            check_url(config.url, self._website.fetcher.policy)


class DueSources:
    """Begins the syncs that are due. Every replica may: while a run is open it is one, and a second changes nothing."""

    def __init__(self, rows: SourceRepository, jobs: JobService) -> None:
        self._rows = rows
        self._jobs = jobs

    async def begin_due_syncs(self) -> None:
        """Begins one sync for every source that is due, however often it was missed."""
        moment = now()
        for tenant, source in await self._rows.list_due(moment):
            with suppress(Conflict):  # too many jobs are open: the next look tries again
                await begin(self._jobs, tenant, source.id)
                await self._rows.set_next_sync(tenant, source, moment + timedelta(minutes=source.interval_minutes))


async def begin(jobs: JobService, tenant: str, source_id: str) -> JobRun:
    """Adds the run that syncs a source, or returns the one that does already. Raises Conflict."""
    return await jobs.trigger_run(tenant, KIND, {ONE: source_id})


@dataclass(slots=True)
class _SyncEnd:
    """How a run goes."""

    run_id: str
    started: datetime
    complete: bool = False
    error: Exception | None = None

    def build_summary(self, keeper: DocumentKeeper) -> dict[str, Any]:
        """Builds what is kept of the run, see `SyncOut`."""
        described = describe(self.error) if self.error is not None else None
        return {
            "run_id": self.run_id,
            "started_at": self.started.isoformat(),
            "finished_at": now().isoformat(),
            "counts": asdict(keeper.counts),
            "complete": self.complete,
            "error": {"code": described.code, "message": described.message} if described else None,
        }
