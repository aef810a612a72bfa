"""The webhooks of one process: what manages them, and the worker that delivers them while this is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.db.engine import Database
from app.settings import Settings
from app.webhooks.repository import WebhookRepository
from app.webhooks.repository_deliveries import DeliveryRepository
from app.webhooks.sender import WebhookSender
from app.webhooks.service import WebhookService
from app.webhooks.worker import WebhookWorker


@asynccontextmanager
async def open_webhooks(settings: Settings, database: Database) -> AsyncIterator[WebhookService]:
    """Delivers what is due until the end."""
    deliveries = DeliveryRepository(database)
    sender = WebhookSender(
        settings.webhook_timeout, allow_private=settings.webhook_allow_private, ports=settings.webhook_ports
    )
    async with sender:
        worker = WebhookWorker(deliveries, sender, settings.webhook_max_attempts)
        worker.start()
        try:
            yield WebhookService(WebhookRepository(database), deliveries, sender, settings.webhooks_per_tenant)
        finally:
            await worker.close()
