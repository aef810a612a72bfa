"""Conversations: listed, read, deleted, rated."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from agents.types import Outcome
from app.attachments.schemas import AttachmentOut
from app.desk.types import Event, State
from app.errors import NotFound
from app.http.deps import CompanyTenant, HolderTenant, StaffTenant
from app.http.failures import list_failures
from app.http.fields import Moment, Offset
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from app.transcripts.parts import Wiring
from app.transcripts.repository import ConversationFilter
from app.transcripts.repository_whole import Who
from app.transcripts.severity import Trouble
from app.transcripts.types import Rating
from app.types import SessionKey
from knowledge.text import clean

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)

ConversationSort = Literal["-updated", "updated", "-created", "created", "-turns", "turns"]
SessionId = Annotated[str, Path(max_length=128)]


class ConversationOut(ResponseBody):
    """A conversation in the list."""

    session_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明")
    channel: str
    turns: int
    created_at: datetime
    updated_at: datetime
    first_question: str = Field(description="首条消息")
    title: str = Field(description="最不顺的一轮里顾客的话；同样不顺的取最早的")
    trouble: Trouble = Field(
        description="那一轮怎么不顺，从重到轻：danger 有危险或高风险，wanted_person 要人工，thumbs_down 被踩，"
        "refused 没答上，unsure 没把握；none 都顺利"
    )
    worst: str = Field(description="那一轮的编号；没有一轮时为空")
    last_outcome: str = Field(description="最后一轮的结论类型；没有一轮时为空")
    handoff: bool = Field(description="是否请求过人工")
    up: int = Field(description="赞的次数")
    down: int = Field(description="踩的次数")
    labels: list[str] = Field(description="会话的标签")


class ConversationList(BaseModel):
    """One page; `next` continues the list as `after`, where it is not sorted otherwise."""

    conversations: list[ConversationOut]
    next: str | None
    total: int


class ExchangeOut(ResponseBody):
    """A message of the customer and the reply to it."""

    message_id: str
    question: str
    reply: str
    outcome: Outcome
    data: dict[str, Any] = Field(description="与当时响应里的 data 相同；顾客看不到的 decision 也在其中")
    created_at: datetime
    rating: Rating | None
    reason: str


class EntryOut(ResponseBody):
    """Something that was said, or with `event` something that happened at the human desk."""

    who: Who = Field(description="谁说的、谁做的：customer 顾客，bot 智能客服，staff 客服，system 系统")
    agent_id: str = Field(description="客服的编号；不是客服时为空")
    name: str = Field(description="客服的姓名；没有登记时为空")
    text: str = Field(description="说了什么；人工服务的事件没有文字")
    event: Event | None = Field(description="人工服务的事件，如 request 请求人工、accept 接入；说的话为 null")
    note: str = Field(description="事件的说明，顾客看不到")
    message_id: str = Field(description="所属的一轮，对应 turns；与客服之间的消息和事件为空")
    seq: int | None = Field(description="与客服之间的消息的序号")
    created_at: datetime
    attachments: list[AttachmentOut] = Field([], description="随这句话发来的图片和文件")


class Transcript(ResponseBody):
    """A whole conversation, oldest first: `entries` is all that was said and happened, `turns` the bot's replies with
    their sources and votes.
    """

    session_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明")
    channel: str
    state: State = Field(description="现在由谁接待")
    created_at: datetime
    updated_at: datetime
    entries: list[EntryOut] = Field(description="从头到尾：各方说了什么，何时转人工、接入、结束")
    turns: list[ExchangeOut] = Field(description="每一轮的问与答，含当时的来源与评价")


class FeedbackIn(BaseModel):
    """A vote on one reply; a later one replaces it."""

    rating: Rating = Field(description="up 为赞，down 为踩")
    reason: str = Field("", max_length=1000, description="原因，可不填")


@router.get("")
async def list_conversations(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="消息或回复里的字，或会话、用户的编号")] = "",
    user_id: str = "",
    channel: str = "",
    outcome: Annotated[Outcome | None, Query(description="有一轮是这个结论")] = None,
    handoff: Annotated[bool | None, Query(description="请求过人工的，或没有请求过的")] = None,
    rating: Annotated[Rating | None, Query(description="有一条回复得到这种评价")] = None,
    label: Annotated[str, Query(max_length=32, description="有这个标签的")] = "",
    trouble: Annotated[Trouble | None, Query(description="有一轮这样不顺")] = None,
    since: Annotated[Moment | None, Query(description="这时起有动静的，要带时区")] = None,
    until: Annotated[Moment | None, Query(description="这时之前有动静的，要带时区")] = None,
    sort: Annotated[ConversationSort, Query(description="按什么排；前面加 - 为从大到小")] = "-updated",
    after: Annotated[str, Query(description="上一页响应中的 next；只用于 -updated")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> ConversationList:
    """A page of conversations, each called by its worst turn."""
    places = since, until, after, trouble, sort, label
    wanted = ConversationFilter(q, user_id, channel, outcome or "", handoff, rating or "", *places)
    found, total = await wiring.transcripts.load_recent(tenant, limit, wanted, offset)
    following = found[-1].session_id if len(found) == limit and sort == "-updated" else None
    labels = await wiring.contacts.rows.load_labels(tenant, [item.session_id for item in found])
    listed = [ConversationOut.build_from(item, labels=labels.get(item.session_id, ())) for item in found]
    return ConversationList(conversations=listed, next=following, total=total)


@router.get("/{session_id}", responses=list_failures(404))
async def read_conversation(session_id: SessionId, tenant: CompanyTenant, wiring: Wiring) -> Transcript:
    """All of a conversation, with what staff said and what happened at the desk."""
    whole = await wiring.whole_transcripts.read(SessionKey(tenant, session_id))
    if whole is None:
        raise _build_not_found(session_id)
    turns = [
        ExchangeOut.build_from(item, message_id=item.id, data=item.response["data"])
        for item in await wiring.transcripts.read(tenant, session_id)
    ]
    return Transcript.build_from(whole, turns=turns)


@router.delete("/{session_id}", status_code=204, responses=list_failures(404))
async def delete_conversation(session_id: SessionId, tenant: StaffTenant, wiring: Wiring) -> Response:
    """Deletes a conversation with all its turns and votes for good."""
    if not await wiring.transcripts.delete(tenant, session_id):
        raise _build_not_found(session_id)
    return Response(status_code=204)


@router.put("/{session_id}/messages/{message_id}/feedback", status_code=204)
async def rate_message(
    session_id: SessionId, message_id: SessionId, body: FeedbackIn, tenant: HolderTenant, wiring: Wiring
) -> Response:
    """Keeps the customer's vote on one reply."""
    if not await wiring.transcripts.rate(tenant, session_id, message_id, body.rating, clean(body.reason)):
        raise NotFound("没有找到这条消息，请核对会话编号与消息编号。", code="message_not_found")
    return Response(status_code=204)


def _build_not_found(session_id: str) -> NotFound:
    return NotFound("没有找到这个会话，可能已被删除。", code="conversation_not_found", session_id=session_id)
