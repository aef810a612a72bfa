"""Documents of the knowledge base: upload, list, look at, label, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from app.documents.forms import MAX_COLUMN_CHARS, open_form, upload_form
from app.documents.ingestion import build_not_found
from app.documents.job_schemas import JobDetail
from app.documents.labels import MAX_CATEGORY_CHARS, MAX_TAG_CHARS
from app.documents.limits import UPLOADS
from app.documents.parts import Wiring
from app.documents.paths import MAX_EXTERNAL_ID_CHARS, MAX_PATH_CHARS, check_folder
from app.documents.repository import DocumentRow, Filters
from app.documents.schemas import (
    ChunkOut,
    ChunkPage,
    DocumentDetail,
    DocumentOut,
    DocumentPage,
    DocumentPatch,
    DocumentSort,
    Status,
)
from app.documents.types import Filing
from app.documents.upload import MAX_WAIT_SECONDS, accept_upload, add_location
from app.documents.versions_schemas import MAX_AUTHOR_CHARS, MAX_REASON_CHARS, VersionOut
from app.errors import NotFound
from app.http.deps import AdminTenant, StaffTenant, get_caller_name
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.idempotency.header import build_retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse
from app.types import Proof
from knowledge.versions import MAX_CHARS

router = APIRouter(prefix=UPLOADS, tags=["documents"], route_class=GuardedRoute)


def _build_repeated_field(description: str, **schema: Any) -> dict[str, Any]:
    """Describes a field that may be sent several times; sent once, a list of one text looks like the text."""
    text = {"type": "string", **schema}
    return {"anyOf": [{"type": "array", "items": text}, text], "description": description}


UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "文件",
                        },
                        "paths": _build_repeated_field(
                            "与 files 一一对应的路径，例如 北区/政策.md", maxLength=MAX_PATH_CHARS
                        ),
                        "external_ids": _build_repeated_field(
                            "与 files 一一对应的外部编号；有它就按它认文档", maxLength=MAX_EXTERNAL_ID_CHARS
                        ),
                        "urls": _build_repeated_field("与 files 一一对应的原文网址"),
                        "category": {"type": "string", "maxLength": MAX_CATEGORY_CHARS},
                        "tags": _build_repeated_field("标签", maxLength=MAX_TAG_CHARS),
                        "product": {"type": "string", "maxLength": MAX_CHARS, "description": "讲的是哪个产品"},
                        "product_version": {
                            "type": "string",
                            "maxLength": MAX_CHARS,
                            "description": "产品的哪个版本，例如 V2.3；不给则由文件、标题、文件名和目录认出",
                        },
                        "question_column": {"type": "string", "maxLength": MAX_COLUMN_CHARS},
                        "answer_column": {"type": "string", "maxLength": MAX_COLUMN_CHARS},
                        "valid_from": {"type": "string", "format": "date-time"},
                        "valid_until": {"type": "string", "format": "date-time"},
                        "draft": {"type": "boolean", "description": "只存为草稿，不发布"},
                        "author": {"type": "string", "maxLength": MAX_AUTHOR_CHARS},
                        "reason": {"type": "string", "maxLength": MAX_REASON_CHARS},
                    },
                }
            }
        },
    }
}


_CHANGED: Responses = {202: {"description": "索引还在更新", "model": DocumentDetail}}
_INDEXING: Responses = {202: {"description": "索引还在更新"}}
_GOING_ON: Responses = {202: {"description": "还在处理：进度看返回的任务", "model": JobDetail}}


@router.post(
    "",
    status_code=201,
    openapi_extra=UPLOAD_BODY,
    response_model=JobDetail,
    responses=_GOING_ON | list_failures(409, 415),
)
async def upload_documents(
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    wait: Annotated[
        float | None, Query(ge=0, le=MAX_WAIT_SECONDS, description="最多等几秒；不给则为 UPLOAD_WAIT")
    ] = None,
) -> Response:
    """Takes files in. 201 once all that were taken answer; 202 with the job that goes on, if that takes longer.

    A file that cannot be taken is reported beside the others; if none was taken, the error is the response. A client
    that goes away before it has an answer stops it; files that were taken by then stay. Sent again under the same
    `Idempotency-Key`, it returns its first answer; how far the job is by then, the job tells.
    """
    async with open_form(request) as form:
        sent = upload_form(form, get_caller_name(request))

        async def work(_: RequestAttempt | None) -> KeptResponse:
            return await accept_upload(request, wiring, tenant, sent.read_files(wiring.settings.max_upload_bytes), wait)

        key = build_retry_key(request, tenant, Proof(trusted=True), sent.build_fingerprint())
        return add_location(await run_once(request, key, work))


@router.get("", response_model=DocumentPage)
async def list_documents(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="文档名、标题或路径里的字")] = "",
    status: Annotated[Status | None, Query(description="只列已能检索的（ready），或还在处理的（indexing）")] = None,
    valid: Annotated[bool | None, Query(description="只列现在有效的，或现在无效的")] = None,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY_CHARS)] = None,
    folder: Annotated[
        str | None, Query(max_length=MAX_PATH_CHARS, description="这个目录和它下面各级目录里的文档")
    ] = None,
    tag: Annotated[str | None, Query(max_length=MAX_TAG_CHARS)] = None,
    external_id: Annotated[str | None, Query(max_length=MAX_EXTERNAL_ID_CHARS)] = None,
    disabled: Annotated[bool | None, Query(description="只列停用的，或没有停用的")] = None,
    sort: Annotated[DocumentSort, Query(description="按什么排；前面加 - 为从大到小")] = "-updated",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> DocumentPage:
    """One page of documents."""
    filters = Filters(category, check_folder(folder) if folder else None, tag, external_id, q)
    filters = replace(filters, indexed=None if status is None else status == "ready", live=valid, disabled=disabled)
    rows, total = await wiring.documents.load_page(tenant, filters, sort=sort, offset=offset, limit=limit)
    return DocumentPage(items=[DocumentOut.from_row(row) for row in rows], total=total, offset=offset, limit=limit)


@router.get("/{document_id}", response_model=DocumentDetail, responses=list_failures(404))
async def get_document(document_id: str, tenant: StaffTenant, wiring: Wiring) -> DocumentDetail:
    """One document with its versions."""
    return await load_detail(wiring, tenant, document_id)


@router.patch(
    "/{document_id}",
    response_model=DocumentDetail,
    responses=_CHANGED | list_failures(404, 409),
)
async def change_document(
    document_id: str, body: DocumentPatch, response: Response, tenant: AdminTenant, wiring: Wiring
) -> DocumentDetail:
    """Changes what is said of a document, or moves it to another folder; nothing is parsed or embedded again.

    200 once searches know, 202 while the index is still at work.
    """
    row = await _get_document(wiring, tenant, document_id)
    filing = None
    if body.folder is not None:
        folder = check_folder(body.folder)
        filing = Filing(f"{folder}/{row.name}" if folder else row.name, row.external_id)
    if not await wiring.ingestion.change_document(tenant, document_id, body.build_labels(row), filing):
        response.status_code = 202
    return await load_detail(wiring, tenant, document_id)


@router.delete("/{document_id}", status_code=204, responses=_INDEXING | list_failures(404))
async def delete_document(
    document_id: str,
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    permanent: Annotated[bool, Query(description="不放进回收站，马上彻底删除，不能恢复")] = False,
) -> Response:
    """Removes a document, into the bin unless it is to go for good. 204 once no search finds it, 202 while the index is
    still at work.
    """
    done = await wiring.bin.delete(tenant, document_id, get_caller_name(request), for_good=permanent)
    return Response(status_code=204 if done else 202)


@router.get("/{document_id}/chunks", response_model=ChunkPage, responses=list_failures(404))
async def list_chunks(
    document_id: str,
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="片段或其问法里的字")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ChunkPage:
    """The pieces that a document was split into, in order."""
    await _get_document(wiring, tenant, document_id)
    found, total = await wiring.documents.load_chunks(tenant, document_id, offset, limit, q)
    items = [ChunkOut.model_validate(chunk) for chunk in found]
    return ChunkPage(items=items, total=total, offset=offset, limit=limit)


_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_FILE: Responses = {200: {"description": "文件原文", "content": _BYTES}}


@router.get(
    "/{document_id}/original",
    response_class=Response,
    responses=_FILE | list_failures(404),
)
async def get_original(
    document_id: str,
    tenant: StaffTenant,
    wiring: Wiring,
    version: Annotated[int | None, Query(ge=1, le=2**31, description="不给则为当前版本")] = None,
) -> Response:
    """The file as it was uploaded, to be saved: a browser does not show it, since it may hold scripts."""
    found = await wiring.documents.load_original(tenant, document_id, version)
    if found is None:
        if version is None:
            raise build_not_found(document_id)
        raise NotFound("没有这篇文档或这个版本", document_id=document_id)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return Response(found.data, media_type="application/octet-stream", headers=headers)


async def load_detail(wiring: Wiring, tenant: str, document_id: str) -> DocumentDetail:
    """Loads a document with its versions. Raises NotFound."""
    row = await _get_document(wiring, tenant, document_id)
    versions = await wiring.versions.rows.list_all(tenant, document_id)
    return DocumentDetail(
        document=DocumentOut.from_row(row), versions=[VersionOut.from_row(version) for version in versions]
    )


async def _get_document(wiring: Wiring, tenant: str, document_id: str) -> DocumentRow:
    row = await wiring.documents.get(tenant, document_id)
    if row is None:
        raise build_not_found(document_id)
    return row
