"""Gaps in SQL: ranked, one by one, and what was done with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, exists, func, insert, select, update
from sqlalchemy.orm import aliased

from app.conversations.tables import StoredTurn
from app.db.base import now
from app.db.batches import split_batches
from app.db.engine import Database
from app.gaps.repository_misses import build_miss
from app.gaps.schemas import EarlierTurnOut
from app.gaps.tables import GapEventRow, GapItemRow, GapRow
from app.gaps.types import Gap, GapEvent, GapState, Miss, MissReason
from app.ids import create_id
from app.privacy import mask_personal_data

WEEK = timedelta(days=7)
# Turns before a question that are shown with it.
CONTEXT = 2
SAID_CHARS = 200
_GAP = ("id", "state", "question", "checked", "merged_into", "created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class GapFilters:
    """Which gaps are listed; empty for all. text: in a question; customers: at least so many conversations asked;
    recent: by time, not by rank.
    """

    states: tuple[GapState, ...] = ()
    text: str = ""
    reason: MissReason | None = None
    customers: int = 0
    recent: bool = False


EVERYTHING = GapFilters()


class GapRepository:
    """A tenant's gaps. A merged one's questions count for the one that it went into."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_page(self, tenant: str, wanted: GapFilters, offset: int, limit: int) -> tuple[list[Gap], int]:
        """Returns one page of gaps and the total number. The gap comes first that most conversations asked about within
        a week, their growth counting once more.
        """
        counted = _count_questions(tenant)
        query = _select_gaps(counted).where(*_match_filters(tenant, wanted, counted))
        score = counted.c.week + case(
            (counted.c.week > counted.c.week_before, counted.c.week - counted.c.week_before), else_=0
        )
        rank = (func.coalesce(score, 0).desc(), func.coalesce(counted.c.customers, 0).desc())
        order = (*(() if wanted.recent else rank), func.coalesce(counted.c.last_seen, GapRow.updated_at).desc())
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(query.subquery()))).scalar_one()
            rows = await connection.execute(query.order_by(*order, GapRow.id).offset(offset).limit(limit))
            found = rows.all()
            reasons = await connection.run_sync(count_reasons, tenant, [row.id for row in found])
            return [_build_gap(row, reasons[row.id]) for row in found], total

    async def get_gap(self, tenant: str, gap_id: str) -> Gap | None:
        """Returns a gap; None where there is none."""
        query = _select_gaps(_count_questions(tenant)).where(GapRow.tenant_id == tenant, GapRow.id == gap_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
            reasons = await connection.run_sync(count_reasons, tenant, [gap_id])
        return _build_gap(row, reasons[gap_id]) if row else None

    async def count_states(self, tenant: str) -> dict[GapState, int]:
        """Returns how many gaps there are in each state."""
        query = select(GapRow.state, func.count()).where(GapRow.tenant_id == tenant).group_by(GapRow.state)
        return {GapState(state): count for state, count in await self._database.fetch(query)}

    async def list_misses(self, tenant: str, gap_id: str, limit: int) -> list[Miss]:
        """Returns the questions of a gap, including those of the gaps merged into it, the latest first."""
        item = GapItemRow
        query = select(*(getattr(item, name) for name in Miss.__dataclass_fields__)).where(
            item.tenant_id == tenant, item.gap_id.in_(_select_family(tenant, gap_id))
        )
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(item.asked_at.desc(), item.id).limit(limit))
            return [build_miss(row) for row in rows]

    async def load_earlier_turns(self, tenant: str, turns: Sequence[str]) -> dict[str, list[EarlierTurnOut]]:
        """Returns by turn what was said before it, the oldest first, masked and shortened."""
        turn, earlier = StoredTurn, aliased(StoredTurn)
        same = (earlier.tenant_id == turn.tenant_id) & (earlier.session_id == turn.session_id)
        near = same & (earlier.number < turn.number) & (earlier.number >= turn.number - CONTEXT)
        query = (
            select(turn.id, earlier.question, earlier.reply, earlier.outcome)
            .join(earlier, near)
            .where(turn.tenant_id == tenant, turn.id.in_(turns))
            .order_by(turn.id, earlier.number)
        )
        found: dict[str, list[EarlierTurnOut]] = {}
        for id, question, reply, outcome in await self._database.fetch(query):
            found.setdefault(id, []).append(
                EarlierTurnOut(question=_shorten(question), reply=_shorten(reply), outcome=outcome)
            )
        return found

    async def list_events(self, tenant: str, gap_id: str) -> list[GapEvent]:
        """Returns the history of a gap, the oldest event first."""
        table = GapEventRow
        query = select(table.event, table.actor, table.note, table.at).where(
            table.tenant_id == tenant, table.gap_id == gap_id
        )
        return [GapEvent(*row) for row in await self._database.fetch(query.order_by(table.number))]


