"""The bin of deleted documents."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from app.documents.api import load_detail
from app.documents.bin_schemas import BinnedDocumentOut, BinPage
from app.documents.parts import Wiring
from app.documents.schemas import DocumentDetail
from app.http.deps import AdminTenant, StaffTenant
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/knowledge/bin", tags=["documents"], route_class=GuardedRoute)
_INDEXING: Responses = {202: {"description": "索引还在更新", "model": DocumentDetail}}


@router.get("")
async def list_bin(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="文档名、标题或路径里的字")] = "",
    sort: Annotated[
        Literal["-deleted", "deleted", "name", "-name", "size", "-size"],
        Query(description="按什么排；前面加 - 为从大到小"),
    ] = "-deleted",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> BinPage:
    """Deleted documents; each goes for good after its tenant's period."""
    rows, total = await wiring.bin.rows.load_page(tenant, q, offset, limit, sort)
    days = await wiring.bin.days(tenant)
    items = [BinnedDocumentOut.from_row(row, days) for row in rows]
    return BinPage(items=items, total=total, offset=offset, limit=limit, days=days)


@router.post("/{document_id}/restore", responses=_INDEXING | list_failures(404, 409))
async def restore_document(document_id: str, response: Response, tenant: AdminTenant, wiring: Wiring) -> DocumentDetail:
    """Puts a deleted document back, with its id and versions. 200 once searches find it, 202 while the index is still
    at work.
    """
    if not await wiring.bin.restore_document(tenant, document_id):
        response.status_code = 202
    return await load_detail(wiring, tenant, document_id)


@router.delete("/{document_id}", status_code=204, responses=list_failures(404))
async def erase_document(document_id: str, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes for good what lies in the bin."""
    await wiring.bin.erase_document(tenant, document_id)
    return Response(status_code=204)
