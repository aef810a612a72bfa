"""Bodies of the gaps."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StrictBool

from agents.types import Outcome
from app.faqs.rules import MAX_QUESTION_CHARS, MAX_VARIANTS
from app.gaps.types import DraftOrigin, GapState, MissReason
from app.http.fields import CLEANED
from app.http.schemas import Page, RequestBody, ResponseBody
from knowledge.chunking import MAX_ANSWER_CHARS


class GapOut(ResponseBody):
    """One gap: a cluster of questions that customers were not helped with, without personal data."""

    id: str
    state: GapState = Field(
        description="open：待处理；drafted：有草稿；in_review：待审核；approved：已发布；dismissed：不处理；merged：已并入另一个；"
        "resolved：知识库更新后已能回答"
    )
    question: str = Field(description="最有代表性的问法")
    asked: int = Field(description="问过多少次")
    customers: int = Field(description="多少个不同的会话问过")
    week: int = Field(description="最近 7 天多少个会话问过")
    week_before: int = Field(description="再之前 7 天多少个会话问过")
    handoffs: int = Field(description="其中多少次转了人工")
    reasons: dict[MissReason, int] = Field(description="因为什么算没帮上，各多少次，多的在前")
    first_seen: datetime | None
    last_seen: datetime | None
    merged_into: str = Field(description="并入了哪一个；没有则为空")
    updated_at: datetime


class GapPage(Page[GapOut]):
    """One page; `total` counts all that match, `states` all there are."""

    states: dict[GapState, int] = Field(description="各状态各有多少")


class EarlierTurnOut(ResponseBody):
    """A turn before the question."""

    question: str
    reply: str
    outcome: Outcome


class MissOut(ResponseBody):
    """One question of a gap."""

    question: str
    reason: MissReason = Field(
        description="为什么算没答上来：回答的结论、thumbs_down（被踩）、handoff（转人工）；"
        "或来自 solution（人工台的解答）、ticket（已解决的工单）"
    )
    note: str = Field(description="顾客点踩时说的理由")
    handoff: bool = Field(description="是否转了人工")
    session_id: str
    turn_id: str | None = Field(description="哪一轮；不是对话里的一轮则为 null")
    revision: int = Field(description="当时检索的知识库版本；不知道则为 0")
    asked_at: datetime
    before: list[EarlierTurnOut] = Field(description="这一句之前的两轮")


class NearOut(ResponseBody):
    """What the knowledge base holds that comes nearest."""

    document_id: str
    title: str
    heading: str
    text: str
    probability: float


class GapEventOut(ResponseBody):
    """Something that was done."""

    event: str
    actor: str = Field(description="谁做的；系统自己做的为空")
    note: str
    at: datetime


class GapDraftOut(ResponseBody):
    """The answer as it is written."""

    question: str = Field(description="标准问法")
    answer: str = Field(description="原样给顾客的回答；还没有则为空")
    variants: list[str] = Field(description="相似问：这个缺口里的其他问法")
    origin: DraftOrigin = Field(
        description="model：大模型起草；solution：人工台整理的答案；ticket：工单的答复；handoff：人工会话里给顾客的话；"
        "edited：人写的；empty：还没有人写"
    )
    author: str = Field(description="最后是谁写的：密钥的名称")
    approver: str = Field(description="谁审核通过的；还没有则为空")
    faq_id: str = Field(description="发布成了哪一条精选问答；还没有则为空")


class GapDetailOut(GapOut):
    """A gap with its questions and what lies near."""

    questions: list[MissOut] = Field(description="最近的在前，最多 200 条")
    near: list[NearOut] = Field(description="知识库里最接近的片段，一份文档一段")
    history: list[GapEventOut]
    draft: GapDraftOut | None = Field(description="草稿；还没有则为 null")


class MiningOptions(RequestBody):
    """What a run is to do."""

    days: int = Field(30, ge=1, le=365, description="看最近多少天的对话")


class MineIn(MiningOptions):
    """What a run looks at."""


class GapDraftIn(RequestBody):
    """A draft as somebody writes it."""

    question: Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="标准问法")]
    answer: Annotated[str, CLEANED, Field(max_length=MAX_ANSWER_CHARS, description="原样给顾客的回答")]
    variants: (
        Annotated[
            list[Annotated[str, CLEANED, Field(max_length=MAX_QUESTION_CHARS)]],
            Field(max_length=MAX_VARIANTS, description="相似问；不给则保留草稿里的"),
        ]
        | None
    ) = None


class GapStepIn(RequestBody):
    """A word on what is done."""

    note: Annotated[str, CLEANED, Field(max_length=500, description="意见，记入历史")] = ""


class GapMergeIn(RequestBody):
    """Where to."""

    into: Annotated[str, Field(min_length=1, max_length=32, description="并入哪个缺口")]


class GapPolicy(RequestBody):
    """How a tenant reviews."""

    two_persons: StrictBool = Field(description="写草稿的人（密钥）不能自己审核通过")


class UnansweredOut(ResponseBody):
    """One question, without personal data, however often it was asked."""

    id: str
    question: str
    outcome: Outcome = Field(description="最近一次的结论类型")
    count: int
    first_seen: datetime
    last_seen: datetime


class UnansweredPage(ResponseBody):
    """The ones that were asked last come first; `total` counts all."""

    questions: list[UnansweredOut]
    total: int
