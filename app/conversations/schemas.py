"""What replies cite and how they were decided, as bodies show it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from agents.routing.types import Intent
from agents.types import ReplyVerdict
from app.http.schemas import ResponseBody


class SourceOut(BaseModel):
    """A fragment that the reply cites as [index]."""

    index: int
    document_id: str
    title: str
    heading: str
    page: int | None
    snippet: str
    score: float = Field(ge=0, le=1, description="校准后的概率")
    quoted_blocks: list[int] = Field(
        default_factory=list, description="回答引用的是片段里的哪几块（段落、列表项、表格行、代码块…），从 0 数起"
    )
    left_blocks: int = Field(0, description="片段里没有引用的有几块；标题和图片不算")
    left_chars: int = Field(0, description="没有引用的有多少字")


class RowSourceOut(BaseModel):
    """A row of the business database that the reply cites as [SQL]."""

    index: Literal["SQL"]
    table: str
    key: str
    fields: dict[str, str] = Field(description="展示用的值，已脱敏")


class RelatedOut(BaseModel):
    """A place of the documents that is near a question which they do not answer."""

    document_id: str
    title: str
    heading: str = Field(description="最近的一级标题，或问答的问题；指整篇文档时为空")
    score: float = Field(ge=0, le=1, description="它答得上这个问题的校准概率，低于门槛")


class ButtonOut(ResponseBody):
    """A button below a curated answer: it opens a page or sends a message."""

    label: str = Field(description="按钮上的字")
    url: str = Field(description="打开的网址；没有则为空")
    message: str = Field(description="替顾客发送的话；没有则为空")


class VerificationOut(BaseModel):
    """What checking a reply found that a model wrote."""

    verdict: ReplyVerdict = Field(description="auto 直接采用，human 建议人工看一眼，error 复读失败")
    factuality: int | None = Field(ge=0, le=100, description="成立的说法占比；什么都没有查时为 null")
    quality: int | None = Field(ge=0, le=100, description="回答质量；没有复读时为 null")
    relevance: float | None = Field(ge=0, le=1, description="与问题的相关度；没有复读时为 null")


class BidOut(BaseModel):
    """What an agent bid for the turn."""

    intent: Intent | Literal["curated"]
    probability: float = Field(ge=0, le=1, description="这一轮归它的概率")
    rank: Literal["urgent", "claims", "aside", "looks_up"] = Field(description="先听谁的，前面的优先")
    why: str


class DecisionOut(BaseModel):
    """Who answers the turn, and why."""

    intents: list[Intent | Literal["curated"]] = Field(description="由谁回答，排在最前的先说")
    why: str
    bids: list[BidOut] = Field(description="各智能体的把握，名次高的在前")
