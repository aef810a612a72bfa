"""Sources of documents: list, add, change, delete, sync now, and what each of them holds."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from app.errors import Conflict
from app.http.deps import AdminTenant, StaffTenant, use_part
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.schemas import JobRunOut
from app.jobs.service import JobService
from app.jobs.types import OPEN
from app.sources.schemas import SourceIn, SourceItemOut, SourceItemPage, SourceList, SourcePatch, WatchedSourceOut
from app.sources.service import KIND, ONE, DueSources, SourceService, begin
from app.sources.types import FolderConfig, ItemState, WatchedSource

DueSourcesDep = Annotated[DueSources, use_part("due_sources")]
JobsDep = Annotated[JobService, use_part("jobs")]
SourcesDep = Annotated[SourceService, use_part("sources")]

router = APIRouter(prefix="/api/v1/knowledge/sources", tags=["sources"], route_class=GuardedRoute)
SourceId = Annotated[str, Path(max_length=32)]
# Runs, the latest of all; no more may be open.
_LOOKED_AT = 100


@router.get("")
async def list_sources(tenant: StaffTenant, sources: SourcesDep, jobs: JobsDep) -> SourceList:
    """All sources, by name."""
    rows = sources.rows
    counts, running = await rows.count_items(tenant), await _find_running(tenant, jobs)
    found = [
        WatchedSourceOut.from_source(source, counts.get(source.id, {}), running.get(source.id))
        for source in await rows.list_all(tenant)
    ]
    return SourceList(sources=found, roots=[str(root) for root in sources.limits.roots(tenant)])


@router.post("", status_code=201, responses=list_failures(409))
async def add_source(
    body: SourceIn, tenant: AdminTenant, sources: SourcesDep, due_sources: DueSourcesDep, jobs: JobsDep
) -> WatchedSourceOut:
    """Adds a source, and syncs it soon where it is to be synced by itself."""
    source = await sources.add(tenant, body.new)
    if source.next_sync_at is not None:
        await due_sources.begin_due_syncs()
    return await _build_source(tenant, sources, jobs, source.id)


@router.get("/{source_id}", responses=list_failures(404))
async def get_source(source_id: SourceId, tenant: StaffTenant, sources: SourcesDep, jobs: JobsDep) -> WatchedSourceOut:
    """One source."""
    return await _build_source(tenant, sources, jobs, source_id)


@router.patch("/{source_id}", responses=list_failures(404, 409))
async def change_source(
    source_id: SourceId, body: SourcePatch, tenant: AdminTenant, sources: SourcesDep, jobs: JobsDep
) -> WatchedSourceOut:
    """Changes what is given."""
    values = body.build_values()
    source = await sources.get(tenant, source_id)
    if "config" in values and not _is_same_kind(source, values["config"]):
        raise Conflict("来源的类型不能改变：请删除后重新添加", code="source_kind_fixed")
    await sources.change_source(tenant, source_id, values)
    return await _build_source(tenant, sources, jobs, source_id)


@router.delete("/{source_id}", status_code=204, responses=list_failures(404))
async def delete_source(
    source_id: SourceId,
    tenant: AdminTenant,
    sources: SourcesDep,
    documents: Annotated[
        Literal["keep", "expire"], Query(description="由它而来的文档：keep 保留，expire 使之失效")
    ] = "keep",
) -> Response:
    """Deletes a source; its documents stay, or expire."""
    await sources.delete_source(tenant, source_id, expire=documents == "expire")
    return Response(status_code=204)


@router.post("/{source_id}/sync", status_code=202, responses=list_failures(404, 409))
async def sync_source(source_id: SourceId, tenant: AdminTenant, sources: SourcesDep, jobs: JobsDep) -> JobRunOut:
    """Begins a sync, or gives the one that is queued or running."""
    source = await sources.get(tenant, source_id)
    return JobRunOut.from_run(await begin(jobs, tenant, source.id))


@router.get("/{source_id}/items", responses=list_failures(404))
async def list_source_items(
    source_id: SourceId,
    tenant: StaffTenant,
    sources: SourcesDep,
    state: Annotated[ItemState | None, Query(description="只列这个状态的")] = None,
    failing: Annotated[bool | None, Query(description="只列最近一次出错的，或没有出错的")] = None,
    q: Annotated[str, Query(max_length=200, description="网址或路径里的字")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SourceItemPage:
    """Pages or files, and what became of them."""
    source = await sources.get(tenant, source_id)
    rows, total = await sources.rows.load_page(
        tenant, source.id, state=state, failing=failing, text=q, offset=offset, limit=limit
    )
    return SourceItemPage(items=list(map(SourceItemOut.model_validate, rows)), total=total, offset=offset, limit=limit)


async def _build_source(tenant: str, sources: SourcesDep, jobs: JobsDep, source_id: str) -> WatchedSourceOut:
    source = await sources.get(tenant, source_id)
    counts, running = await sources.rows.count_items(tenant), await _find_running(tenant, jobs)
    return WatchedSourceOut.from_source(source, counts.get(source_id, {}), running.get(source_id))


async def _find_running(tenant: str, jobs: JobsDep) -> dict[str, str]:
    """Returns which sources are being synchronised: source id -> id of the run that is queued or running."""
    runs, _ = await jobs.load_page(tenant, KIND, limit=_LOOKED_AT)
    return {run.parameters[ONE]: run.id for run in reversed(runs) if run.state in OPEN}


def _is_same_kind(source: WatchedSource, config: object) -> bool:
    return isinstance(source.config, FolderConfig) == isinstance(config, FolderConfig)