def list_latest(connection: Connection, tenant: str, limit: int) -> list[Gap]:
    """Returns the gaps that were changed last, without their counts."""
    query = select(*(getattr(GapRow, name) for name in _GAP)).where(GapRow.tenant_id == tenant)
    rows = connection.execute(query.order_by(GapRow.updated_at.desc(), GapRow.id).limit(limit))
    return [_build_gap(row) for row in rows]


def find_questions(connection: Connection, tenant: str, ids: Collection[str]) -> dict[str, str]:
    """Returns by id the questions of these gaps, of those that exist."""
    query = select(GapRow.id, GapRow.question).where(GapRow.tenant_id == tenant)
    found = dict[str, str]()
    for wanted in split_batches(sorted(ids)):
        rows = connection.execute(query.where(GapRow.id.in_(wanted)))
        found |= {row.id: row.question for row in rows}
    return found


def lock_gap(connection: Connection, tenant: str, gap_id: str) -> Gap | None:
    """Returns a gap without its counts, and locks it until the transaction ends; None where there is none."""
    query = select(*(getattr(GapRow, name) for name in _GAP)).where(GapRow.tenant_id == tenant, GapRow.id == gap_id)
    row = connection.execute(query.with_for_update()).first()
    return _build_gap(row) if row else None


def add_gap(connection: Connection, tenant: str, question: str, revision: int) -> str:
    """Adds a gap and returns its id."""
    id, moment = create_id(), now()
    values = {"state": GapState.OPEN, "question": question, "checked": revision, "merged_into": ""}
    times = {"created_at": moment, "updated_at": moment}
    connection.execute(insert(GapRow).values(tenant_id=tenant, id=id, **values, **times))
    return id


def change_gap(
    connection: Connection, tenant: str, gap_id: str, values: Mapping[str, Any], event: GapEvent | None = None
) -> None:
    """Changes columns of a gap, and adds an event to its history."""
    mine = (GapRow.tenant_id == tenant) & (GapRow.id == gap_id)
    connection.execute(update(GapRow).where(mine).values(**values, updated_at=now()))
    if event is not None:
        table = GapEventRow
        last = select(func.coalesce(func.max(table.number), 0)).where(table.tenant_id == tenant, table.gap_id == gap_id)
        number = connection.execute(last).scalar_one() + 1
        values_of_event = {
            "event": event.event,
            "actor": event.actor,
            "note": mask_personal_data(event.note),
            "at": event.at,
        }
        connection.execute(insert(table).values(tenant_id=tenant, gap_id=gap_id, number=number, **values_of_event))


def mark_checked(connection: Connection, tenant: str, checked: Mapping[str, int]) -> None:
    """Stores by gap the revision at which it was searched again; nothing that people see."""
    for gap_id, revision in checked.items():
        mine = (GapRow.tenant_id == tenant) & (GapRow.id == gap_id)
        connection.execute(update(GapRow).where(mine).values(checked=revision))


