"""Uploads that are still at work, and those that were."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.documents.job_schemas import JobDetail, JobOut, JobPage
from app.documents.parts import Wiring
from app.documents.repository_jobs import JobFilter
from app.http.deps import AdminTenant, StaffTenant
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/knowledge/jobs", tags=["documents"], route_class=GuardedRoute)


@router.get("")
async def list_jobs(
    tenant: StaffTenant,
    wiring: Wiring,
    unfinished: Annotated[bool, Query(description="只列还没结束的")] = False,
    failed: Annotated[bool, Query(description="只列有文件没能导入的")] = False,
    q: Annotated[str, Query(max_length=200, description="文件路径里的字")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> JobPage:
    """Jobs, the latest first."""
    filters = JobFilter(unfinished, failed, q)
    rows, total = await wiring.document_jobs.load_page(tenant, filters, offset=offset, limit=limit)
    return JobPage(items=[JobOut.from_row(row) for row in rows], total=total, offset=offset, limit=limit)


@router.get("/{job_id}", responses=list_failures(404))
async def get_job(job_id: str, tenant: StaffTenant, wiring: Wiring) -> JobDetail:
    """One job: the state of each file, its chunks, and how long it will still take."""
    return JobDetail.from_row(await wiring.document_jobs.get(tenant, job_id))


@router.post("/{job_id}/cancel", responses=list_failures(404))
async def cancel_job(job_id: str, tenant: AdminTenant, wiring: Wiring) -> JobDetail:
    """Stops the files of a job that are not in the knowledge base yet; the others stay. Of a job that is over nothing
    changes.
    """
    return JobDetail.from_row(await wiring.document_jobs.cancel_job(tenant, job_id))
