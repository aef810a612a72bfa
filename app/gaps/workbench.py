"""Gaps with all that people need to answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.errors import NotFound
from app.gaps.miner import Search
from app.gaps.repository import EVERYTHING, GapFilters, GapRepository
from app.gaps.types import EarlierTurn, Gap, GapEvent, GapState, Miss

MOST_QUESTIONS = 200
NEAR = 3
NEAR_CHARS = 300


@dataclass(frozen=True, slots=True)
class NearFragment:
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
    near: Sequence[NearFragment]
    history: Sequence[GapEvent]


class GapWorkbench:
    """search: the chat's own, of a tenant."""

    def __init__(self, stored: GapRepository, search: Search) -> None:
        self.stored = stored
        self._search = search

    async def load_page(
        self, tenant: str, wanted: GapFilters = EVERYTHING, *, offset: int = 0, limit: int = 20
    ) -> tuple[list[Gap], int, dict[GapState, int]]:
        """Returns one page of gaps, how many match, and how many there are in each state."""
        found, total = await self.stored.load_page(tenant, wanted, offset, limit)
        return found, total, await self.stored.count_states(tenant)

    async def get_gap(self, tenant: str, gap_id: str) -> Gap:
        """Returns a gap. Raises NotFound."""
        gap = await self.stored.get_gap(tenant, gap_id)
        if gap is None:
            raise build_unknown_error(gap_id)
        return gap

    async def load_detail(self, tenant: str, gap_id: str) -> GapDetail:
        """Returns a gap with its questions, the nearest fragments and its history. Raises NotFound, KnowledgeError."""
        gap = await self.get_gap(tenant, gap_id)
        misses = await self.stored.list_misses(tenant, gap_id, MOST_QUESTIONS)
        before = await self.stored.load_earlier_turns(tenant, [miss.turn_id for miss in misses if miss.turn_id])
        near = await self.find_near(tenant, gap.question) if gap.question else []
        return GapDetail(gap, misses, before, near, await self.stored.list_events(tenant, gap_id))

    async def find_near(self, tenant: str, question: str) -> list[NearFragment]:
        """Returns the nearest fragment of each of the nearest documents, whether it passes the gate or not."""
        found: dict[str, NearFragment] = {}
        for candidate in (await self._search(tenant, question)).candidates:
            document, chunk = candidate.chunk.document, candidate.chunk
            heading, text = " > ".join(chunk.heading_path), chunk.text[:NEAR_CHARS]
            near = NearFragment(document.id, document.title, heading, text, candidate.probability)
            found.setdefault(document.id, near)
        return list(found.values())[:NEAR]


def build_unknown_error(gap_id: str) -> NotFound:
    """Builds the error for a gap that does not exist."""
    return NotFound("没有找到这个知识缺口，可能已被删除。", code="gap_not_found", gap_id=gap_id)
