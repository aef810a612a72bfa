"""Background jobs: which there are, how their last run went, beginning and cancelling one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import APIRouter, Query

from app.errors import NotFound
from app.http.deps import AdminTenant, StaffTenant, Wired
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.schemas import HousekeepingOut, JobKindList, JobKindOut, JobRunOut, JobRunPage, RunIn

if TYPE_CHECKING:
    from app.jobs.schedule import Scheduler
    from app.jobs.service import JobService


class Parts(Protocol):
    """What these routes are served by."""

    jobs: JobService
    scheduler: Scheduler


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"], route_class=GuardedRoute)


@router.get("")
async def list_job_kinds(tenant: StaffTenant, wiring: Wiring) -> JobKindList:
    """Every job with its schedule and its last run."""
    latest = await wiring.jobs.load_latest(tenant)
    scheduler = wiring.scheduler
    return JobKindList(
        kinds=[JobKindOut.from_kind(kind, latest.get(kind.name)) for kind in wiring.jobs.kinds.values()],
        housekeeping=[HousekeepingOut.from_job(job, scheduler.ticks.get(job.name)) for job in scheduler.jobs],
    )


@router.get("/runs", responses=list_failures(404))
async def list_job_runs(
    tenant: StaffTenant,
    wiring: Wiring,
    kind: Annotated[str, Query(max_length=64, description="只列这个任务的")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> JobRunPage:
    """Runs, the latest first."""
    runs, total = await wiring.jobs.load_page(tenant, kind, offset=offset, limit=limit)
    return JobRunPage(items=[JobRunOut.from_run(run) for run in runs], total=total, offset=offset, limit=limit)


@router.get("/runs/{run_id}", responses=list_failures(404))
async def get_job_run(run_id: str, tenant: StaffTenant, wiring: Wiring) -> JobRunOut:
    """One run: how far it is, and what came of it."""
    run = await wiring.jobs.run(tenant, run_id)
    if run is None:
        raise NotFound(f"没有编号为 {run_id} 的任务运行", code="job_run_not_found", run_id=run_id)
    return JobRunOut.from_run(run)


@router.post("/runs/{run_id}/cancel", responses=list_failures(404))
async def cancel_job_run(run_id: str, tenant: AdminTenant, wiring: Wiring) -> JobRunOut:
    """Stops a run that is not over; what it did by then stays. Of one that is over nothing changes."""
    return JobRunOut.from_run(await wiring.jobs.cancel_run(tenant, run_id))


@router.post("/{kind}/runs", status_code=202, responses=list_failures(404, 409))
async def start_job_run(kind: str, tenant: AdminTenant, wiring: Wiring, body: RunIn | None = None) -> JobRunOut:
    """Begins a run. While one with the same parameters is queued or running, that one is given."""
    return JobRunOut.from_run(await wiring.jobs.trigger_run(tenant, kind, body.parameters if body else {}))
