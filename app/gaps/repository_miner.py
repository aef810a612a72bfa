"""What mining reads and writes of gaps, each function within one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db.base import now
from app.gaps import repository as gaps
from app.gaps import repository_drafts as drafts
from app.gaps import repository_misses as misses
from app.gaps.types import Gap, GapEvent, GapState, Miss

# Questions that are clustered in one run; the distance of each to each is held at once.
MOST_NEW = 1500
# Gaps that a new question may belong to, and how many questions represent each.
MOST_GAPS, EACH = 500, 4
# Questions of a gap from which those are taken that are searched once more.
LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class ClusteredMisses:
    """known: gap of each miss that belongs to one that was there; new: the misses of each new one."""

    known: Mapping[str, str]
    new: Sequence[Sequence[Miss]]


def load_misses(connection: Connection, tenant: str) -> tuple[dict[str, list[Miss]], list[Miss]]:
    """Returns the misses of existing gaps, by the gap that they count for, and the misses of no gap."""
    there = {gap.id: gap.merged_into or gap.id for gap in gaps.list_latest(connection, tenant, MOST_GAPS)}
    known: dict[str, list[Miss]] = defaultdict(list)
    for miss in misses.list_of_gaps(connection, tenant, list(there), EACH):
        known[there[miss.gap_id or ""]].append(miss)
    new = misses.list_of_gaps(connection, tenant, None, MOST_NEW)
    return known, new


def save_clusters(connection: Connection, tenant: str, found: ClusteredMisses, new: Sequence[Miss]) -> int:
    """Stores the gap of each miss, and returns how many closed gaps are open again."""
    joining: dict[str, list[str]] = defaultdict(list)
    for miss_id, owner in found.known.items():
        joining[owner].append(miss_id)
    asked_at = {miss.id: miss.asked_at for miss in new}
    returned = 0
    for gap_id, ids in sorted(joining.items()):  # locked in one order, or two transactions wait for each other
        gap = gaps.lock_gap(connection, tenant, gap_id)
        if gap is None:
            continue
        misses.assign_gap(connection, tenant, ids, gap_id)
        # Asked again after it was closed: its answer is missing or not found. A dismissed gap stays dismissed.
        closed = gap.state in (GapState.RESOLVED, GapState.APPROVED)
        if closed and max(asked_at[one] for one in ids) > gap.updated_at:
            event = GapEvent("returned", "", "", now())
            gaps.change_gap(connection, tenant, gap_id, {"state": GapState.OPEN}, event)
            returned += 1
    for cluster in found.new:
        revision = max(miss.revision for miss in cluster)
        gap_id = gaps.add_gap(connection, tenant, _choose_question(cluster), revision)
        misses.assign_gap(connection, tenant, [miss.id for miss in cluster], gap_id)
    return returned


def _choose_question(cluster: Sequence[Miss]) -> str:
    """Returns the question asked most often; of several the most central, which comes first in a cluster."""
    counts = Counter(miss.question for miss in cluster)
    return max(counts, key=lambda question: counts[question])


def list_open(connection: Connection, tenant: str) -> list[tuple[Gap, list[Miss]]]:
    """Returns the gaps that nobody works on, with their latest questions."""
    published = drafts.list_published(connection, tenant)  # asked in vain although answered: the answer is not found
    latest = gaps.list_latest(connection, tenant, MOST_GAPS)
    waiting = [gap for gap in latest if gap.state is GapState.OPEN and gap.id not in published]
    latest_misses: dict[str, list[Miss]] = defaultdict(list)
    for miss in misses.list_of_gaps(connection, tenant, [gap.id for gap in waiting], LOOKED_AT):
        latest_misses[miss.gap_id or ""].append(miss)
    return [(gap, latest_misses[gap.id]) for gap in waiting]


def close_answered(connection: Connection, tenant: str, checked: Mapping[str, int], answered: Sequence[str]) -> None:
    """Stores the revision at which each gap was searched again, and closes those that are answered by now."""
    gaps.mark_checked(connection, tenant, checked)
    for gap_id in answered:
        gap = gaps.lock_gap(connection, tenant, gap_id)
        if gap is not None and gap.state is GapState.OPEN:
            event = GapEvent("resolved", "", f"kb_revision {checked[gap_id]}", now())
            gaps.change_gap(connection, tenant, gap_id, {"state": GapState.RESOLVED}, event)
