"""A conversation as its customer saw it, the latest part first: one page of turns, messages of staff and what happened
at the desk, read from each by its index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Self

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.conversations.tables import Feedback, StoredTurn
from app.db.base import match_equal, match_session
from app.db.engine import Database
from app.desk.tables import DeskEvent, DeskMessageRow, DeskStaff
from app.desk.types import Event, Sender
from app.transcripts.types import Rating
from app.types import SessionKey

# What customers are told of the desk.
TOLD = frozenset(
    {
        Event.REQUEST,
        Event.REQUEST_AFTER_HOURS,
        Event.ACCEPT,
        Event.TRANSFER,
        Event.REQUEUE,
        Event.RELEASE,
        Event.RESOLVE,
        Event.LEAVE,
        Event.CLOSE,
        Event.EXPIRE,
    }
)
# What customer and bot say to each other while a person is waited for is a turn as well.
_SPEAKERS = frozenset({Sender.AGENT, Sender.SYSTEM})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, order=True)
class HistoryPlace:
    """Where an item stands: by time; of what came at once a turn first, then what it led to, then the notice of it."""

    created_at: datetime
    rank: int
    number: int

    def __str__(self) -> str:
        """As the cursor of a page."""
        return f"{(self.created_at - _EPOCH) // timedelta(microseconds=1)}-{self.rank}-{self.number}"

    @classmethod
    def from_cursor(cls, cursor: str) -> Self:
        """Reads the position in a cursor, `microseconds-rank-number`."""
        microseconds, rank, number = (int(part) for part in cursor.split("-"))
        return cls(_EPOCH + timedelta(microseconds=microseconds), rank, number)


@dataclass(frozen=True, slots=True)
class TurnItem:
    """A question and its reply. `response` is what was sent."""

    place: HistoryPlace
    id: str
    question: str
    reply: str
    outcome: str
    response: dict[str, Any]
    # rows_of and attachments: see `StoredTurn`.
    rows_of: str
    attachments: Sequence[dict[str, Any]]
    rating: Rating | None
    reason: str


@dataclass(frozen=True, slots=True)
class DeskItem:
    """A message of staff or system, or with `event` something that happened. name: of the member of staff."""

    place: HistoryPlace
    sender: Sender
    text: str = ""
    name: str = ""
    seq: int | None = None
    event: Event | None = None
    attachments: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """items: the oldest first; previous: what to ask for the page before this one, None where it is the first."""

    items: tuple[TurnItem | DeskItem, ...] = field(default=())
    previous: HistoryPlace | None = None


class HistoryRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, key: SessionKey, limit: int, before: HistoryPlace | None = None) -> HistoryPage:
        """Reads the last `limit` items, or the last ones before a position."""
        async with self._database.read() as connection:
            found: list[TurnItem | DeskItem] = [
                *await _load_turns(connection, key, limit + 1, before),
                *await _load_events(connection, key, limit + 1, before),
                *await _load_messages(connection, key, limit + 1, before),
            ]
        found.sort(key=attrgetter("place"))
        items = found[-limit:]
        return HistoryPage(tuple(items), items[0].place if len(found) > limit else None)


async def _load_turns(
    connection: AsyncConnection, key: SessionKey, limit: int, before: HistoryPlace | None
) -> list[TurnItem]:
    table = StoredTurn
    voted = and_(Feedback.tenant_id == table.tenant_id, Feedback.turn_id == table.id)
    columns = table.id, table.question, table.reply, table.outcome, table.response, table.rows_of, table.attachments
    query = (
        select(table.created_at, table.number, *columns, Feedback.rating, func.coalesce(Feedback.reason, ""))
        .outerjoin(Feedback, voted)
        .where(*_match_before(table, table.number, 0, key, before))
        .order_by(table.created_at.desc(), table.number.desc())
        .limit(limit)
    )
    return [TurnItem(HistoryPlace(row[0], 0, row[1]), *row[2:]) for row in await connection.execute(query)]


async def _load_events(
    connection: AsyncConnection, key: SessionKey, limit: int, before: HistoryPlace | None
) -> list[DeskItem]:
    table = DeskEvent
    query = (
        select(table.created_at, table.version, table.event, _NAME)
        .outerjoin(DeskStaff, match_equal(DeskStaff, table, "agent_id"))
        .where(*_match_before(table, table.version, 1, key, before), table.event.in_(TOLD))
        .order_by(table.created_at.desc(), table.version.desc())
        .limit(limit)
    )
    rows = await connection.execute(query)
    return [
        DeskItem(HistoryPlace(at, 1, version), Sender.SYSTEM, "", name, None, Event(e)) for at, version, e, name in rows
    ]


async def _load_messages(
    connection: AsyncConnection, key: SessionKey, limit: int, before: HistoryPlace | None
) -> list[DeskItem]:
    table = DeskMessageRow
    query = (
        select(table.created_at, table.seq, table.sender, table.content, _NAME, table.attachments)
        .outerjoin(DeskStaff, match_equal(DeskStaff, table, "agent_id"))
        .where(*_match_before(table, table.seq, 2, key, before), table.sender.in_(_SPEAKERS))
        .order_by(table.created_at.desc(), table.seq.desc())
        .limit(limit)
    )
    rows = await connection.execute(query)
    return [
        DeskItem(HistoryPlace(at, 2, seq), Sender(by), text, name, seq, attachments=attached)
        for at, seq, by, text, name, attached in rows
    ]


def _match_before(
    table: Any, number: Any, rank: int, key: SessionKey, before: HistoryPlace | None
) -> Sequence[ColumnElement[bool]]:
    """Rows of the conversation, which stand before a place."""
    own = match_session(table, key)
    if before is None:
        return [own]
    at = table.created_at
    # Items of the same moment stand in the order of their ranks: those of a lower one come before the place, too.
    if rank > before.rank:
        return [own, at < before.created_at]
    if rank < before.rank:
        return [own, at <= before.created_at]
    return [own, or_(at < before.created_at, and_(at == before.created_at, number < before.number))]


_NAME = func.coalesce(DeskStaff.name, "")
