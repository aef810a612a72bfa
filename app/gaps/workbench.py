"""Gaps as people look at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.errors import NotFound
from app.gaps.mining import Search
from app.gaps.repository import EVERYTHING, GapFilters, GapRepository
from app.gaps.types import EarlierTurn, Gap, GapEvent, GapState, Miss

MOST_QUESTIONS = 200
NEAR = 3
NEAR_CHARS = 300


@dataclass(frozen=True, slots=True)
class Near:
    """A fragment of the knowledge base, and how probably it answers."""

    document_id: str
    title: str
    heading: str
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class GapDetail:
    """A gap with all that helps to write its answer. before: by turn, what was said before."""

    gap: Gap
    misses: Sequence[Miss]
    before: Mapping[str, Sequence[EarlierTurn]]
    near: Sequence[Near]
    history: Sequence[GapEvent]


class GapWorkbench:
    """search: the chat's own, of a tenant."""

    def __init__(self, stored: GapRepository, search: Search) -> None:
        self.stored = stored
        self._search = search

    async def page(
        self, tenant: str, wanted: GapFilters = EVERYTHING, *, offset: int = 0, limit: int = 20
    ) -> tuple[list[Gap], int, dict[GapState, int]]:
        """One page, how many match, and how many there are of each state."""
        found, total = await self.stored.page(tenant, wanted, offset, limit)
        return found, total, await self.stored.states(tenant)

    async def get(self, tenant: str, gap_id: str) -> Gap:
        """Raises NotFound."""
        gap = await self.stored.get(tenant, gap_id)
        if gap is None:
            raise unknown(gap_id)
        return gap

    async def detail(self, tenant: str, gap_id: str) -> GapDetail:
        """Raises NotFound, KnowledgeError."""
        gap = await self.get(tenant, gap_id)
        misses = await self.stored.misses(tenant, gap_id, MOST_QUESTIONS)
        before = await self.stored.before(tenant, [miss.turn_id for miss in misses if miss.turn_id])
        near = await self.near(tenant, gap.question) if gap.question else []
        return GapDetail(gap, misses, before, near, await self.stored.history(tenant, gap_id))

    async def near(self, tenant: str, question: str) -> list[Near]:
        """The nearest fragment of each of the nearest documents, whatever the gate says of it."""
        found: dict[str, Near] = {}
        for candidate in (await self._search(tenant, question)).candidates:
            document, chunk = candidate.chunk.document, candidate.chunk
            heading, text = " > ".join(chunk.heading_path), chunk.text[:NEAR_CHARS]
            near = Near(document.id, document.title, heading, text, candidate.probability)
            found.setdefault(document.id, near)
        return list(found.values())[:NEAR]


def unknown(gap_id: str) -> NotFound:
    """No such gap."""
    return NotFound("没有找到这个知识缺口，可能已被删除。", code="gap_not_found", gap_id=gap_id)
