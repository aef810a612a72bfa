"""Documents of the knowledge base: upload, list, look at, delete."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import FormData
from starlette.datastructures import UploadFile as FormFile

from app.api.connection import while_connected
from app.api.deps import AdminTenant, StaffTenant, Wiring, proof_from
from app.api.document_schemas import (
    DocumentDetail,
    DocumentOut,
    DocumentPage,
    FileReportOut,
    UploadOut,
    VersionOut,
)
from app.api.failures import Responses, fails
from app.api.fields import Offset
from app.api.retries import digest_of_parts, given_key, once, retry_key
from app.api.streams import CLIENT_LEFT
from app.api.uploads import multipart_form
from app.errors import BatchRejected, InvalidRequest, NotFound
from app.http.routes import GuardedRoute
from app.idempotency.service import Attempt
from app.idempotency.types import Reply
from app.knowledge_ops.ingestion import FileReport
from knowledge.errors import InvalidDocument
from knowledge.text import clean

MAX_BATCH = 10
"""An upload may be as large as this many files of the largest size allowed."""
FORM_BYTES = 64 * 1024
"""Names of files, boundaries and other fields, beside the files."""
MAX_CATEGORY_CHARS = 100
MAX_TAG_CHARS = 50
MAX_TAGS = 20

router = APIRouter(prefix="/api/v1/knowledge/documents", tags=["documents"], route_class=GuardedRoute)


def max_bytes(max_file: int) -> int:
    """Bytes of an upload, given those of a file."""
    return max_file * MAX_BATCH + FORM_BYTES


_UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "category": {"type": "string", "maxLength": MAX_CATEGORY_CHARS},
                        "tags": {"type": "array", "items": {"type": "string", "maxLength": MAX_TAG_CHARS}},
                    },
                }
            }
        },
    }
}


_ACCEPTED: Responses = {202: {"description": "索引还在更新"}}
_UPLOADED = {202: {"description": "索引还在更新", "model": UploadOut}} | fails(409, 415)


@router.post("", status_code=201, response_model=UploadOut, openapi_extra=_UPLOAD_BODY, responses=_UPLOADED)
async def upload_documents(request: Request, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Takes files in. 201 once all that were taken answer, 202 while the index is still at work.

    A file that cannot be taken is reported beside the others; if none was taken, the error is the response. A client
    that goes away stops it; files that were taken by then stay.
    """
    max_file = wiring.settings.max_upload_bytes
    async with multipart_form(request) as form:
        files = [part for part in form.getlist("files") if isinstance(part, FormFile)]
        if not files:
            raise InvalidRequest("没有收到文件：请把文件放在 multipart 的 files 字段里")
        own_key, category, tags = given_key(request), _category(form), _tags(form)

        async def work(_: Attempt | None) -> Reply:
            adding = wiring.ingestion.add(tenant, _contents(files, max_file), category, tags)
            return _reply(await while_connected(request, adding))

        key = None
        if own_key:
            asked = digest_of_parts([category, tags, *_digests(files)])
            key = retry_key(request, tenant, own_key, proof_from(request), asked)
        return await once(request, key, work)


@router.get("", response_model=DocumentPage)
async def list_documents(
    tenant: StaffTenant,
    wiring: Wiring,
    category: Annotated[str | None, Query(max_length=MAX_CATEGORY_CHARS)] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> DocumentPage:
    """One page of documents, the last changed first."""
    rows, total = await wiring.documents.page(tenant, category=category, offset=offset, limit=limit)
    return DocumentPage(items=[DocumentOut.of(row) for row in rows], total=total, offset=offset, limit=limit)


@router.get("/{document_id}", response_model=DocumentDetail, responses=fails(404))
async def get_document(document_id: str, tenant: StaffTenant, wiring: Wiring) -> DocumentDetail:
    """One document with its versions."""
    row = await wiring.documents.get(tenant, document_id)
    if row is None:
        raise NotFound(f"没有编号为 {document_id} 的文档", document_id=document_id)
    versions = await wiring.documents.versions(tenant, document_id)
    return DocumentDetail(document=DocumentOut.of(row), versions=[VersionOut.of(version) for version in versions])


@router.delete("/{document_id}", status_code=204, responses=_ACCEPTED | fails(404))
async def delete_document(document_id: str, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Removes a document. 204 once no search finds it, 202 while the index is still at work."""
    return Response(status_code=204 if await wiring.ingestion.delete(tenant, document_id) else 202)


def _reply(reports: list[FileReport] | None) -> Reply:
    """What is told of an upload, None for one whose client left."""
    if reports is None:
        return Reply(CLIENT_LEFT, b"")
    _raise_if_nothing_was_taken(reports)
    ready = all(report.ready for report in reports if report.error is None)
    told = UploadOut(files=[FileReportOut.of(report) for report in reports])
    return Reply(201 if ready else 202, told.model_dump_json().encode())


def _digests(files: list[FormFile]) -> Iterator[tuple[str, str]]:
    """Name and SHA-256 of each file; they are read again from their beginning."""
    for file in files:
        yield file.filename or "", hashlib.file_digest(cast(Any, file.file), "sha256").hexdigest()
        file.file.seek(0)


def _contents(files: list[FormFile], max_file: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, read one at a time; one byte over the limit is enough to refuse it."""
    for file in files:
        yield file.filename or "", file.file.read(max_file + 1)


def _category(form: FormData) -> str | None:
    value = form.get("category")
    if not isinstance(value, str):
        return None
    category = clean(value).strip()
    if len(category) > MAX_CATEGORY_CHARS:
        raise InvalidRequest(f"category 不能超过 {MAX_CATEGORY_CHARS} 个字")
    return category


def _tags(form: FormData) -> tuple[str, ...] | None:
    """Tags in order, without repetitions; a field may hold several, separated by commas."""
    values = [value for value in form.getlist("tags") if isinstance(value, str)]
    if not values:
        return None
    parts = (clean(part).strip() for value in values for part in value.replace("，", ",").split(","))
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in tags):
        raise InvalidRequest(f"tags 最多 {MAX_TAGS} 个，每个不超过 {MAX_TAG_CHARS} 个字")
    return tags


def _raise_if_nothing_was_taken(reports: list[FileReport]) -> None:
    errors = [report.error for report in reports if report.error is not None]
    if len(errors) < len(reports):
        return
    outage = next((error for error in errors if not isinstance(error, InvalidDocument)), None)
    if outage is not None or len(errors) == 1:
        raise outage or errors[0]
    files = [FileReportOut.of(report).model_dump(mode="json") for report in reports]
    raise BatchRejected(f"{len(reports)} 个文件都没有导入，第一个的原因：{errors[0]}", files=files)
