"""What a file would be cut into, before anything of it is taken in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from app.documents.api import UPLOAD_BODY
from app.documents.forms import open_form, upload_form
from app.documents.parts import Wiring
from app.errors import InvalidRequest
from app.http.deps import CHANGES_NOTHING, AdminTenant
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from app.retrieval import chunk_options
from knowledge.chunking import ChunkOptions

router = APIRouter(prefix="/api/v1/knowledge/documents", tags=["documents"], route_class=GuardedRoute)

# Of a long file so many pieces are shown.
SHOWN = 200


class PreviewChunk(ResponseBody):
    """A piece as it would be found and cited."""

    text: str
    heading_path: list[str]
    page: int | None
    question: str | None = Field(description="问答表里的问法")


class PreviewOut(BaseModel):
    """A file as it would be read."""

    name: str
    title: str
    product: str = Field(description="认出的产品，没有为空")
    product_version: str = Field(description="认出的产品版本，没有为空")
    total: int = Field(description="一共切成几段")
    chunks: list[PreviewChunk] = Field(description=f"前 {SHOWN} 段")
    notices: list[str] = Field(description="读的时候要留意的")
    min_tokens: int
    max_tokens: int
    overlap_tokens: int


Tokens = Annotated[int | None, Query(ge=1, le=4000)]


@router.post("/preview", openapi_extra=UPLOAD_BODY, responses=list_failures(400, 415), dependencies=[CHANGES_NOTHING])
async def preview_document(
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    min_tokens: Tokens = None,
    max_tokens: Tokens = None,
    overlap_tokens: Annotated[int | None, Query(ge=0, le=1000)] = None,
) -> PreviewOut:
    """Reads one file as an import would, and keeps nothing of it. Other sizes than those of the installation
    (CHUNK_MIN_TOKENS and so on) are tried here alone.
    """
    own = chunk_options(wiring.settings)
    given = (min_tokens, max_tokens, overlap_tokens)
    sizes = (own.min_tokens, own.max_tokens, own.overlap_tokens)
    least, most, overlap = (size if wish is None else wish for wish, size in zip(given, sizes, strict=True))
    if least > most or overlap >= most:
        raise InvalidRequest("每段最少的字数不能多于最多的，重叠要比最多的少。", code="invalid_chunk_sizes")
    async with open_form(request) as form:
        sent = upload_form(form)
        if len(sent.files) != 1:
            raise InvalidRequest("一次预览一个文件。", code="one_file_at_a_time")
        (file,) = sent.read_files(wiring.settings.max_upload_bytes)
    found = await wiring.ingestion.preview_file(tenant, file, ChunkOptions(least, most, overlap))
    return PreviewOut(
        name=file.path,
        title=found.title,
        product=found.product,
        product_version=found.product_version,
        total=len(found.chunks),
        chunks=[PreviewChunk.model_validate(chunk) for chunk in found.chunks[:SHOWN]],
        notices=[notice.message for notice in found.notices],
        min_tokens=least,
        max_tokens=most,
        overlap_tokens=overlap,
    )
