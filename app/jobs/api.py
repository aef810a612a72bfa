"""Background jobs: which there are, how their last run went, beginning and cancelling one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.errors import NotFound
from app.http.deps import AdminTenant, StaffTenant, use_part
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.schedule import Scheduler
from app.jobs.schemas import HousekeepingOut, JobKindList, JobKindOut, JobRunOut, JobRunPage, RunIn
from app.jobs.service import JobService

JobsDep = Annotated[JobService, use_part("jobs")]
SchedulerDep = Annotated[Scheduler, use_part("scheduler")]

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"], route_class=GuardedRoute)


@router.get("")
async def list_job_kinds(tenant: StaffTenant, jobs: JobsDep, scheduler: SchedulerDep) -> JobKindList:
    """Every job with its schedule and its last run."""
    latest = await jobs.load_latest(tenant)
    return JobKindList(
        kinds=[JobKindOut.from_kind(kind, latest.get(kind.name)) for kind in jobs.kinds.values()],
        housekeeping=[HousekeepingOut.from_job(job, scheduler.ticks.get(job.name)) for job in scheduler.jobs],
    )


@router.get("/runs", responses=list_failures(404))
async def list_job_runs(
    tenant: StaffTenant,
    jobs: JobsDep,
    kind: Annotated[str, Query(max_length=64, description="只列这个任务的")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> JobRunPage:
    """Runs, the latest first."""
    runs, total = await jobs.load_page(tenant, kind, offset=offset, limit=limit)
    return JobRunPage(items=[JobRunOut.from_run(run) for run in runs], total=total, offset=offset, limit=limit)


@router.get("/runs/{run_id}", responses=list_failures(404))
async def get_job_run(run_id: str, tenant: StaffTenant, jobs: JobsDep) -> JobRunOut:
    """One run: how far it is, and what came of it."""
    run = await jobs.find_run(tenant, run_id)
    if run is None:
        raise NotFound(f"没有编号为 {run_id} 的任务运行", code="job_run_not_found", run_id=run_id)
    return JobRunOut.from_run(run)


@router.post("/runs/{run_id}/cancel", responses=list_failures(404))
async def cancel_job_run(run_id: str, tenant: AdminTenant, jobs: JobsDep) -> JobRunOut:
    """Stops a run that is not over; what it did by then stays. Of one that is over nothing changes."""
    return JobRunOut.from_run(await jobs.cancel_run(tenant, run_id))


@router.post("/{kind}/runs", status_code=202, responses=list_failures(404, 409))
async def start_job_run(kind: str, tenant: AdminTenant, jobs: JobsDep, body: RunIn | None = None) -> JobRunOut:
    """Begins a run. While one with the same parameters is queued or running, that one is given."""
    return JobRunOut.from_run(await jobs.trigger_run(tenant, kind, body.parameters if body else {}))
