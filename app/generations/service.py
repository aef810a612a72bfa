"""Which index and which embedder each tenant has by now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from loguru import logger

from app.auth.principal import DEFAULT_TENANT
from app.generations.engine import EmbeddingEngine, Generation
from app.generations.repository import GenerationRepository
from app.generations.types import StoredGeneration
from knowledge.embeddings.base import Embedder, QueryLane

if TYPE_CHECKING:
    from app.readiness import Readiness


class Generations:
    """Of all tenants. An embedder is open once, for as long as any generation is of it."""

    def __init__(
        self, stored: GenerationRepository, configured: str, open_embedder: Callable[[str], Awaitable[Embedder]]
    ) -> None:
        """configured: the embedder of tenants whose knowledge base was never indexed anew."""
        self.stored = stored
        self._configured = configured
        self._open_embedder = open_embedder
        self._engines: dict[str, EmbeddingEngine] = {}
        self._current: dict[str, Generation] = {}
        self._in_use: list[Generation] = []
        self._recorded: dict[str, StoredGeneration] = {}
        self._lane = QueryLane()
        self._opening = asyncio.Lock()
        self._startup: Readiness | None = None

    async def start(self) -> None:
        """Reads what is stored. Raises MissingDependency, InvalidConfiguration."""
        self._recorded = await self.stored.load_all()
        for tenant, stored in self._recorded.items():
            if stored.embedder != self._configured:
                told = "the index is of the embedder {}, with which it was built anew; EMBEDDER={} is for other tenants"
                logger.bind(tenant=tenant).info(told, stored.embedder, self._configured)
        await self.get_current(DEFAULT_TENANT)

    @property
    def engines(self) -> tuple[EmbeddingEngine, ...]:
        """Those that are open."""
        return tuple(self._engines.values())

    @property
    def default(self) -> Generation:
        """That of the default tenant."""
        return self._current[DEFAULT_TENANT]

    async def get_current(self, tenant: str) -> Generation:
        """Returns the generation that answers the tenant's questions now. Raises MissingDependency,
        InvalidConfiguration.
        """
        if tenant not in self._current:
            stored = self._recorded.get(tenant, StoredGeneration(0, self._configured))
            opened = await self.open_beside(tenant, stored)
            if self._current.setdefault(tenant, opened) is not opened:
                await self.close_generation(opened)
        return self._current[tenant]

    async def load_newest(self, tenant: str) -> StoredGeneration:
        """Loads the generation recorded last, by whichever process; this process may have yet to follow."""
        self._recorded = await self.stored.load_all()
        return self._recorded.get(tenant, StoredGeneration(0, self._configured))

    async def get_embedder(self, tenant: str) -> Embedder:
        """Returns the embedder of the tenant's index."""
        return (await self.get_current(tenant)).embedder

    async def open_beside(self, tenant: str, stored: StoredGeneration) -> Generation:
        """Opens a generation that does not answer yet; then either `put` it in place of the other, or
        `close_generation`.
        """
        async with self._opening:
            if stored.embedder not in self._engines:
                embedder = await self._open_embedder(stored.embedder)
                embedder.lane = self._lane
                self._engines[stored.embedder] = EmbeddingEngine(stored.embedder, embedder)
            engine = self._engines[stored.embedder]
            generation = Generation(tenant, stored.number, engine)
            self._in_use.append(generation)
        if self._startup is not None:
            engine.begin(self._startup)
        return generation

    def list_numbers(self, tenant: str) -> frozenset[int]:
        """Returns the numbers of the tenant's generations that are in use."""
        return frozenset(generation.number for generation in self._in_use if generation.tenant == tenant)

    def put(self, generation: Generation) -> None:
        """Replaces the generation of a tenant; turns that begin from now on use it."""
        self._current[generation.tenant] = generation

    async def close_generation(self, generation: Generation) -> None:
        """Ends the use of a generation, and closes its embedder unless another generation uses the same."""
        async with self._opening:
            self._in_use.remove(generation)
            engine = generation.engine
            if all(other.engine is not engine for other in self._in_use):
                del self._engines[engine.name]
                await engine.close()

    def learn(self, startup: Readiness) -> None:
        """Begins to learn what there is to each embedder, those that come later included."""
        self._startup = startup
        for engine in self.engines:
            engine.begin(startup)

    @property
    def learning(self) -> bool:
        """Whether anything is still to be learnt of what answers."""
        return any(generation.learning.under_way for generation in self._current.values())

    async def find_outdated(self) -> dict[str, StoredGeneration]:
        """Returns which generation should answer by now, for the tenants that this process still answers from another
        one.
        """
        self._recorded = await self.stored.load_all()
        return {
            tenant: stored
            for tenant, stored in self._recorded.items()
            if tenant in self._current and self._current[tenant].number != stored.number
        }

    def follow(self, tenant: str, revision: int) -> None:
        """Takes note that a tenant's index moved to a revision."""
        if tenant in self._current:
            self._current[tenant].learning.sentences.follow(tenant, revision)

    async def close(self) -> None:
        """Lets all embedders go."""
        for engine in self.engines:
            await engine.close()
