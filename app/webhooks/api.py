"""Webhooks: who is told of what, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field, StrictBool

from app.http.deps import AdminTenant, use_part
from app.http.failures import list_failures
from app.http.fields import CLEANED, Offset
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody, ResponseBody
from app.webhooks.events import WebhookEvent
from app.webhooks.repository_deliveries import State
from app.webhooks.service import WebhookService

WebhooksDep = Annotated[WebhookService, use_part("webhooks")]

router = APIRouter(prefix="/api/v1/webhooks", tags=["webhooks"], route_class=GuardedRoute)

Url = Annotated[str, CLEANED, Field(min_length=8, max_length=2000)]
Description = Annotated[str, CLEANED, Field(max_length=200)]
WebhookId = Annotated[str, Path(max_length=32)]


class WebhookIn(RequestBody):
    """A new webhook."""

    url: Url = Field(description="接收地址；默认不允许指向本机和内网")
    events: list[WebhookEvent] = Field(min_length=1, description="订阅的事件")
    description: Description = ""
    secret: str = Field(
        "", max_length=128, pattern=r"^([\x21-\x7e]{16,})?$", description="签名密钥，至少 16 个字符；留空则生成"
    )


class WebhookPatch(RequestBody):
    """What is to be changed; what is left out stays."""

    url: Url | None = None
    events: list[WebhookEvent] | None = Field(None, min_length=1)
    description: Description | None = None
    enabled: StrictBool | None = None


class WebhookOut(ResponseBody):
    """A webhook, without its secret."""

    id: str
    url: str
    events: list[WebhookEvent]
    description: str
    enabled: bool
    created_at: datetime


class WebhookCreated(WebhookOut):
    """The secret is shown this once."""

    secret: str = Field(description="验证签名用，只在创建时返回一次")


class WebhookList(BaseModel):
    """All webhooks, the oldest first."""

    webhooks: list[WebhookOut]


class WebhookTestOut(BaseModel):
    """How the test went; `status` is that of the receiver's response, if there was one."""

    delivered: bool
    status: int | None
    error: str


class DeliveryOut(ResponseBody):
    """A delivery; `status` and `error` are of the last try."""

    id: str
    event: WebhookEvent
    event_id: str
    state: State
    attempts: int
    status: int | None
    error: str
    due_at: datetime = Field(description="pending 时下次尝试的时间")
    created_at: datetime
    updated_at: datetime


class DeliveryList(BaseModel):
    """The latest first."""

    deliveries: list[DeliveryOut]
    total: int


@router.post("", status_code=201, responses=list_failures(409))
async def create_webhook(body: WebhookIn, tenant: AdminTenant, webhooks: WebhooksDep) -> WebhookCreated:
    """Subscribes; the secret is returned this once."""
    made = await webhooks.create(tenant, body.url, body.events, body.description, body.secret)
    return WebhookCreated.model_validate(made)


@router.get("")
async def list_webhooks(tenant: AdminTenant, webhooks: WebhooksDep) -> WebhookList:
    """All webhooks."""
    return WebhookList(webhooks=[WebhookOut.model_validate(item) for item in await webhooks.list_all(tenant)])


@router.patch("/{webhook_id}", responses=list_failures(404))
async def change_webhook(
    webhook_id: WebhookId, body: WebhookPatch, tenant: AdminTenant, webhooks: WebhooksDep
) -> WebhookOut:
    """Changes what is sent; switched off, it gets nothing new and what is pending waits."""
    return WebhookOut.model_validate(await webhooks.update(tenant, webhook_id, body.model_dump(exclude_none=True)))


@router.delete("/{webhook_id}", status_code=204, responses=list_failures(404))
async def delete_webhook(webhook_id: WebhookId, tenant: AdminTenant, webhooks: WebhooksDep) -> Response:
    """Deletes a webhook with its deliveries."""
    await webhooks.delete(tenant, webhook_id)
    return Response(status_code=204)


@router.post("/{webhook_id}/test", responses=list_failures(404))
async def test_webhook(webhook_id: WebhookId, tenant: AdminTenant, webhooks: WebhooksDep) -> WebhookTestOut:
    """Sends one signed `webhook.test` now and says how it went."""
    sent = await webhooks.send_test(tenant, webhook_id)
    return WebhookTestOut(delivered=sent.ok, status=sent.status, error=sent.error)


@router.get("/{webhook_id}/deliveries", responses=list_failures(404))
async def list_deliveries(
    webhook_id: WebhookId,
    tenant: AdminTenant,
    webhooks: WebhooksDep,
    state: State | None = None,
    event: WebhookEvent | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> DeliveryList:
    """What was sent, and how it went, of the last 30 days."""
    rows, total = await webhooks.load_deliveries(tenant, webhook_id, limit, state, event or "", offset)
    return DeliveryList(deliveries=[DeliveryOut.model_validate(row) for row in rows], total=total)


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/retry",
    status_code=202,
    response_class=Response,
    responses=list_failures(404),
)
async def retry_delivery(
    webhook_id: WebhookId, delivery_id: WebhookId, tenant: AdminTenant, webhooks: WebhooksDep
) -> Response:
    """Sends a delivery again, one that was given up too."""
    await webhooks.retry_delivery(tenant, webhook_id, delivery_id)
    return Response(status_code=202)
