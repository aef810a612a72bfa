"""Conversations: listed, read, deleted, rated."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from agents.types import Outcome
from app.api.deps import HolderTenant, StaffTenant, Wiring
from app.api.failures import fails
from app.db.transcripts import Rating
from app.errors import NotFound
from app.http.routes import GuardedRoute
from knowledge.text import clean

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)

SessionId = Annotated[str, Path(max_length=128)]


class ConversationOut(BaseModel):
    """A conversation in the list."""

    session_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明")
    channel: str
    turns: int
    created_at: datetime
    updated_at: datetime
    first_question: str = Field(description="首条消息，便于辨认")


class ConversationList(BaseModel):
    """The ones that were active last come first; `next` continues the list as `after`."""

    conversations: list[ConversationOut]
    next: str | None


class ExchangeOut(BaseModel):
    """A message of the customer and the reply to it."""

    message_id: str
    question: str
    reply: str
    outcome: Outcome
    data: dict[str, Any] = Field(description="与当时响应里的 data 相同；顾客看不到的 decision 也在其中")
    created_at: datetime
    rating: Rating | None
    reason: str


class Transcript(BaseModel):
    """A whole conversation, the oldest turn first."""

    session_id: str
    turns: list[ExchangeOut]


class FeedbackIn(BaseModel):
    """A vote on one reply; a later one replaces it."""

    rating: Rating = Field(description="up 为赞，down 为踩")
    reason: str = Field("", max_length=1000, description="原因，可不填")


@router.get("")
async def list_conversations(
    tenant: StaffTenant,
    wiring: Wiring,
    user_id: str = "",
    channel: str = "",
    after: Annotated[str, Query(description="上一页响应中的 next")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ConversationList:
    """The conversations that were active last."""
    found = await wiring.transcripts.recent(tenant, limit, user_id=user_id, channel=channel, after=after)
    following = found[-1].session_id if len(found) == limit else None
    return ConversationList(conversations=[ConversationOut(**asdict(item)) for item in found], next=following)


@router.get("/{session_id}", responses=fails(404))
async def read_conversation(session_id: SessionId, tenant: StaffTenant, wiring: Wiring) -> Transcript:
    """All turns of a conversation."""
    exchanges = await wiring.transcripts.read(tenant, session_id)
    if not exchanges:
        raise _unknown(session_id)
    turns = [
        ExchangeOut(
            message_id=item.id,
            question=item.question,
            reply=item.reply,
            outcome=item.outcome,
            data=item.response["data"],
            created_at=item.created_at,
            rating=item.rating,
            reason=item.reason,
        )
        for item in exchanges
    ]
    return Transcript(session_id=session_id, turns=turns)


@router.delete("/{session_id}", status_code=204, responses=fails(404))
async def delete_conversation(session_id: SessionId, tenant: StaffTenant, wiring: Wiring) -> Response:
    """Deletes a conversation with all its turns and votes for good."""
    if not await wiring.transcripts.delete(tenant, session_id):
        raise _unknown(session_id)
    return Response(status_code=204)


@router.put("/{session_id}/messages/{message_id}/feedback", status_code=204)
async def rate_message(
    session_id: SessionId, message_id: SessionId, body: FeedbackIn, tenant: HolderTenant, wiring: Wiring
) -> Response:
    """Keeps the customer's vote on one reply."""
    if not await wiring.transcripts.rate(tenant, session_id, message_id, body.rating, clean(body.reason)):
        raise NotFound("没有找到这条消息，请核对会话编号与消息编号。", code="message_not_found")
    return Response(status_code=204)


def _unknown(session_id: str) -> NotFound:
    return NotFound("没有找到这个会话，可能已被删除。", code="conversation_not_found", session_id=session_id)
