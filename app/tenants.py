"""What belongs to one tenant, from its first use on; made anew where its profile or what was learnt changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import Overloaded

if TYPE_CHECKING:
    from agents.profile import TenantProfile
    from agents.routing.head import IntentHead
    from app.chat.evidence import Team
    from app.intents import Heads
    from app.profiles.repository import ProfileRepository
    from app.search.service import CalibratedSearch


@dataclass(frozen=True, slots=True)
class TenantParts:
    """`configuration` changes with whatever else answers depend on."""

    retriever: CalibratedSearch
    team: Team
    profile: TenantProfile
    head: IntentHead | None
    configuration: str


class Tenants:
    """search: opens a tenant's knowledge base; build: makes its parts of that and its profile."""

    def __init__(
        self,
        profiles: ProfileRepository,
        heads: Heads,
        search: Callable[[str], Awaitable[CalibratedSearch]],
        build: Callable[[str, CalibratedSearch, TenantProfile], TenantParts],
    ) -> None:
        self._profiles = profiles
        self._heads = heads
        self._search = search
        self._build = build
        self._open: dict[str, TenantParts] = {}
        self._opening = asyncio.Lock()
        self._filling = False

    async def of(self, tenant: str) -> TenantParts:
        """The tenant's parts, opened at their first use. Raises IndexUnavailable, IndexMismatch, Overloaded."""
        if self._filling:
            raise Overloaded("示例知识库正在导入，请稍后再试。", code="not_ready")
        profile = await self._profiles.get(tenant)
        if tenant not in self._open:
            async with self._opening:
                if tenant not in self._open:
                    self._open[tenant] = self._build(tenant, await self._search(tenant), profile)
        parts = self._open[tenant]
        if parts.profile is not profile or parts.head is not self._heads.of(tenant, profile.intent_examples):
            parts = self._open[tenant] = self._build(tenant, parts.retriever, profile)
        return parts

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Nobody is served meanwhile: half a knowledge base would answer "not found" to what its other half holds."""
        self._filling = True
        try:
            yield
        finally:
            self._filling = False
