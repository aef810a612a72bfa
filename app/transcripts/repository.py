"""Conversations as people read them: listed, whole, deleted, and rated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, exists, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from app.contacts.tables import ConversationLabelRow
from app.conversations.tables import Conversation, Feedback, StoredTurn
from app.db.base import match_equal, now
from app.db.engine import Database, build_upsert
from app.db.sorting import build_order
from app.desk.tables import DeskSessionRow
from app.privacy import mask_personal_data
from app.transcripts.severity import SEVERITY, TROUBLES, Trouble
from app.transcripts.types import Rating
from app.webhooks.events import WebhookEvent, emit_event

Forget = Callable[[Connection, str, Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list; `first_question` is its first message, `title` that of its worst turn, the first of
    equals; `trouble` what was wrong there, `worst` the id of that turn, empty where nothing was said; `verified`
    tells whether the user was proved.
    """

    session_id: str
    user_id: str
    verified: bool
    channel: str
    turns: int
    created_at: datetime
    updated_at: datetime
    first_question: str
    last_outcome: str
    # A person was asked for; `up` and `down` are votes.
    handoff: bool
    up: int
    down: int
    title: str = ""
    trouble: Trouble = Trouble.NONE
    worst: str = ""


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Which conversations are listed; what is empty or None does not restrict. text: in a message, a reply, or the id
    of the session or the user; outcome: of any turn; handoff: whether a person was ever asked for; rating: of any vote;
    since and until: of the last activity; trouble: of any turn; sort: by which column; after: the session that ended
    the last page, of a list that is not sorted otherwise.
    """

    text: str = ""
    user_id: str = ""
    channel: str = ""
    outcome: str = ""
    handoff: bool | None = None
    rating: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: str = ""
    trouble: Trouble | None = None
    sort: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn; `response` is what was sent, `rating` is None without feedback."""

    id: str
    question: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rating: Rating | None
    reason: str


_ENDS = {trouble: [end.value for end, found in TROUBLES.items() if found is trouble] for trouble in Trouble}
EVERYTHING = ConversationFilter()
_OWN_TURN = match_equal(StoredTurn, Conversation, "session_id")
_AT_DESK = match_equal(DeskSessionRow, Conversation, "session_id")
_OWN_VOTE = (Feedback.tenant_id == StoredTurn.tenant_id) & (Feedback.turn_id == StoredTurn.id) & _OWN_TURN
_DISLIKED = exists().where(
    Feedback.tenant_id == StoredTurn.tenant_id, Feedback.turn_id == StoredTurn.id, Feedback.rating == "down"
)
_SEVERITY: ColumnElement[int] = case(
    *(
        (_DISLIKED if trouble is Trouble.THUMBS_DOWN else StoredTurn.outcome.in_(_ENDS[trouble]), SEVERITY[trouble])
        for trouble in Trouble
        if trouble is not Trouble.NONE
    ),
    else_=SEVERITY[Trouble.NONE],
)
_SORTED = {"updated": Conversation.updated_at, "created": Conversation.created_at, "turns": Conversation.turns}


def _count_votes(rating: str) -> ColumnElement[int]:
    own = _OWN_VOTE & (Feedback.rating == rating)
    return select(func.count()).select_from(Feedback, StoredTurn).where(own).correlate(Conversation).scalar_subquery()


def _build_conditions(tenant: str, wanted: ConversationFilter) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [Conversation.tenant_id == tenant]
    for name in ("user_id", "channel"):
        if value := getattr(wanted, name):
            where.append(getattr(Conversation, name) == value)
    if wanted.text:
        said = (column.icontains(wanted.text, autoescape=True) for column in (StoredTurn.question, StoredTurn.reply))
        ids = (Conversation.session_id == wanted.text) | (Conversation.user_id == wanted.text)
        where.append(ids | exists().where(_OWN_TURN, or_(*said)))
    if wanted.outcome:
        where.append(exists().where(_OWN_TURN, StoredTurn.outcome == wanted.outcome))
    if wanted.handoff is not None:
        asked = exists().where(_AT_DESK)
        where.append(asked if wanted.handoff else ~asked)
    if wanted.rating:
        where.append(exists().where(_OWN_VOTE, Feedback.rating == wanted.rating))
    if wanted.trouble is not None:
        where.append(exists().where(_OWN_TURN, _SEVERITY.in_([SEVERITY[wanted.trouble]])))
    if wanted.label:
        of_conversation = match_equal(ConversationLabelRow, Conversation, "session_id")
        where.append(exists().where(of_conversation, ConversationLabelRow.label == wanted.label))
    if wanted.since is not None:
        where.append(Conversation.updated_at >= wanted.since)
    if wanted.until is not None:
        where.append(Conversation.updated_at < wanted.until)
    return where


class TranscriptRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database, forget: Forget, on_commit: Callable[[], None] = lambda: None) -> None:
        """forget: deletes conversations of a tenant with all that was made of them, and returns how many there were.
        on_commit: called after what other parts of the product are told of.
        """
        self._database = database
        self._forget = forget
        self._on_commit = on_commit

    async def load_recent(
        self, tenant: str, limit: int, wanted: ConversationFilter = EVERYTHING, offset: int = 0
    ) -> tuple[list[Summary], int]:
        """Returns a page of the conversations that were active last, or by the filter's `sort`, and their
        total number.
        """
        place = (Conversation.updated_at, Conversation.session_id)
        where = _build_conditions(tenant, wanted)
        page = list(where)
        if wanted.after:
            last = select(*place).where(_match_key(tenant, wanted.after)).subquery()
            page.append(tuple_(*place) < select(last.c.updated_at, last.c.session_id).scalar_subquery())
        first = select(StoredTurn.question).where(_OWN_TURN).order_by(StoredTurn.number).limit(1).scalar_subquery()
        last_outcome = (
            select(StoredTurn.outcome).where(_OWN_TURN).order_by(StoredTurn.number.desc()).limit(1).scalar_subquery()
        )
        query = (
            select(
                Conversation.session_id,
                Conversation.user_id,
                Conversation.caller != "",
                Conversation.channel,
                Conversation.turns,
                Conversation.created_at,
                Conversation.updated_at,
                func.coalesce(first, ""),
                func.coalesce(last_outcome, ""),
                exists().where(_AT_DESK),
                _count_votes("up"),
                _count_votes("down"),
            )
            .where(*page)
            .order_by(*build_order(wanted.sort, _SORTED), *(column.desc() for column in place))
            .limit(limit)
            .offset(offset)
        )
        async with self._database.read() as connection:
            total = (
                await connection.execute(select(func.count()).select_from(Conversation).where(*where))
            ).scalar_one()
            found = [Summary(*row) for row in await connection.execute(query)]
            worst = await _find_worst(connection, tenant, [one.session_id for one in found])
            return [replace(one, **worst.get(one.session_id, {})) for one in found], total

    async def read(self, tenant: str, session_id: str) -> list[Exchange]:
        """Returns all turns of a session, the oldest first; empty if there is no such session."""
        query = (
            select(
                StoredTurn.id,
                StoredTurn.question,
                StoredTurn.reply,
                StoredTurn.outcome,
                StoredTurn.response,
                StoredTurn.created_at,
                Feedback.rating,
                func.coalesce(Feedback.reason, ""),
            )
            .outerjoin(Feedback, (Feedback.tenant_id == StoredTurn.tenant_id) & (Feedback.turn_id == StoredTurn.id))
            .where(StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id)
            .order_by(StoredTurn.number)
        )
        return [Exchange(*row) for row in await self._database.fetch(query)]

    async def find_source(self, tenant: str, session_id: str, turn_id: str, index: int) -> dict[str, Any] | None:
        """Returns the fragment that a reply cites by this number, as it was sent; None without one.

        The customer's own page, which is number 0, is none.
        """
        query = select(StoredTurn.response).where(
            StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id, StoredTurn.id == turn_id
        )
        response = await self._database.fetch_value(query)
        sources: list[dict[str, Any]] = response["data"]["sources"] if response else []
        return next((item for item in sources if item["index"] == index and item.get("document_id")), None)

    async def delete(self, tenant: str, session_id: str) -> bool:
        """Removes the conversation with all that was made of it, whether it was there."""
        return bool(
            await self._database.transact(
                lambda connection: self._forget(connection, tenant, [session_id]), erases=True
            )
        )

    async def rate(self, tenant: str, session_id: str, turn_id: str, rating: Rating, reason: str) -> bool:
        """Keeps the vote; False when the session has no such turn."""
        async with self._database.write() as connection:
            known = select(StoredTurn.id).where(
                StoredTurn.tenant_id == tenant, StoredTurn.session_id == session_id, StoredTurn.id == turn_id
            )
            if (await connection.execute(known)).first() is None:
                return False
            moment = now()
            vote = {"rating": rating, "reason": reason, "created_at": moment}
            row = {"tenant_id": tenant, "turn_id": turn_id} | vote
            await connection.execute(build_upsert(connection, Feedback, row))
            told = {
                "session_id": session_id,
                "message_id": turn_id,
                "rating": rating,
                "reason": mask_personal_data(reason),
            }
            told["created_at"] = moment.isoformat()
            await connection.run_sync(emit_event, tenant, WebhookEvent.FEEDBACK_GIVEN, told)
        self._on_commit()
        return True


async def _find_worst(connection: AsyncConnection, tenant: str, sessions: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Returns what `Summary` says of the worst turn of each session."""
    place = func.row_number().over(partition_by=StoredTurn.session_id, order_by=(_SEVERITY.desc(), StoredTurn.number))
    columns = StoredTurn.session_id, StoredTurn.id, StoredTurn.question, _SEVERITY.label("severity")
    own = (StoredTurn.tenant_id == tenant) & StoredTurn.session_id.in_(sessions)
    turns = select(*columns, place.label("place")).where(own).subquery()
    troubles = {severity: trouble for trouble, severity in SEVERITY.items()}
    return {
        row.session_id: {"title": row.question, "trouble": troubles[row.severity], "worst": row.id}
        for row in await connection.execute(select(turns).where(turns.c.place == 1))
    }


def _match_key(tenant: str, session_id: str) -> ColumnElement[bool]:
    return (Conversation.tenant_id == tenant) & (Conversation.session_id == session_id)