def _select_family(tenant: str, gap_id: str) -> Select[Any]:
    """Selects the ids of a gap and of those merged into it."""
    return select(GapRow.id).where(GapRow.tenant_id == tenant, (GapRow.id == gap_id) | (GapRow.merged_into == gap_id))


def _count_questions(tenant: str) -> Any:
    """Builds the subquery of how often each gap was asked."""
    item, gap = GapItemRow, aliased(GapRow)
    root = case((gap.merged_into != "", gap.merged_into), else_=gap.id)
    moment = now()
    return (
        select(
            root.label("root"),
            func.count().label("asked"),
            func.count(item.session_id.distinct()).label("customers"),
            _count_customers(moment - WEEK, None).label("week"),
            _count_customers(moment - 2 * WEEK, moment - WEEK).label("week_before"),
            func.count(case((item.handoff, 1))).label("handoffs"),
            func.min(item.asked_at).label("first_seen"),
            func.max(item.asked_at).label("last_seen"),
        )
        .join(gap, (gap.tenant_id == item.tenant_id) & (gap.id == item.gap_id))
        .where(item.tenant_id == tenant)
        .group_by(root)
        .subquery()
    )


def count_reasons(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, dict[MissReason, int]]:
    """Returns by gap how many of its questions count for each reason, the most frequent first."""
    item, gap = GapItemRow, GapRow
    root = case((gap.merged_into != "", gap.merged_into), else_=gap.id)
    query = (
        select(root.label("root"), item.reason, func.count().label("number"))
        .join(gap, (gap.tenant_id == item.tenant_id) & (gap.id == item.gap_id))
        .where(item.tenant_id == tenant, root.in_(ids))
        .group_by(root, item.reason)
        .order_by(func.count().desc(), item.reason)
    )
    found: dict[str, dict[MissReason, int]] = {gap_id: {} for gap_id in ids}
    for row in connection.execute(query):
        found[row.root][MissReason(row.reason)] = row.number
    return found


def _count_customers(since: datetime, until: datetime | None) -> ColumnElement[int]:
    """Counts the conversations that asked within that time."""
    item = GapItemRow
    within = item.asked_at >= since
    if until is not None:
        within &= item.asked_at < until
    return func.count(case((within, item.session_id)).distinct())


def _select_gaps(counted: Any) -> Select[Any]:
    columns = [getattr(GapRow, name) for name in _GAP]
    counts = [column for column in counted.c if column.name != "root"]
    return select(*columns, *counts).outerjoin(counted, counted.c.root == GapRow.id)


def _match_filters(tenant: str, wanted: GapFilters, counted: Any) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [GapRow.tenant_id == tenant]
    item, child = GapItemRow, aliased(GapRow)
    mine = (item.tenant_id == tenant) & (child.tenant_id == tenant) & (child.id == item.gap_id)
    mine &= (child.id == GapRow.id) | (child.merged_into == GapRow.id)
    if wanted.states:
        where.append(GapRow.state.in_(wanted.states))
    if wanted.text:
        asked = exists().where(mine, item.question.icontains(wanted.text, autoescape=True))
        where.append(GapRow.question.icontains(wanted.text, autoescape=True) | asked)
    if wanted.reason is not None:
        where.append(exists().where(mine, item.reason == wanted.reason))
    if wanted.customers:
        where.append(counted.c.customers >= wanted.customers)
    return where


def _build_gap(row: Any, reasons: Mapping[MissReason, int] = MappingProxyType({})) -> Gap:
    """Builds a gap from a row with or without counts; these are NULL where nobody asks about it by now."""
    values = {name: value for name, value in row._mapping.items() if value is not None}
    return Gap(**values | {"state": GapState(row.state), "reasons": reasons})


def _shorten(text: str) -> str:
    text = " ".join(mask_personal_data(text).split())
    return text if len(text) <= SAID_CHARS else text[: SAID_CHARS - 1] + "…"
