"""What the tenant's administrators did, in words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from app.audit.actions import AuditAction, AuditOutcome
from app.audit.repository import LOCAL, AuditFilter
from app.audit.sentences import (
    Language,
    build_actor_name,
    build_sentence,
    find_kind,
    list_actions,
    load_catalogue,
    name_actor,
)
from app.audit.service import AuditLog
from app.http.deps import AdminTenant, use_part
from app.http.fields import Moment, Offset
from app.http.routes import GuardedRoute
from app.http.schemas import Page, ResponseBody
from app.spreadsheets import CSV, Cell, stream_csv

AuditDep = Annotated[AuditLog, use_part("audit")]

router = APIRouter(prefix="/api/v1/audit", tags=["audit"], route_class=GuardedRoute)

# Actions of one file, the latest.
MAX_EXPORTED = 50_000
COLUMNS = {
    "zh": ("时间", "谁", "说明", "对象", "名称", "接口", "编号", "结果", "请求编号"),
    "en": ("Time", "Who", "Sentence", "Thing", "Name", "Endpoint", "Ids", "Result", "Request"),
}


class AuditEntry(ResponseBody):
    """An administrative action. No bodies, so no secrets."""

    id: str
    at: datetime = Field(description="何时")
    actor_id: str = Field(description="谁：账号或密钥的编号；没有密钥的本机为空，命令行为 scripts")
    actor: str = Field(description="谁：成员的姓名或密钥的名称")
    action: str = Field(description="做了什么：接口在本文档里的名称，例如 revoke_key")
    kind: str = Field(description="对哪一种东西，例如 document、key；以前版本的接口为空")
    subject: str = Field(description="对什么：它当时的名称，删了也在；没有名称、或名称是顾客写的时为空")
    changed: list[str] = Field(description="请求里有哪些字段；是与否的连同取值，例如 disabled=true")
    sentence: str = Field(description="一句话：谁对什么做了什么")
    target: dict[str, str] = Field(description="对什么：路径里的编号，以及新建对象的编号")
    outcome: AuditOutcome | None = Field(description="done 做了，refused 被拒绝，failed 出错；null 为进行中或中途断掉")
    request_id: str = Field(description="X-Request-ID，查日志用")

    @classmethod
    def from_action(cls, action: AuditAction, language: Language) -> Self:
        """Builds the entry of an action in that language."""
        kind, sentence = find_kind(action.action), build_sentence(action, language)
        return cls.build_from(action, kind=kind, sentence=sentence, target=dict(action.target))


class AuditPage(Page[AuditEntry]):
    """The latest first."""


class AuditChoice(BaseModel):
    """Something that the log is narrowed to."""

    value: str
    name: str


class AuditChoices(BaseModel):
    """What the log can be narrowed to."""

    actors: list[AuditChoice] = Field(description="做过事的成员、密钥等；value 是 actor")
    kinds: list[AuditChoice] = Field(description="东西的种类；value 是 kind")


Spoken = Annotated[Language, Query(description="句子和名称用哪种语言")]


async def build_filter(
    actor: Annotated[str, Query(max_length=128, description="账号或密钥的编号或名称；本机为 local")] = "",
    action: Annotated[str, Query(max_length=64, description="接口的名称，例如 revoke_key")] = "",
    kind: Annotated[str, Query(max_length=32, description="对哪一种东西，例如 document")] = "",
    q: Annotated[str, Query(max_length=200, description="对什么：名称里的字，或编号")] = "",
    outcome: AuditOutcome | None = None,
    since: Annotated[Moment | None, Query(description="从何时起")] = None,
    until: Annotated[Moment | None, Query(description="到何时为止，不含")] = None,
) -> AuditFilter:
    """Builds the filter that the query asks for."""
    about = set(list_actions(kind)) if kind else None
    wanted = {action} if about is None else about & {action}
    return AuditFilter(actor, wanted if action else about, q.strip(), outcome, since, until)


Wanted = Annotated[AuditFilter, Depends(build_filter)]


@router.get("")
async def list_audit(
    tenant: AdminTenant,
    audit: AuditDep,
    wanted: Wanted,
    sort: Annotated[Literal["-at", "at"], Query(description="最近的在前，或最早的在前")] = "-at",
    lang: Spoken = "zh",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> AuditPage:
    """The tenant's audit log."""
    rows, total = await audit.repository.load_page(tenant, wanted, limit, offset, oldest=sort == "at")
    items = [AuditEntry.from_action(row, lang) for row in rows]
    return AuditPage(items=items, total=total, offset=offset, limit=limit)


@router.get("/choices")
async def list_audit_choices(tenant: AdminTenant, audit: AuditDep, lang: Spoken = "zh") -> AuditChoices:
    """Who is in the audit log, and what it may be about."""
    actors = await audit.repository.list_actors(tenant)
    kinds = load_catalogue().kinds.items()
    return AuditChoices(
        actors=[AuditChoice(value=id or name or LOCAL, name=build_actor_name(id, name, lang)) for id, name in actors],
        kinds=[AuditChoice(value=kind, name=words[0 if lang == "zh" else 1]) for kind, words in kinds],
    )


@router.get(
    "/export", response_class=StreamingResponse, responses={200: {"content": {CSV: {"schema": {"type": "string"}}}}}
)
async def export_audit(tenant: AdminTenant, audit: AuditDep, wanted: Wanted, lang: Spoken = "zh") -> StreamingResponse:
    """The audit log as a CSV file, the latest 50,000 first, safe to open in a spreadsheet."""

    async def build_batches() -> AsyncIterator[Iterable[tuple[Cell, ...]]]:
        async for found in audit.repository.iterate_batches(tenant, wanted, MAX_EXPORTED):
            yield [_build_cells(action, lang) for action in found]

    named = {"Content-Disposition": 'attachment; filename="yingda-audit.csv"'}
    return StreamingResponse(stream_csv(COLUMNS[lang], build_batches()), media_type=CSV, headers=named)


def _build_cells(action: AuditAction, language: Language) -> tuple[Cell, ...]:
    kind = load_catalogue().kinds.get(find_kind(action.action), ("", ""))[0 if language == "zh" else 1]
    ids = " ".join(f"{name}={value}" for name, value in action.target.items())
    who, sentence = name_actor(action, language), build_sentence(action, language)
    rest = (kind, action.subject, action.action, ids, action.outcome or "", action.request_id)
    return (action.at.isoformat(timespec="seconds"), who, sentence, *rest)
