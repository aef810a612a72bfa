"""Delivers webhooks in the background."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from loguru import logger

from app.webhooks.repository_deliveries import Delivery, DeliveryRepository, DeliveryResult
from app.webhooks.sender import CONNECTIONS, WebhookSender

POLL_SECONDS = 1.0


class WebhookWorker:
    """max_attempts: tries before a delivery is given up; timeout: of a try, in seconds."""

    def __init__(
        self, deliveries: DeliveryRepository, sender: WebhookSender, max_attempts: int, timeout: float
    ) -> None:
        self._deliveries = deliveries
        self._sender = sender
        self._max_attempts = max_attempts
        self._lease = timedelta(seconds=2 * timeout + 30)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins with what is due already."""
        self._task = asyncio.create_task(self._run(), name="webhooks")

    async def close(self) -> None:
        """Stops; what is under way is tried again after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def send_due(self) -> int:
        """Tries what is due, and returns how many that were."""
        claimed = await self._deliveries.claim(CONNECTIONS, self._lease)
        if claimed:
            await self._deliveries.settle_results(await asyncio.gather(*map(self._try_delivery, claimed)))
        return len(claimed)

    async def _try_delivery(self, delivery: Delivery) -> DeliveryResult:
        sent = await self._sender.send(delivery)
        if sent.ok:
            return DeliveryResult(delivery, "delivered", sent.status, "")
        over = sent.is_gone or delivery.attempts + 1 >= self._max_attempts
        log = logger.bind(tenant=delivery.tenant, event=delivery.event, attempt=delivery.attempts + 1)
        log.warning("a webhook was given up" if over else "a webhook was not delivered, trying again")
        return DeliveryResult(delivery, "dead" if over else "pending", sent.status, sent.error)

    async def _run(self) -> None:
        while True:
            try:
                while await self.send_due() == CONNECTIONS:
                    pass
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("webhooks cannot be delivered")
            await asyncio.sleep(POLL_SECONDS)
