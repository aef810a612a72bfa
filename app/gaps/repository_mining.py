"""What mining reads and writes of gaps, each in one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from app.db.base import now
from app.db.engine import Database
from app.gaps import repository as gaps
from app.gaps import repository_drafts as drafts
from app.gaps import repository_misses as misses
from app.gaps.types import Gap, GapEvent, GapState, Miss

MOST_NEW = 1500
"""Questions that are clustered in one run; the distance of each to each is held at once."""
MOST_GAPS, EACH = 500, 4
"""Gaps that a new question may belong to, and how many questions stand for one."""
LOOKED_AT = 20
"""Questions of a gap from which those are taken that are searched once more."""


@dataclass(frozen=True, slots=True)
class Clustered:
    """known: gap of each miss that belongs to one that was there; new: the misses of each new one."""

    known: Mapping[str, str]
    new: Sequence[Sequence[Miss]]


class MiningRepository:
    """A tenant's misses and gaps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def collect(self, tenant: str, since: datetime) -> int:
        """Keeps what was missed since then; how many there were that were not kept yet."""
        return await self._database.transact(lambda connection: misses.collect(connection, tenant, since))

    async def read(self, tenant: str) -> tuple[dict[str, list[Miss]], list[Miss]]:
        """Misses of the gaps that are there, by where they count, and those that belong to none."""
        return await self._database.transact(lambda connection: _read(connection, tenant))

    async def keep(self, tenant: str, found: Clustered, new: Sequence[Miss]) -> int:
        """Places all misses; how many gaps came back that were closed."""
        return await self._database.transact(lambda connection: _keep(connection, tenant, found, new))

    async def open(self, tenant: str) -> list[tuple[Gap, list[Miss]]]:
        """The gaps that nobody works on, with their latest questions."""
        return await self._database.transact(lambda connection: _open(connection, tenant))

    async def close(self, tenant: str, checked: Mapping[str, int], answered: Sequence[str]) -> None:
        """checked: by gap, the revision at which it was searched again; answered: those that need no answer more."""
        await self._database.transact(lambda connection: _close(connection, tenant, checked, answered))


def _read(connection: Connection, tenant: str) -> tuple[dict[str, list[Miss]], list[Miss]]:
    there = {gap.id: gap.merged_into or gap.id for gap in gaps.latest(connection, tenant, MOST_GAPS)}
    known: dict[str, list[Miss]] = defaultdict(list)
    for miss in misses.of_gaps(connection, tenant, list(there), EACH):
        known[there[miss.gap_id or ""]].append(miss)
    new = misses.of_gaps(connection, tenant, None, MOST_NEW)
    return known, new


def _keep(connection: Connection, tenant: str, found: Clustered, new: Sequence[Miss]) -> int:
    joining: dict[str, list[str]] = defaultdict(list)
    for miss_id, owner in found.known.items():
        joining[owner].append(miss_id)
    asked = {miss.id: miss.asked_at for miss in new}
    returned = 0
    for gap_id, ids in sorted(joining.items()):
        gap = gaps.locked(connection, tenant, gap_id)
        if gap is None:
            continue
        misses.place(connection, tenant, ids, gap_id)
        closed = gap.state in (GapState.RESOLVED, GapState.APPROVED)
        if closed and max(asked[one] for one in ids) > gap.updated_at:
            event = GapEvent("returned", "", "", now())
            gaps.change(connection, tenant, gap_id, {"state": GapState.OPEN}, event)
            returned += 1
    for cluster in found.new:
        revision = max(miss.revision for miss in cluster)
        gap_id = gaps.add(connection, tenant, _typical(cluster), revision)
        misses.place(connection, tenant, [miss.id for miss in cluster], gap_id)
    return returned


def _typical(cluster: Sequence[Miss]) -> str:
    """The question asked most often, the most central of several; clusters have the central one first."""
    counts = Counter(miss.question for miss in cluster)
    return max(counts, key=lambda question: counts[question])


def _open(connection: Connection, tenant: str) -> list[tuple[Gap, list[Miss]]]:
    published = drafts.published(connection, tenant)  # asked in vain although answered: the answer is not found
    latest = gaps.latest(connection, tenant, MOST_GAPS)
    waiting = [gap for gap in latest if gap.state is GapState.OPEN and gap.id not in published]
    told: dict[str, list[Miss]] = defaultdict(list)
    for miss in misses.of_gaps(connection, tenant, [gap.id for gap in waiting], LOOKED_AT):
        told[miss.gap_id or ""].append(miss)
    return [(gap, told[gap.id]) for gap in waiting]


def _close(connection: Connection, tenant: str, checked: Mapping[str, int], answered: Sequence[str]) -> None:
    gaps.seen(connection, tenant, checked)
    for gap_id in answered:
        gap = gaps.locked(connection, tenant, gap_id)
        if gap is not None and gap.state is GapState.OPEN:
            event = GapEvent("resolved", "", f"kb_revision {checked[gap_id]}", now())
            gaps.change(connection, tenant, gap_id, {"state": GapState.RESOLVED}, event)
