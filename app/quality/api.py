"""Findings of the quality check. The check itself is the job `quality_check`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from app.http.deps import AdminTenant, StaffTenant, get_caller_name, use_part
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.quality.checks.types import IssueKind, IssueState, Severity
from app.quality.repository import IssueFilters
from app.quality.schemas import QualityDecisionIn, QualityIssueOut, QualityIssuePage
from app.quality.service import QualityService

QualityDep = Annotated[QualityService, use_part("quality")]

router = APIRouter(prefix="/api/v1/knowledge/quality", tags=["quality"], route_class=GuardedRoute)
IssueId = Annotated[str, Path(max_length=32)]


@router.get("/issues")
async def list_quality_issues(
    tenant: StaffTenant,
    quality: QualityDep,
    kind: Annotated[IssueKind | None, Query(description="只列这一种问题")] = None,
    severity: Annotated[Severity | None, Query(description="只列这样严重的")] = None,
    state: Annotated[IssueState | None, Query(description="只列待处理的，或已忽略的")] = None,
    document_id: Annotated[str, Query(max_length=32, description="只列与这篇文档有关的")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> QualityIssuePage:
    """What the last check found, the gravest first, and when it was."""
    filters = IssueFilters(kind, severity, state, document_id)
    items, total = await quality.load_page(tenant, filters, offset, limit)
    counts, last = await quality.count_open(tenant), await quality.find_last_check(tenant)
    return QualityIssuePage(items=items, total=total, offset=offset, limit=limit, counts=counts, last_check=last)


@router.patch("/issues/{issue_id}", responses=list_failures(400, 404))
async def decide_quality_issue(
    issue_id: IssueId, body: QualityDecisionIn, request: Request, tenant: AdminTenant, quality: QualityDep
) -> QualityIssueOut:
    """Ignores a finding, or opens it again. It stays ignored in later checks, while the texts are the same."""
    author = body.author or get_caller_name(request)[:64]
    return await quality.decide_issue(tenant, issue_id, body.state, body.reason, author)
