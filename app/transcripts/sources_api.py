"""What a reply cites, opened by whoever got the reply."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from agents.passages.coverage import split_by_quotes
from app.errors import NotFound
from app.http.deps import HolderTenant
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from app.transcripts.parts import Wiring

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)

Id = Annotated[str, Path(max_length=128)]


class PassagePartOut(ResponseBody):
    """Consecutive blocks of a passage that are all quoted, or of which none is."""

    blocks: list[int] = Field(description="这几块在片段里的编号，从 0 数起，与来源的 quoted_blocks 一致")
    quoted: bool = Field(description="true：回答引用了；false：没有引用")
    markdown: str = Field(description="这几块的内容，Markdown：列表、表格、代码块都保持原样")


class PassageOut(BaseModel):
    """The passage that a source is of."""

    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    text: str = Field(description="整个片段的原文；current 为 false 时是当时引用的句子")
    snippet: str = Field(description="当时引用的句子，逐字出自原文")
    url: str | None = Field(description="文档的网址，没有为 null")
    parts: list[PassagePartOut] = Field(
        description="整个片段，按原来的次序分成引用的与没引用的；图片不在其中。current 为 false 时为空"
    )
    current: bool = Field(description="false：文档后来改了、过期或删除了，只有当时引用的句子")


@router.get("/{session_id}/messages/{message_id}/sources/{index}", responses=list_failures(404))
async def read_source(
    session_id: Id,
    message_id: Id,
    index: Annotated[int, Path(ge=0, le=1000, description="引用编号，与回复中 sources 的 index 相同")],
    tenant: HolderTenant,
    wiring: Wiring,
) -> PassageOut:
    """The passage behind a citation of the conversation, and no other."""
    cited = await wiring.transcripts.find_source(tenant, session_id, message_id, index)
    if cited is None:
        raise NotFound("没有找到这条来源，请核对会话、消息与引用编号。", code="source_not_found")
    quotes = [line for line in cited["snippet"].split("\n") if line.strip()]
    found = await wiring.documents.find_passage(tenant, cited["document_id"], quotes) if quotes else None
    parts = split_by_quotes(found.text, found.layout, quotes) if found else ()
    return PassageOut(
        index=index,
        document_id=cited["document_id"],
        title=cited["title"],
        heading=cited["heading"],
        page=cited["page"],
        text=found.text if found else cited["snippet"],
        snippet=cited["snippet"],
        url=found.url or None if found else None,
        parts=[PassagePartOut.model_validate(part) for part in parts],
        current=found is not None,
    )
