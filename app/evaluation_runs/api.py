"""Evaluation runs: begin one, follow it, read its report, compare two. A run is cancelled as every job is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from fastapi import APIRouter, Path, Query, Response

from app.evaluation.judgement import TurnVerdict
from app.evaluation_runs.schemas import (
    EvaluationReportOut,
    EvaluationReportPage,
    EvaluationRunIn,
    ReportComparisonOut,
    TurnResultOut,
    TurnResultPage,
)
from app.http.deps import AdminTenant, StaffTenant, Wired
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute

if TYPE_CHECKING:
    from app.evaluation_runs.service import EvaluationRuns


class Parts(Protocol):
    """What these routes are served by."""

    evaluation_runs: EvaluationRuns


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/evaluation", tags=["evaluation"], route_class=GuardedRoute)

ReportId = Annotated[str, Path(max_length=32)]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.post("/runs", status_code=202, responses=list_failures(404, 409))
async def start_evaluation_run(body: EvaluationRunIn, tenant: AdminTenant, wiring: Wiring) -> EvaluationReportOut:
    """Plays a set through the whole product, beside customers; while a run of the same set is not over, that one."""
    return EvaluationReportOut.from_run(await wiring.evaluation_runs.start(tenant, body.model_dump()))


@router.get("/reports")
async def list_evaluation_reports(
    tenant: StaffTenant,
    wiring: Wiring,
    set_id: Annotated[str, Query(max_length=32, description="只列这个评测集的")] = "",
    sort: Annotated[
        Literal["-created", "created", "set", "-set"], Query(description="按什么排；前面加 - 为从大到小")
    ] = "-created",
    limit: Limit = 50,
    offset: Offset = 0,
) -> EvaluationReportPage:
    """A page of reports."""
    reports, total = await wiring.evaluation_runs.list_reports(tenant, set_id, limit, offset, sort)
    return EvaluationReportPage(reports=list(map(EvaluationReportOut.from_run, reports)), total=total)


@router.get("/reports/{report_id}", responses=list_failures(404))
async def get_evaluation_report(report_id: ReportId, tenant: StaffTenant, wiring: Wiring) -> EvaluationReportOut:
    """One report, and how far its run is."""
    return EvaluationReportOut.from_run(await wiring.evaluation_runs.get(tenant, report_id))


@router.get("/reports/{report_id}/results", responses=list_failures(404))
async def list_evaluation_results(
    report_id: ReportId,
    tenant: StaffTenant,
    wiring: Wiring,
    verdict: Annotated[TurnVerdict | None, Query(description="只列这样判的")] = None,
    q: Annotated[str, Query(max_length=200, description="顾客的话里的字")] = "",
    tag: Annotated[str, Query(max_length=64, description="只列这个标签的")] = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> TurnResultPage:
    """What came of every turn, in the order of the set."""
    results, total = await wiring.evaluation_runs.list_results(
        tenant, report_id, verdict=verdict, text=q, tag=tag, limit=limit, offset=offset
    )
    return TurnResultPage(results=list(map(TurnResultOut.from_result, results)), total=total)


@router.get("/reports/{report_id}/compare", responses=list_failures(404))
async def compare_evaluation_reports(
    report_id: ReportId,
    tenant: StaffTenant,
    wiring: Wiring,
    before: Annotated[str, Query(min_length=1, max_length=32, description="先前的报告")],
) -> ReportComparisonOut:
    """What changed since another report, turn by turn."""
    return ReportComparisonOut.from_comparison(await wiring.evaluation_runs.compare_reports(tenant, before, report_id))


@router.delete("/reports/{report_id}", status_code=204, responses=list_failures(404, 409))
async def delete_evaluation_report(report_id: ReportId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes a report with its results."""
    await wiring.evaluation_runs.delete_report(tenant, report_id)
    return Response(status_code=204)
