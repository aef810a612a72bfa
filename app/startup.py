"""How far the start of this process has come."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import StrEnum
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


class StartPart(StrEnum):
    """What readiness waits for, in this order."""

    SAMPLES = "samples"
    """The sample knowledge base is taken in, at the first start."""
    INDEX = "index"
    """Every knowledge base is read from SQL, and answers by keywords at least."""
    VECTORS = "vectors"
    """All chunks have their vectors, or the embedder is out of reach."""
    CALIBRATION = "calibration"
    """The default tenant's gate is calibrated on what its index holds."""
    WARM_QUERY = "warm_query"
    """The embedder and the reranker have answered once."""


class Startup:
    """`serving` is set once questions are answered, be it by keywords alone; `ready` once a warm query was answered by
    all there is; `draining` once the server stops. `unhurried` is set once what else there is to do takes nothing from
    the start: when it is ready, has failed, or waits for vectors, which takes minutes.
    """

    def __init__(self, settings: Settings, base: KnowledgeBase, tenants: Tenants) -> None:
        self._settings = settings
        self._base = base
        self._tenants = tenants
        self.serving = asyncio.Event()
        self.ready = asyncio.Event()
        self.draining = asyncio.Event()
        self.unhurried = asyncio.Event()
        self.waiting_for = list(StartPart)

    async def prepare(self) -> None:
        """Takes the samples in at the first start, waits for vectors that have to be made, which keywords answer
        without meanwhile, then asks a warm question until it is answered.
        """
        async for attempt in retrying("not ready yet", RETRY_SECONDS, most=MAX_RETRY_SECONDS):
            with attempt:  # whatever failed: the database may be away too, and nobody else would try again
                try:
                    await self._prepare()
                finally:
                    self.unhurried.set()

    async def _prepare(self) -> None:
        if self._settings.samples_enabled:
            with self._tenants.filling():
                await ingest_samples(DEFAULT_TENANT, self._base, self._settings)
        self._finish(StartPart.SAMPLES)
        await self._base.serving()
        self._finish(StartPart.INDEX)
        self.serving.set()
        if self._base.indexing is not None:
            self.unhurried.set()
        await self._base.settled()
        self._finish(StartPart.VECTORS)
        retriever = (await self._tenants.of(DEFAULT_TENANT)).retriever
        with suppress(EmbeddingUnavailable):  # then keywords have to answer the warm question
            await retriever.calibrate()
        self._finish(StartPart.CALIBRATION)
        await retriever.search(WARM_QUESTION)
        self._finish(StartPart.WARM_QUERY)
        self.ready.set()

    def _finish(self, part: StartPart) -> None:
        if part in self.waiting_for:  # else it was finished before another failed
            self.waiting_for.remove(part)
