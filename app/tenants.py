"""What belongs to one tenant, from its first use on; made anew where its profile or what was learnt changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.errors import Overloaded
from knowledge.work_place import release_place

if TYPE_CHECKING:
    from agents.profile import TenantProfile
    from agents.prompt_library import Prompts
    from agents.routing.head import IntentHead
    from app.chat.evidence import Team
    from app.profiles.repository import ProfileRepository
    from app.search.service import CalibratedSearch
    from app.settings import Settings
    from app.tuner.types import TunedSettings
    from knowledge.text import Analyzer


@dataclass(frozen=True, slots=True)
class TenantParts:
    """`configuration` changes with whatever else answers depend on."""

    retriever: CalibratedSearch
    team: Team
    profile: TenantProfile
    head: IntentHead | None
    analyzer: Analyzer
    configuration: str
    # The parameters in force.
    tuned: TunedSettings
    prompts: Prompts
    # The version of the language models.
    models: int


class Tenants:
    """tuning: a tenant's parameters. search: opens its knowledge base, searched by settings; build: makes its parts of
    that and its profile; retain: told which search of a tenant is still used; prompts: gives those in force; models:
    the version of the language models.
    """

    def __init__(
        self,
        profiles: ProfileRepository,
        tuning: Callable[[str], Awaitable[TunedSettings]],
        search: Callable[[str, Settings], Awaitable[CalibratedSearch]],
        build: Callable[[str, CalibratedSearch, TenantProfile, TunedSettings], TenantParts],
        retain: Callable[[str, CalibratedSearch], Awaitable[None]],
        prompts: Callable[[], Prompts],
        models: Callable[[], int],
    ) -> None:
        self._profiles = profiles
        self._tuning = tuning
        self._search = search
        self._build = build
        self._retain = retain
        self._prompts, self._models = prompts, models
        self._open: dict[str, TenantParts] = {}
        self._opening = asyncio.Lock()
        self._filling = False

    async def get_parts(self, tenant: str) -> TenantParts:
        """The tenant's parts, opened at their first use. Raises IndexUnavailable, IndexMismatch, Overloaded."""
        if self._filling:
            raise Overloaded("示例知识库正在导入，请稍后再试。", code="not_ready")
        profile = await self._profiles.get(tenant)
        tuned = await self._tuning(tenant)
        parts = self._open.get(tenant)
        if parts is None or parts.tuned is not tuned:
            async with release_place():  # one is opened after the other, and the first time it is calibrated
                parts = await self._open_parts(tenant, profile)
        known = parts.profile, parts.head, parts.analyzer, parts.prompts, parts.models
        heads = parts.retriever.generation.learning.heads
        head, analyzer = heads.get_head(tenant, profile.intent_examples), parts.retriever.analyzer
        current = profile, head, analyzer, self._prompts(), self._models()
        if any(one is not other for one, other in zip(known, current, strict=True)):
            parts = self._open[tenant] = self._build(tenant, parts.retriever, profile, parts.tuned)
        return parts

    @asynccontextmanager
    async def use_parts(self, tenant: str) -> AsyncIterator[TenantParts]:
        """Gives parts that stay the same until the turn is over, even if they are replaced. Raises as `get_parts`."""
        parts = await self.get_parts(tenant)
        with parts.retriever.generation.hold_turn():
            yield parts

    @asynccontextmanager
    async def use_team(self, tenant: str) -> AsyncIterator[Team]:
        """Gives the agents of `use_parts`. Raises as `get_parts`."""
        async with self.use_parts(tenant) as parts:
            yield parts.team

    async def build_parts(self, tenant: str, search: CalibratedSearch) -> TenantParts:
        """Builds a tenant's parts over another search. No turn uses them before they are `put`."""
        tuned = await self._tuning(tenant)
        if tuned.settings != search.settings:  # they changed meanwhile: the first turn opens what it needs
            tuned = replace(tuned, settings=search.settings)
        return self._build(tenant, search, await self._profiles.get(tenant), tuned)

    def put(self, tenant: str, parts: TenantParts) -> None:
        """Replaces a tenant's parts; turns that begin from now on use them."""
        self._open[tenant] = parts

    async def prepare(self, tenant: str, settings: Settings) -> None:
        """Opens the search that new settings need before they come into force, so that no turn waits for it.

        Does nothing for a tenant that was not asked anything since the start.
        """
        if tenant in self._open:
            await self._search(tenant, settings)

    async def _open_parts(self, tenant: str, profile: TenantProfile) -> TenantParts:
        async with self._opening:
            tuned = await self._tuning(tenant)
            parts = self._open.get(tenant)
            if parts is None or parts.tuned is not tuned:
                parts = self._build(tenant, await self._search(tenant, tuned.settings), profile, tuned)
                self._open[tenant] = parts
                await self._retain(tenant, parts.retriever)
            return parts

    @contextmanager
    def block_while_filling(self) -> Iterator[None]:
        """Nobody is served meanwhile: half a knowledge base would answer "not found" to what its other half holds."""
        self._filling = True
        try:
            yield
        finally:
            self._filling = False
