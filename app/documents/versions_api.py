"""Versions of documents: what they change, and how they are reviewed, published and rolled back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.documents.api import load_detail
from app.documents.parts import Wiring
from app.documents.repository_version_rows import VersionDecision
from app.documents.schemas import DocumentDetail
from app.documents.types import UNPUBLISHED, Change, VersionState
from app.documents.versions_schemas import (
    MAX_AUTHOR_CHARS,
    ApprovalIn,
    DecisionIn,
    DiffOut,
    OpenVersionOut,
    OpenVersionPage,
    RejectionIn,
    RollbackIn,
)
from app.http.deps import AdminTenant, StaffTenant, get_caller_name
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/knowledge", tags=["versions"], route_class=GuardedRoute)
_MOST = 2**31
_ONE = "/documents/{document_id}/versions/{version}"
_INDEXING: Responses = {202: {"description": "索引还在更新", "model": DocumentDetail}}

Number = Annotated[int, Path(ge=1, le=_MOST)]


@router.get("/drafts")
async def list_drafts(
    tenant: StaffTenant,
    wiring: Wiring,
    state: Annotated[
        list[VersionState] | None, Query(max_length=5, description="只列这些状态的；不给则为还没发布的")
    ] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> OpenVersionPage:
    """Versions that wait for somebody, of all documents, the latest first."""
    rows, total = await wiring.versions.rows.load_open(tenant, state or UNPUBLISHED, offset=offset, limit=limit)
    return OpenVersionPage(
        items=[OpenVersionOut.from_version(row) for row in rows], total=total, offset=offset, limit=limit
    )


@router.get(f"{_ONE}/diff", responses=list_failures(404, 415))
async def diff_versions(
    document_id: str,
    version: Number,
    tenant: StaffTenant,
    wiring: Wiring,
    against: Annotated[
        int | None,
        Query(ge=0, le=_MOST, description="与哪一版比较，0 为空白；不给时，没发布的与已发布的比，其余与前一版比"),
    ] = None,
) -> DiffOut:
    """What a version changed, by paragraphs of the text as it is read."""
    return DiffOut.model_validate(await wiring.versions.compare_versions(tenant, document_id, version, against))


@router.post(f"{_ONE}/submit", responses=list_failures(404, 409))
async def submit_version(
    document_id: str, version: Number, body: DecisionIn, request: Request, tenant: AdminTenant, wiring: Wiring
) -> DocumentDetail:
    """A draft is to be reviewed."""
    await wiring.versions.submit_version(tenant, document_id, version, _build_decision(body, request))
    return await load_detail(wiring, tenant, document_id)


@router.post(f"{_ONE}/approve", response_model=DocumentDetail, responses=_INDEXING | list_failures(404, 409, 415))
async def approve_version(
    document_id: str,
    version: Number,
    body: ApprovalIn,
    request: Request,
    response: Response,
    tenant: AdminTenant,
    wiring: Wiring,
) -> DocumentDetail:
    """Publishes what was submitted, at once or at a moment to come. 200 once it answers, or is scheduled; 202 while the
    index is still at work.
    """
    versions, decision = wiring.versions, _build_decision(body, request)
    if body.publish_at is not None:
        await versions.schedule_version(tenant, document_id, version, decision, body.publish_at)
    elif not await versions.approve_version(tenant, document_id, version, decision):
        response.status_code = 202
    return await load_detail(wiring, tenant, document_id)


@router.post(f"{_ONE}/reject", responses=list_failures(404, 409))
async def reject_version(
    document_id: str, version: Number, body: RejectionIn, request: Request, tenant: AdminTenant, wiring: Wiring
) -> DocumentDetail:
    """What was submitted, or is scheduled, becomes a draft again."""
    await wiring.versions.reject_version(tenant, document_id, version, _build_decision(body, request))
    return await load_detail(wiring, tenant, document_id)


@router.delete(_ONE, status_code=204, responses=list_failures(404, 409))
async def discard_version(document_id: str, version: Number, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes a version that was not published."""
    await wiring.versions.discard_version(tenant, document_id, version)
    return Response(status_code=204)


@router.post(
    "/documents/{document_id}/rollback",
    status_code=201,
    response_model=DocumentDetail,
    responses=_INDEXING | list_failures(404, 409, 415),
)
async def rollback_document(
    document_id: str, body: RollbackIn, request: Request, response: Response, tenant: AdminTenant, wiring: Wiring
) -> DocumentDetail:
    """Publishes the content of an earlier version again, as a new one. 201 once it answers, 202 while the index is
    still at work.
    """
    change = Change(_get_author(body, request), body.reason or f"回滚到第 {body.version} 版")
    if not await wiring.versions.roll_back(tenant, document_id, body.version, change):
        response.status_code = 202
    return await load_detail(wiring, tenant, document_id)


def _build_decision(body: DecisionIn, request: Request) -> VersionDecision:
    return VersionDecision(_get_author(body, request), body.reason)


def _get_author(body: DecisionIn, request: Request) -> str:
    return body.author or get_caller_name(request)[:MAX_AUTHOR_CHARS]
