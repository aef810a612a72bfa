"""Channels: the callback of platforms, and the state of accounts and replies."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field, StringConstraints

from agents.wording.catalogue import say
from app.channels.base import Channel
from app.channels.service import ChannelService
from app.channels.tokens import TokenStatus
from app.channels.types import CallbackRequest, QueueStatus
from app.db.base import now
from app.errors import InvalidRequest, NotFound
from app.http.deps import PUBLIC, AdminTenant, BackendTenant, use_part
from app.http.failures import list_failures
from app.http.fields import CLEANED, Offset, SessionId
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from knowledge.text import clean

ChannelsDep = Annotated[ChannelService, use_part("channels")]

router = APIRouter(prefix="/api/v1/channels", tags=["channels"], route_class=GuardedRoute)

ChannelName = Annotated[str, Path(max_length=32)]
ReplyId = Annotated[str, Path(max_length=32)]
ChannelUser = Annotated[str, StringConstraints(min_length=1, max_length=256)]
UserId = Annotated[str, CLEANED, StringConstraints(min_length=1, max_length=128)]


class ChannelTokenOut(BaseModel):
    """How it stands with the access token of an account."""

    status: TokenStatus = Field(description="unused：还没有用到；valid：有效；failed：取不到")
    expires_at: datetime | None = Field(description="valid 时到期的时间")
    error: str = Field(description="failed 时平台说的原因")


class ChannelOut(BaseModel):
    """An account on a platform, without its secrets."""

    name: str
    kind: str = Field(description="渠道的种类")
    callback: str = Field(description="在平台后台填写的回调地址的路径")
    pending: int = Field(description="等待发出的回复")
    done: int = Field(description="已发出的回复")
    dead: int = Field(description="放弃的回复")
    last_message_at: datetime | None = Field(description="最后一次收到消息")
    last_reply_at: datetime | None = Field(description="最后一次发出回复")
    token: ChannelTokenOut | None = Field(description="访问令牌；不用令牌的渠道为 null")
    problem: str = Field(description="取消息的连接有问题时的原因，没有问题为空")
    proves_users: bool = Field(description="平台能不能证明消息是谁发的，能才可以对应会员")
    members: int = Field(description="对应了会员的平台用户数")


class ChannelList(BaseModel):
    """All channels of the tenant."""

    channels: list[ChannelOut]


class ChannelConversationOut(ResponseBody):
    """A conversation of an account."""

    session_id: str
    updated_at: datetime = Field(description="顾客最后一次说话")


class ChannelConversationList(BaseModel):
    """Those first in which the customer wrote last."""

    conversations: list[ChannelConversationOut]


class ChannelTest(BaseModel):
    """Where a test message goes."""

    session_id: SessionId = Field(description="发到哪个会话", examples=["demo-1"])
    language: Literal["zh", "en"] = "zh"


class ChannelMember(BaseModel):
    """Who a user of the platform is."""

    channel_user: ChannelUser = Field(description="平台上的用户，例如公众号的 openid", examples=["oABC123"])
    user_id: UserId = Field(description="业务侧的会员编号", examples=["M0001"])


class ChannelReplyOut(ResponseBody):
    """A message of a reply; `error` is of the last try."""

    id: str
    session_id: str
    status: QueueStatus
    attempts: int
    error: str
    due_at: datetime = Field(description="pending 时下次尝试的时间")
    created_at: datetime
    updated_at: datetime


class ChannelReplyList(BaseModel):
    """The latest first."""

    replies: list[ChannelReplyOut]
    total: int


@router.get("")
async def list_channels(tenant: AdminTenant, channel_service: ChannelsDep) -> ChannelList:
    """The accounts of the tenant, and how many replies wait."""
    counts, activity = await channel_service.count_replies(tenant), await channel_service.find_activity(tenant)
    channels = [
        ChannelOut(
            name=one.name,
            kind=one.kind,
            callback=f"{router.prefix}/{one.name}/callback",
            **{status.value: counts[one.name].get(status.value, 0) for status in QueueStatus},
            **asdict(activity[one.name]),
            token=await _build_token_state(one.channel),
            problem=channel_service.get_problem(one.name),
            proves_users=one.channel.proves_users,
        )
        for one in channel_service.list_channels(tenant)
    ]
    return ChannelList(channels=channels)


async def _build_token_state(channel: Channel) -> ChannelTokenOut | None:
    if not channel.has_token:
        return None
    state = await channel.parts.tokens.get_state(channel.parts.name)
    expires_at = now() + timedelta(seconds=state.seconds) if state.status is TokenStatus.VALID else None
    return ChannelTokenOut(status=state.status, expires_at=expires_at, error=state.error)


@router.get("/{name}/conversations", responses=list_failures(404))
async def list_channel_conversations(
    name: ChannelName,
    tenant: AdminTenant,
    channel_service: ChannelsDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> ChannelConversationList:
    """Where a test message may go: those first in which the customer wrote last."""
    found = await channel_service.list_conversations(tenant, name, limit)
    rows = [ChannelConversationOut.model_validate(one) for one in found]
    return ChannelConversationList(conversations=rows)


@router.post("/{name}/test", status_code=204, response_class=Response, responses=list_failures(404))
async def send_channel_test(
    name: ChannelName, body: ChannelTest, tenant: AdminTenant, channel_service: ChannelsDep
) -> Response:
    """Says in a conversation that this is a test; it goes the way of all replies."""
    text = say("channel_test", body.language == "en")
    await channel_service.send_test(tenant, name, body.session_id, text)
    return Response(status_code=204)


@router.put("/{name}/members", status_code=204, response_class=Response, responses=list_failures(404, 409))
async def bind_channel_member(
    name: ChannelName, body: ChannelMember, tenant: BackendTenant, channel_service: ChannelsDep
) -> Response:
    """Says who a user of the platform is; messages that follow are the member's. Another member before is replaced."""
    await channel_service.bind_member(tenant, name, body.channel_user, body.user_id)
    return Response(status_code=204)


