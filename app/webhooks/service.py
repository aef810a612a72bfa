"""Webhooks as an administrator manages them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from app.db.base import now
from app.errors import Conflict, NotFound
from app.net.targets import check_url
from app.request_ids import get_request_id
from app.webhooks.repository import Subscription, WebhookRepository
from app.webhooks.repository_deliveries import Delivery, DeliveryRepository, DeliveryRow, State
from app.webhooks.sender import SendResult, WebhookSender

TEST_EVENT = "webhook.test"


class WebhookService:
    """The webhooks of all tenants, up to `most` of each."""

    def __init__(
        self, webhooks: WebhookRepository, deliveries: DeliveryRepository, sender: WebhookSender, most: int
    ) -> None:
        self._most = most
        self._webhooks = webhooks
        self._deliveries = deliveries
        self._sender = sender

    async def create(
        self, tenant: str, url: str, events: Sequence[str], description: str, secret: str = ""
    ) -> Subscription:
        """Creates a webhook; without a secret it gets one.

        Raises Forbidden for a URL that must not be called, Conflict for one webhook too many.
        """
        self._check(url)
        secret = secret or f"whsec_{secrets.token_urlsafe(32)}"
        wanted = sorted(set(events))
        made = Subscription(secrets.token_hex(16), url, secret, wanted, description, enabled=True, created_at=now())
        if not await self._webhooks.add(tenant, made, self._most):
            message = f"最多可以有 {self._most} 个 Webhook，请先删除不用的，或由管理员调高 WEBHOOKS_PER_TENANT。"
            raise Conflict(message, code="too_many_webhooks", limit=self._most)
        return made

    async def list_all(self, tenant: str) -> list[Subscription]:
        """Lists all webhooks of the tenant."""
        return await self._webhooks.list_all(tenant)

    async def get(self, tenant: str, webhook: str) -> Subscription:
        """Raises NotFound."""
        found = await self._webhooks.get(tenant, webhook)
        if found is None:
            raise _build_not_found(webhook)
        return found

    async def update(self, tenant: str, webhook: str, values: dict[str, Any]) -> Subscription:
        """Changes url, events, description or enabled. Raises NotFound, Forbidden."""
        await self.get(tenant, webhook)
        if "url" in values:
            self._check(values["url"])
        if values:
            await self._webhooks.update(tenant, webhook, values)
        return await self.get(tenant, webhook)

    async def delete(self, tenant: str, webhook: str) -> None:
        """Raises NotFound."""
        if not await self._webhooks.delete(tenant, webhook):
            raise _build_not_found(webhook)

    async def send_test(self, tenant: str, webhook: str) -> SendResult:
        """Sends one signed event at once, whether the webhook is enabled or not. Raises NotFound."""
        found = await self.get(tenant, webhook)
        event = secrets.token_hex(16)
        told = {"id": event, "event": TEST_EVENT, "created_at": now().isoformat(), "request_id": get_request_id()}
        envelope = told | {"data": {"webhook_id": webhook}}
        delivery = Delivery(tenant, event, found.url, found.secret, TEST_EVENT, event, json.dumps(envelope), 0)
        return await self._sender.send(delivery)

    async def load_deliveries(
        self, tenant: str, webhook: str, limit: int, state: State | None, event: str = "", offset: int = 0
    ) -> tuple[list[DeliveryRow], int]:
        """Returns deliveries, the latest first, and their total number. Raises NotFound."""
        await self.get(tenant, webhook)
        return await self._deliveries.load_page(tenant, webhook, limit, state, event, offset)

    async def retry_delivery(self, tenant: str, webhook: str, delivery: str) -> None:
        """Raises NotFound."""
        if not await self._deliveries.retry_delivery(tenant, webhook, delivery):
            raise NotFound("没有找到这次投递。", code="delivery_not_found", delivery_id=delivery)

    def _check(self, url: str) -> None:
        check_url(url, self._sender.policy)


def _build_not_found(webhook: str) -> NotFound:
    return NotFound("没有找到这个 Webhook，可能已被删除。", code="webhook_not_found", webhook_id=webhook)
