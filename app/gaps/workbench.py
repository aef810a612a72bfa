"""Gaps with all that people need to answer them."""

from __future__ import annotations

from app.errors import NotFound
from app.gaps.miner import Search
from app.gaps.repository import EVERYTHING, GapFilters, GapRepository
from app.gaps.schemas import GapDetailOut, MissOut, NearOut
from app.gaps.types import Gap, GapDraft, GapState

MOST_QUESTIONS = 200
NEAR = 3
NEAR_CHARS = 300


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

    async def load_detail(self, tenant: str, gap_id: str, draft: GapDraft | None) -> GapDetailOut:
        """Returns a gap with its questions, what was said before each, the nearest fragments, its history and its
        draft. Raises NotFound, KnowledgeError.
        """
        gap = await self.get_gap(tenant, gap_id)
        misses = await self.stored.list_misses(tenant, gap_id, MOST_QUESTIONS)
        before = await self.stored.load_earlier_turns(tenant, [miss.turn_id for miss in misses if miss.turn_id])
        return GapDetailOut.build_from(
            gap,
            questions=[MissOut.build_from(miss, before=before.get(miss.turn_id or "", [])) for miss in misses],
            near=await self.find_near(tenant, gap.question) if gap.question else [],
            history=await self.stored.list_events(tenant, gap_id),
            draft=draft,
        )

    async def find_near(self, tenant: str, question: str) -> list[NearOut]:
        """Returns the nearest fragment of each of the nearest documents, whether it passes the gate or not."""
        found: dict[str, NearOut] = {}
        for candidate in (await self._search(tenant, question)).candidates:
            document, chunk = candidate.chunk.document, candidate.chunk
            near = NearOut(
                document_id=document.id,
                title=document.title,
                heading=" > ".join(chunk.heading_path),
                text=chunk.text[:NEAR_CHARS],
                probability=candidate.probability,
            )
            found.setdefault(document.id, near)
        return list(found.values())[:NEAR]


def build_unknown_error(gap_id: str) -> NotFound:
    """Builds the error for a gap that does not exist."""
    return NotFound("没有找到这个知识缺口，可能已被删除。", code="gap_not_found", gap_id=gap_id)