@router.delete("/{name}/members", status_code=204, response_class=Response, responses=list_failures(400, 404))
async def forget_channel_members(
    name: ChannelName,
    tenant: BackendTenant,
    channel_service: ChannelsDep,
    channel_user: Annotated[str, Query(max_length=256, description="忘记这一个平台用户")] = "",
    user_id: Annotated[str, Query(max_length=128, description="忘记这位会员的全部平台用户")] = "",
) -> Response:
    """Forgets who a user of the platform is, or all users of a member: give one of the two."""
    if bool(channel_user) == bool(user_id):
        raise InvalidRequest("请给出 channel_user 或 user_id，只给一个。", code="one_of_two")
    if not await channel_service.forget_members(tenant, name, user=channel_user, member=clean(user_id).strip()):
        raise NotFound("没有这个对应关系。", code="channel_member_not_found")
    return Response(status_code=204)


@router.get("/{name}/replies", responses=list_failures(404))
async def list_channel_replies(
    name: ChannelName,
    tenant: AdminTenant,
    channel_service: ChannelsDep,
    status: QueueStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> ChannelReplyList:
    """What was sent to customers, or was to be, and how it went."""
    rows, total = await channel_service.list_replies(tenant, name, limit, offset, status)
    return ChannelReplyList(replies=[ChannelReplyOut.model_validate(row) for row in rows], total=total)


@router.post("/{name}/replies/{reply_id}/retry", status_code=204, response_class=Response, responses=list_failures(404))
async def retry_channel_reply(
    name: ChannelName, reply_id: ReplyId, tenant: AdminTenant, channel_service: ChannelsDep
) -> Response:
    """Sends a message again, one that was given up too."""
    await channel_service.retry_reply(tenant, name, reply_id)
    return Response(status_code=204)


@router.api_route("/{name}/callback", methods=["GET", "POST"], include_in_schema=False, dependencies=[PUBLIC])
async def receive_callback(name: ChannelName, request: Request, channel_service: ChannelsDep) -> Response:
    """What a platform sends: its signature is its key."""
    received = CallbackRequest(
        method=request.method,
        query=dict(request.query_params),
        headers=dict(request.headers),
        body=await request.body(),
        moment=now(),
    )
    result = await channel_service.handle_callback(name, received)
    return Response(result.body, media_type=result.media_type)
