"""The start of a process, until it answers by all there is."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from app.auth.principal import DEFAULT_TENANT
from app.readiness import Readiness, StartPart
from app.retrying import retry
from app.settings import Settings
from app.tenants import Tenants
from app.wiring.samples import ingest_samples
from knowledge.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from app.wiring.knowledge import KnowledgeBase

WARM_QUESTION = "你们的服务怎么用"
RETRY_SECONDS = 1.0
MAX_RETRY_SECONDS = 30.0


class Startup(Readiness):
    """Takes a process from its start to readiness."""

    def __init__(self, settings: Settings, base: KnowledgeBase, tenants: Tenants) -> None:
        super().__init__()
        self._settings = settings
        self._base = base
        self._tenants = tenants

    async def prepare(self) -> None:
        """Takes the samples in at the first start, waits for vectors that have to be made, which keywords answer
        without meanwhile, then asks a warm question until it is answered.
        """
        async for attempt in retry("not ready yet", RETRY_SECONDS, most=MAX_RETRY_SECONDS):
            with attempt:  # whatever failed: the database may be away too, and nobody else would try again
                try:
                    await self._prepare()
                finally:
                    self.unhurried.set()

    async def _prepare(self) -> None:
        if self._settings.samples_enabled:
            with self._tenants.block_while_filling():
                await ingest_samples(DEFAULT_TENANT, self._base, self._settings)
        self.finish_part(StartPart.SAMPLES)
        await self._base.wait_until_serving()
        self.finish_part(StartPart.INDEX)
        self.serving.set()
        if self._base.indexing is not None:
            self.unhurried.set()
        await self._base.wait_until_settled()
        self.finish_part(StartPart.VECTORS)
        retriever = (await self._tenants.get_parts(DEFAULT_TENANT)).retriever
        with suppress(EmbeddingUnavailable):  # then keywords have to answer the warm question
            await retriever.calibrate()
        self.finish_part(StartPart.CALIBRATION)
        await retriever.search(WARM_QUESTION)
        self.finish_part(StartPart.WARM_QUERY)
        self.ready.set()
