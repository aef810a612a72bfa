"""Delivers webhooks in the background."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from loguru import logger

from app.db.leased_queue import LeaseLost
from app.webhooks.repository_deliveries import Delivery, DeliveryRepository, DeliveryResult
from app.webhooks.sender import CONNECTIONS, WebhookSender
from app.work_loop import WorkLoop, run_leased


class WebhookWorker(WorkLoop):
    """max_attempts: tries before a delivery is given up."""

    name = "webhooks"

    def __init__(self, deliveries: DeliveryRepository, sender: WebhookSender, max_attempts: int) -> None:
        super().__init__()
        self._deliveries = deliveries
        self._sender = sender
        self._max_attempts = max_attempts

    async def run_round(self) -> int:
        """Tries what is due."""
        claimed = await self._deliveries.claim(CONNECTIONS, self._worker)
        if claimed:
            renew = partial(self._deliveries.renew_leases, claimed, self._worker)
            with suppress(LeaseLost):  # their webhook was deleted
                tried = await run_leased(asyncio.gather(*map(self._try_delivery, claimed)), renew)
                await self._deliveries.settle_results(tried.result(), self._worker)
        return len(claimed)

    async def _try_delivery(self, delivery: Delivery) -> DeliveryResult:
        sent = await self._sender.send(delivery)
        if sent.ok:
            return DeliveryResult(delivery, "delivered", sent.status, "")
        over = sent.is_gone or delivery.attempts + 1 >= self._max_attempts
        log = logger.bind(tenant=delivery.tenant, event=delivery.event, attempt=delivery.attempts + 1)
        log.warning("a webhook was given up" if over else "a webhook was not delivered, trying again")
        return DeliveryResult(delivery, "dead" if over else "pending", sent.status, sent.error)
