"""Corrections of chunks: make one, take it back, see which hold."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.corrections.schemas import (
    CorrectionIn,
    CorrectionList,
    CorrectionMadeOut,
    CorrectionOut,
    CorrectionPage,
    LocatedCorrectionOut,
)
from app.corrections.service import CorrectionService
from app.http.deps import AdminTenant, StaffTenant, get_caller_name, use_part
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from knowledge.types import CorrectionState

CorrectionsDep = Annotated[CorrectionService, use_part("corrections")]

router = APIRouter(prefix="/api/v1/knowledge", tags=["corrections"], route_class=GuardedRoute)
_OF = "/documents/{document_id}"
_LATER = "索引还在更新"
_MADE_LATER: Responses = {202: {"description": _LATER, "model": CorrectionMadeOut}}
_DROPPED_LATER: Responses = {202: {"description": _LATER}}


@router.get("/corrections")
async def list_corrections(
    tenant: StaffTenant,
    corrections: CorrectionsDep,
    state: Annotated[CorrectionState | None, Query(description="只列这种状态的")] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> CorrectionPage:
    """Corrections of all documents; those that hold no longer are to be looked at."""
    found, total = await corrections.load_page(tenant, state, offset, limit)
    return CorrectionPage(
        items=list(map(LocatedCorrectionOut.from_located, found)), total=total, offset=offset, limit=limit
    )


@router.get(f"{_OF}/corrections")
async def list_document_corrections(
    document_id: str, tenant: StaffTenant, corrections: CorrectionsDep
) -> CorrectionList:
    """What was corrected of a document, with the passages as they were read."""
    found = await corrections.list_of_document(tenant, document_id)
    return CorrectionList(corrections=list(map(CorrectionOut.from_correction, found)))


@router.put(f"{_OF}/chunks/{{chunk_id}}/correction", responses=_MADE_LATER | list_failures(404, 409))
async def correct_chunk(
    document_id: str,
    chunk_id: str,
    body: CorrectionIn,
    request: Request,
    response: Response,
    tenant: AdminTenant,
    corrections: CorrectionsDep,
) -> CorrectionMadeOut:
    """Corrects the text or headings of a chunk, or excludes it. It holds in new versions of the document too, where
    the passage is still the same. 200 once searches know, 202 while the index is still at work.
    """
    author = body.author or get_caller_name(request)[:64]
    made = await corrections.put(tenant, document_id, chunk_id, body.edit, author, body.reason)
    if not await corrections.wait_until_known(tenant, made):
        response.status_code = 202
    return CorrectionMadeOut.from_made(made)


@router.delete(
    f"{_OF}/corrections/{{correction_id}}", status_code=204, responses=_DROPPED_LATER | list_failures(404, 409)
)
async def delete_correction(
    document_id: str, correction_id: str, tenant: AdminTenant, corrections: CorrectionsDep
) -> Response:
    """Takes a correction back. 204 once the chunk is found as it was read, 202 before."""
    made = await corrections.drop(tenant, document_id, correction_id)
    return Response(status_code=204 if await corrections.wait_until_known(tenant, made) else 202)
