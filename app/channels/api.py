"""Channels: where platforms send to, and what became of replies."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from app.channels.types import CallbackRequest, QueueStatus
from app.db.base import now
from app.http.deps import PUBLIC, AdminTenant, Wiring
from app.http.failures import fails
from app.http.fields import Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/channels", tags=["channels"], route_class=GuardedRoute)

ChannelName = Annotated[str, Path(max_length=32)]
ReplyId = Annotated[str, Path(max_length=32)]


class ChannelOut(BaseModel):
    """An account on a platform, without its secrets."""

    name: str
    kind: str = Field(description="渠道的种类")
    callback: str = Field(description="在平台后台填写的回调地址的路径")
    pending: int = Field(description="等待发出的回复")
    done: int = Field(description="已发出的回复")
    dead: int = Field(description="放弃的回复")


class ChannelList(BaseModel):
    """All channels of the tenant."""

    channels: list[ChannelOut]


class ChannelReplyOut(BaseModel):
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
async def list_channels(tenant: AdminTenant, wiring: Wiring) -> ChannelList:
    """The accounts of the tenant, and how many replies wait."""
    counts = await wiring.channels.counts(tenant)
    told = [
        ChannelOut(
            name=one.name,
            kind=one.kind,
            callback=f"{router.prefix}/{one.name}/callback",
            **{status.value: counts[one.name].get(status.value, 0) for status in QueueStatus},
        )
        for one in wiring.channels.of(tenant)
    ]
    return ChannelList(channels=told)


@router.get("/{name}/replies", responses=fails(404))
async def list_channel_replies(
    name: ChannelName,
    tenant: AdminTenant,
    wiring: Wiring,
    status: QueueStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> ChannelReplyList:
    """What was sent to customers, or was to be, and how it went."""
    rows, total = await wiring.channels.replies(tenant, name, limit, offset, status)
    return ChannelReplyList(replies=[ChannelReplyOut.model_validate(asdict(row)) for row in rows], total=total)


@router.post("/{name}/replies/{reply_id}/retry", status_code=202, response_class=Response, responses=fails(404))
async def retry_channel_reply(name: ChannelName, reply_id: ReplyId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Sends a message again, one that was given up too."""
    await wiring.channels.retry(tenant, name, reply_id)
    return Response(status_code=202)


@router.api_route("/{name}/callback", methods=["GET", "POST"], include_in_schema=False, dependencies=[PUBLIC])
async def receive_callback(name: ChannelName, request: Request, wiring: Wiring) -> Response:
    """What a platform sends: its signature is its key."""
    received = CallbackRequest(
        method=request.method,
        query=dict(request.query_params),
        headers=dict(request.headers),
        body=await request.body(),
        moment=now(),
    )
    result = await wiring.channels.receive(name, received)
    return Response(result.body, media_type=result.media_type)
