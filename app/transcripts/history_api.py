"""What a customer sees of the own conversation, also after the page was loaded again: no traces, no notes, no rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from agents.types import Outcome
from app.attachments.schemas import AttachmentOut
from app.conversations.schemas import ButtonOut, RelatedOut, SourceOut
from app.desk.schemas import HandoffOut
from app.desk.types import Event, Sender
from app.http.deps import HolderTenant, read_proof
from app.http.fields import SessionId
from app.http.routes import GuardedRoute
from app.transcripts.parts import Wiring
from app.transcripts.repository_history import DeskItem, HistoryPlace, TurnItem
from app.transcripts.repository_whole import Who
from app.transcripts.types import Rating
from app.types import Proof, SessionKey

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)

Before = Annotated[
    str | None, Query(pattern=r"^\d{1,16}-\d-\d{1,9}$", description="上一次响应中的 previous，取更早的一页")
]


class SeenOut(BaseModel):
    """Something that was said, or with `event` something that happened at the human desk."""

    who: Who = Field(description="谁说的：customer 顾客，bot 智能客服，staff 客服，system 系统")
    text: str = Field(description="说了什么；人工服务的事件没有文字")
    created_at: datetime
    message_id: str = Field("", description="所属的一轮，评价时用；与客服之间的消息和事件为空")
    outcome: Outcome | None = Field(None, description="这一轮的结论类型；只有智能客服的回复有")
    sources: list[SourceOut] = Field([], description="回复引用的片段；本人的业务数据不在其中")
    suggestions: list[str] = []
    related: list[RelatedOut] = Field([], description="资料没有直接写到时最接近的几处")
    buttons: list[ButtonOut] = Field([], description="回答下面的按钮")
    escalate_to_human: bool = False
    degraded: list[str] = []
    stopped: bool = Field(False, description="true：顾客让它停下，text 是停下之前说的")
    withheld: bool = Field(False, description="true：回复里有会员本人的数据，出示这位会员的 user_token 才显示")
    rating: Rating | None = Field(None, description="顾客的评价")
    reason: str = Field("", description="评价的原因")
    name: str = Field("", description="客服的姓名")
    seq: int | None = Field(None, description="与客服之间的消息的序号")
    event: Event | None = Field(None, description="人工服务的事件，如 request 请求人工、accept 接入；说的话为 null")
    attachments: list[AttachmentOut] = Field([], description="随这句话发来的图片和文件")


class ConversationSeen(BaseModel):
    """A part of the conversation, oldest first."""

    session_id: str
    handoff: HandoffOut = Field(description="现在由谁接待")
    last_seq: int = Field(description="与客服之间最后一条消息的序号；连 WebSocket 时作为 after")
    entries: list[SeenOut] = Field(description="从旧到新")
    previous: str | None = Field(description="还有更早的：作为 before 再取；没有时为 null")


@router.get("/{session_id}/history")
async def read_history(
    session_id: SessionId,
    request: Request,
    tenant: HolderTenant,
    wiring: Wiring,
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=200, description="多少项；一问一答算一项")] = 50,
) -> ConversationSeen:
    """The customer's own conversation, the latest part first."""
    key = SessionKey(tenant, session_id)
    session = await wiring.desk.sessions.find(key)
    page = await wiring.histories.read(key, limit, HistoryPlace.from_cursor(before) if before else None)
    proof = await read_proof(request)
    return ConversationSeen(
        session_id=session_id,
        handoff=HandoffOut.model_validate(await wiring.desk.queue.get_state(session)),
        last_seq=session.messages if session else 0,
        entries=[entry for item in page.items for entry in _build_entries(item, proof)],
        previous=str(page.previous) if page.previous else None,
    )


def _build_entries(item: TurnItem | DeskItem, proof: Proof) -> Iterator[SeenOut]:
    at = item.place.created_at
    if isinstance(item, DeskItem):
        who = Who.STAFF if item.sender is Sender.AGENT else Who.SYSTEM
        yield SeenOut(
            who=who,
            text=item.text,
            created_at=at,
            name=item.name,
            seq=item.seq,
            event=item.event,
            attachments=item.attachments,
        )
        return
    yield SeenOut(who=Who.CUSTOMER, text=item.question, created_at=at, message_id=item.id, attachments=item.attachments)
    reply = SeenOut(who=Who.BOT, text=item.reply, created_at=at, message_id=item.id)
    reply.outcome, reply.rating, reply.reason = Outcome(item.outcome), item.rating, item.reason
    if not proof.trusted and item.rows_of not in ("", proof.caller):
        yield reply.model_copy(update={"text": "", "withheld": True})
    elif item.reply:
        yield reply.model_copy(update=_list_beside(item.response["data"]))


def _list_beside(data: dict[str, Any]) -> dict[str, Any]:
    """Returns what was shown beside a reply. data: as it was sent."""
    sources = [SourceOut(**source) for source in data["sources"] if source["index"] != "SQL"]
    buttons = [ButtonOut(**button) for button in data.get("buttons", ())]
    related = [RelatedOut(**place) for place in data.get("related", ())]
    beside = {"sources": sources, "related": related, "buttons": buttons, "stopped": data.get("stopped", False)}
    return beside | {name: data[name] for name in _BESIDE}


_BESIDE = "suggestions", "escalate_to_human", "degraded"
