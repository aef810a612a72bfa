"""Curated answers: written by administrators, read by staff, given to customers word for word."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from app.faqs.importer import FaqImporter
from app.faqs.repository import FaqFilters
from app.faqs.rules import MAX_ENTRIES
from app.faqs.schemas import FaqImportOut, FaqIn, FaqOut, FaqPage
from app.faqs.service import FaqService
from app.faqs.transfer import read_faqs, write_faqs
from app.faqs.types import FaqState
from app.http.deps import AdminTenant, StaffTenant, use_part
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.forms import build_file_body, read_sent_file
from app.http.routes import GuardedRoute
from app.http.sheets import build_sheet_reader
from app.spreadsheets import CSV, XLSX
from knowledge.ingest import DocumentReader

DocumentReaderDep = Annotated[DocumentReader, use_part("document_reader")]
FaqImporterDep = Annotated[FaqImporter, use_part("faq_importer")]
FaqsDep = Annotated[FaqService, use_part("faqs")]

router = APIRouter(prefix="/api/v1/knowledge/faqs", tags=["faqs"], route_class=GuardedRoute)

FaqId = Annotated[str, Path(max_length=32)]
Text = Annotated[str, Query(max_length=200, description="问题、相似问或答案里的字")]
FaqSort = Literal["-updated", "updated", "question", "-question", "-hits", "hits"]
State = Annotated[FaqState | None, Query(description="只列草稿，或只列已发布的")]
_KEPT: Responses = {202: {"description": "已存下，索引还在更新", "model": FaqOut}}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE: Responses = {200: {"content": {CSV: {"schema": {"type": "string"}}, XLSX: _BINARY}}}
_REPORT: Responses = {202: {"description": "已存下，索引还在更新", "model": FaqImportOut}}
_INDEXING: Responses = {202: {"description": "索引还在更新"}}


@router.get("")
async def list_faqs(
    tenant: StaffTenant,
    faqs: FaqsDep,
    q: Text = "",
    state: State = None,
    sort: Annotated[FaqSort, Query(description="按什么排；前面加 - 为从大到小")] = "-updated",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> FaqPage:
    """One page of entries."""
    filters = FaqFilters(q, state, sort)
    found, total = await faqs.load_page(tenant, filters, offset=offset, limit=limit)
    return FaqPage(items=list(map(FaqOut.model_validate, found)), total=total, offset=offset, limit=limit)


@router.post("", status_code=201, responses=_KEPT | list_failures(409))
async def add_faq(body: FaqIn, request: Request, response: Response, tenant: AdminTenant, faqs: FaqsDep) -> FaqOut:
    """Keeps a new entry, published unless it is a draft. 201 once it answers, 202 while the index is still at work."""
    made = await faqs.create(tenant, body.draft_entry(), request.state.principal.name)
    if not made.ready:
        response.status_code = 202
    return FaqOut.model_validate(made)


@router.post("/import", openapi_extra=build_file_body(), responses=_REPORT | list_failures(409, 413, 415, 422))
async def import_faqs(
    request: Request,
    response: Response,
    tenant: AdminTenant,
    document_reader: DocumentReaderDep,
    faq_importer: FaqImporterDep,
    dry_run: Annotated[bool, Query(description="true：只检查，不写入")] = False,
) -> FaqImportOut:
    """Takes in a CSV or XLSX file, as `export` gives it; bad rows are told and the others taken. 200 once all of it
    answers, 202 while the index is still at work.

    The bytes of the file may also be the whole body.
    """
    rows = await read_faqs(await read_sent_file(request), build_sheet_reader(request, document_reader, tenant))
    done = await faq_importer.run(tenant, rows, request.state.principal.name, dry_run=dry_run)
    if not done.ready:
        response.status_code = 202
    return FaqImportOut.model_validate(done)


@router.get("/export", response_class=Response, responses=_FILE)
async def export_faqs(
    tenant: StaffTenant,
    faqs: FaqsDep,
    format: Annotated[Literal["csv", "xlsx"], Query(description="文件格式")] = "xlsx",
    state: State = None,
) -> Response:
    """All entries as a file, which `import` takes."""
    found = await faqs.stored.load_first(tenant, FaqFilters(state=state), MAX_ENTRIES)
    name = f"faqs.{format}"
    content, kind = await asyncio.to_thread(write_faqs, name, found)
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.get("/{faq_id}", responses=list_failures(404))
async def read_faq(faq_id: FaqId, tenant: StaffTenant, faqs: FaqsDep) -> FaqOut:
    """One entry."""
    return FaqOut.model_validate(await faqs.get(tenant, faq_id))


@router.put("/{faq_id}", responses=_KEPT | list_failures(404, 409))
async def change_faq(
    faq_id: FaqId, body: FaqIn, request: Request, response: Response, tenant: AdminTenant, faqs: FaqsDep
) -> FaqOut:
    """Writes an entry anew; with `draft` it no longer answers. 200 once that holds, 202 while the index is at work."""
    made = await faqs.change(tenant, faq_id, body.draft_entry(), request.state.principal.name)
    if not made.ready:
        response.status_code = 202
    return FaqOut.model_validate(made)


@router.delete("/{faq_id}", status_code=204, responses=_INDEXING | list_failures(404))
async def delete_faq(faq_id: FaqId, tenant: AdminTenant, faqs: FaqsDep) -> Response:
    """Deletes an entry. 204 once it no longer answers, 202 while the index is still at work."""
    return Response(status_code=204 if await faqs.delete(tenant, faq_id) else 202)
