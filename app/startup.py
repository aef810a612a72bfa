"""How far the start of this process has come."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from app.auth.principal import DEFAULT_TENANT
from app.documents.samples import ingest_samples
from app.retrying import retrying
from app.settings import Settings
from app.tenants import Tenants
from knowledge.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from app.wiring.knowledge import KnowledgeBase

WARM_QUESTION = "你们的服务怎么用"
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0


class Startup:
    """`serving` is set once questions are answered, be it by keywords alone; `ready` once a warm query was answered by
    all there is; `draining` once the server stops.
    """

    def __init__(self, settings: Settings, base: KnowledgeBase, tenants: Tenants) -> None:
        self._settings = settings
        self._base = base
        self._tenants = tenants
        self.serving = asyncio.Event()
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()

    async def prepare(self) -> None:
        """Takes the samples in at the first start, waits for vectors that have to be made, which keywords answer
        without meanwhile, then asks a warm question until it is answered.
        """
        async for attempt in retrying("not ready yet", RETRY_SECONDS, most=MAX_RETRY_SECONDS):
            with attempt:  # whatever failed: the database may be away too, and nobody else would try again
                if self._settings.samples_enabled:
                    with self._tenants.filling():
                        await ingest_samples(DEFAULT_TENANT, self._base, self._settings)
                await self._base.serving()
                self.serving.set()
                await self._base.settled()
                retriever = (await self._tenants.of(DEFAULT_TENANT)).retriever
                with suppress(EmbeddingUnavailable):  # then keywords have to answer the warm question
                    await retriever.calibrate()
                await retriever.search(WARM_QUESTION)
                self.ready.set()
