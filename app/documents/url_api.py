"""One page or file by its URL, as if it had been uploaded."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, StrictBool

from app.documents.file_names import build_path, choose_suffix
from app.documents.job_schemas import JobDetail
from app.documents.labels import MAX_CATEGORY_CHARS, MAX_TAGS, MAX_URL_CHARS, Tag, check_tags, require_valid_period
from app.documents.parts import Wiring
from app.documents.paths import MAX_EXTERNAL_ID_CHARS, MAX_PATH_CHARS
from app.documents.products import check_version
from app.documents.types import Change, Incoming, Labels
from app.documents.upload import MAX_WAIT_SECONDS, accept_upload, add_location
from app.documents.versions_schemas import MAX_AUTHOR_CHARS, MAX_REASON_CHARS
from app.errors import FetchFailed
from app.http.deps import AdminTenant, get_caller_name
from app.http.failures import Responses, list_failures
from app.http.fields import CLEANED, Moment
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.idempotency.header import build_retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse
from app.net.fetcher import Fetched
from app.types import Proof
from knowledge.versions import MAX_CHARS

router = APIRouter(prefix="/api/v1/knowledge/documents", tags=["documents"], route_class=GuardedRoute)
_GOING_ON: Responses = {202: {"description": "还在处理：进度看返回的任务", "model": JobDetail}}


class UrlImport(RequestBody):
    """What to fetch, and what is said of it."""

    url: Annotated[str, CLEANED, Field(min_length=8, max_length=MAX_URL_CHARS, description="网页或文件的网址")]
    path: Annotated[str, CLEANED, Field(max_length=MAX_PATH_CHARS)] = Field(
        default="", description="放在哪里；以 / 结尾为目录，不给则按网址的主机与路径"
    )
    external_id: Annotated[str, CLEANED, Field(max_length=MAX_EXTERNAL_ID_CHARS)] = Field(
        default="", description="外部编号；有它就按它认文档，否则按 path"
    )
    category: Annotated[str, CLEANED, Field(max_length=MAX_CATEGORY_CHARS)] | None = Field(
        default=None, description="分类；不给则保留原有的"
    )
    tags: list[Tag] | None = Field(default=None, max_length=MAX_TAGS, description="标签；不给则保留原有的")
    product: Annotated[str, CLEANED, Field(max_length=MAX_CHARS)] | None = Field(
        default=None, description="讲的是哪个产品；不给则保留原有的，或由标题和目录认出"
    )
    product_version: Annotated[str, CLEANED, Field(max_length=MAX_CHARS)] | None = Field(
        default=None, description="产品的哪个版本，例如 V2.3；不给则同上"
    )
    valid_from: Moment | None = Field(default=None, description="生效时间")
    valid_until: Moment | None = Field(default=None, description="失效时间")
    draft: StrictBool = Field(default=False, description="只存为草稿，不发布")
    author: Annotated[str, CLEANED, Field(max_length=MAX_AUTHOR_CHARS)] = Field(
        default="", description="作者；不给则为密钥的名称"
    )
    reason: Annotated[str, CLEANED, Field(max_length=MAX_REASON_CHARS)] = Field(default="", description="为什么改")

    def build_incoming(self, fetched: Fetched, caller: str) -> Incoming:
        """Builds the upload from a fetched page. Raises InvalidRequest, and FetchFailed for a type that is not read."""
        suffix = choose_suffix(fetched.url, fetched.media_type, pictures=True)
        if suffix is None:
            raise FetchFailed(f"这个网址的类型 {fetched.media_type[:60]} 不支持", code="fetch_type")
        own = build_path(fetched.url, suffix)
        path = f"{self.path}{own.rpartition('/')[2]}" if self.path.endswith("/") else self.path or own
        content = fetched.text if suffix == ".html" else fetched.content
        change = Change(self.author or caller[:MAX_AUTHOR_CHARS], self.reason, self.draft)
        return Incoming(path, content, self.external_id, self.build_labels(str(fetched.url)), change=change)

    def build_labels(self, url: str) -> Labels:
        """Builds the labels of the document. url: where it was found. Raises InvalidRequest, Conflict."""
        require_valid_period(self.valid_from, self.valid_until)
        tags = None if self.tags is None else check_tags(self.tags)
        known = url if len(url) <= MAX_URL_CHARS else None
        validity = self.valid_from, self.valid_until
        return Labels(self.category, tags, known, *validity, self.product, check_version(self.product_version))


@router.post(
    "/from-url", status_code=201, response_model=JobDetail, responses=_GOING_ON | list_failures(400, 409, 415, 502)
)
async def import_from_url(
    body: UrlImport,
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    wait: Annotated[
        float | None, Query(ge=0, le=MAX_WAIT_SECONDS, description="最多等几秒；不给则为 UPLOAD_WAIT")
    ] = None,
) -> Response:
    """Fetches one page or file and takes it in like an upload: 201 once it answers, 202 with the job that goes on.

    The same URL again makes a version where its content changed, and nothing otherwise; of a page that is gone, what
    was imported before expires.
    """
    body.build_labels("")

    async def work(_: RequestAttempt | None) -> KeptResponse:
        fetched = await _fetch_url(wiring, tenant, body.url)
        incoming = body.build_incoming(fetched, get_caller_name(request))
        await wiring.ingestion.restore_validity(tenant, incoming)
        return await accept_upload(request, wiring, tenant, [incoming], wait)

    key = build_retry_key(request, tenant, Proof(trusted=True), [body.model_dump(mode="json")])
    return add_location(await run_once(request, key, work))


async def _fetch_url(wiring: Wiring, tenant: str, url: str) -> Fetched:
    fetched = await wiring.fetcher.fetch(
        url, wanted=lambda at, kind: choose_suffix(at, kind, pictures=True) is not None
    )
    if fetched.is_gone and (expired := await wiring.ingestion.expire_copies(tenant, url)):
        message = f"这个网址返回 HTTP {fetched.status}，网页已经没有了；由它导入的 {'、'.join(expired)} 已设为失效"
        raise FetchFailed(message, code="fetch_gone", status=fetched.status, paths=expired)
    if fetched.status != 200:
        raise FetchFailed(f"这个网址返回 HTTP {fetched.status}", code="fetch_status", status=fetched.status)
    return fetched
