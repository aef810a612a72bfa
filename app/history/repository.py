"""Conversations found again by what was said, who said it, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, exists, func, or_, select

from app.contacts.tables import ContactLabelRow, ContactRow, ConversationLabelRow
from app.conversations.tables import Conversation, StoredTurn
from app.db.base import match_equal
from app.db.engine import Database
from app.desk.tables import DeskEvent, DeskMessageRow, DeskNoteRow, DeskSessionRow, DeskStaff
from app.desk.types import ACTIVE, Event, State
from app.history import repository_texts as texts
from app.history.excerpt import find_excerpt
from app.history.types import FoundConversation, HistoryFilter, Standing
from app.tickets.tables import Ticket

# Up to which what is found is counted.
MAX_TOTAL = 1000
_DESK, _ACTIVE = DeskSessionRow, [state.value for state in ACTIVE]
_AT_DESK = match_equal(_DESK, Conversation, "session_id")
_OWN_TURN = match_equal(StoredTurn, Conversation, "session_id")
_OWN_TICKET = match_equal(Ticket, Conversation, "session_id")
_FIRST = select(StoredTurn.question).where(_OWN_TURN).order_by(StoredTurn.number).limit(1).scalar_subquery()
_LAST = select(StoredTurn.outcome).where(_OWN_TURN).order_by(StoredTurn.number.desc()).limit(1).scalar_subquery()
_TICKET = select(Ticket.number).where(_OWN_TICKET).order_by(Ticket.created_at.desc()).limit(1).scalar_subquery()


class ConversationSearch:
    """Conversations of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(
        self, tenant: str, wanted: HistoryFilter, limit: int, offset: int = 0
    ) -> tuple[list[FoundConversation], int]:
        """Returns the conversations that match, those with the latest turn first, at most `limit`; and how many match,
        at most MAX_TOTAL.
        """

        def search(connection: Connection) -> tuple[list[FoundConversation], int]:
            where = _build_conditions(connection, tenant, wanted)
            named = match_equal(DeskStaff, _DESK, "agent_id")
            source = select(Conversation.session_id).select_from(Conversation).outerjoin(_DESK, _AT_DESK)
            counted = source.where(*where).limit(MAX_TOTAL).subquery()
            total = connection.execute(select(func.count()).select_from(counted)).scalar_one()
            columns = (
                Conversation.session_id,
                Conversation.channel,
                func.coalesce(_DESK.state, State.BOT.value),
                func.coalesce(_DESK.priority, 0),
                func.coalesce(DeskStaff.name, _DESK.agent_id, ""),
                Conversation.turns,
                func.coalesce(_FIRST, ""),
                func.coalesce(_LAST, ""),
                func.coalesce(_TICKET, ""),
                Conversation.created_at,
                Conversation.updated_at,
            )
            query = source.with_only_columns(*columns).outerjoin(DeskStaff, named).where(*where)
            order = Conversation.updated_at.desc(), Conversation.session_id
            rows = connection.execute(query.order_by(*order).limit(limit).offset(offset)).all()
            found = [FoundConversation(row[0], row[1], State(row[2]), *row[3:]) for row in rows]
            excerpts = _load_excerpts(connection, tenant, [one.session_id for one in found], wanted.text)
            found = [replace(one, snippet=excerpts.get(one.session_id, "")) for one in found]
            return found, total

        return await self._database.run_in_reader(search)


def _build_conditions(connection: Connection, tenant: str, wanted: HistoryFilter) -> list[ColumnElement[bool]]:
    where: list[ColumnElement[bool]] = [Conversation.tenant_id == tenant]
    if wanted.text:
        where.append(_match_text(connection, tenant, wanted.text))
    if wanted.customer:
        caller = select(Conversation.caller).where(
            Conversation.tenant_id == tenant, Conversation.session_id == wanted.customer
        )
        of_member = (Conversation.caller != "") & (Conversation.caller == caller.scalar_subquery())
        where.append((Conversation.session_id == wanted.customer) | of_member)
    if wanted.label:
        of_conversation = exists().where(
            match_equal(ConversationLabelRow, Conversation, "session_id"),
            ConversationLabelRow.label == wanted.label,
        )
        of_contact = exists().where(_match_contact(ContactLabelRow), ContactLabelRow.label == wanted.label)
        where.append(of_conversation | of_contact)
    if wanted.agent_id:
        had = exists().where(
            match_equal(DeskEvent, Conversation, "session_id"),
            DeskEvent.agent_id == wanted.agent_id,
            DeskEvent.event.in_([Event.ACCEPT.value, Event.TRANSFER.value]),
        )
        where.append(had)
    if wanted.standing is not None:
        where.append(
            {
                Standing.OPEN: _DESK.state.in_(_ACTIVE),
                Standing.ENDED: _DESK.state.not_in(_ACTIVE),
                Standing.BOT: _DESK.state.is_(None),
            }[wanted.standing]
        )
    if wanted.outcome:
        where.append(exists().where(_OWN_TURN, StoredTurn.outcome == wanted.outcome))
    if wanted.priority is not None:
        where.append(_DESK.priority == wanted.priority)
    if wanted.since is not None:
        where.append(Conversation.updated_at >= wanted.since)
    if wanted.until is not None:
        where.append(Conversation.updated_at < wanted.until)
    return where


def _match_text(connection: Connection, tenant: str, text: str) -> ColumnElement[bool]:
    """Matches conversations by words that were said, by a number, or by their customer."""
    hits: list[ColumnElement[bool]] = [
        Conversation.session_id == text,
        Conversation.user_id == text,
        exists().where(_OWN_TICKET, Ticket.number == text.upper()),
        exists().where(_match_contact(ContactRow), ContactRow.name.icontains(text, autoescape=True)),
    ]
    if (matches := texts.is_match(text, connection.dialect)) is not None:
        hits.append(Conversation.session_id.in_(texts.select_sessions(matches, tenant)))
    return or_(*hits)


def _match_contact(table: type[ContactRow] | type[ContactLabelRow]) -> ColumnElement[bool]:
    member = (Conversation.caller != "") & (table.caller == Conversation.caller)
    visitor = (Conversation.caller == "") & (table.caller == "") & (table.session_id == Conversation.session_id)
    return (table.tenant_id == Conversation.tenant_id) & (member | visitor)


def _load_excerpts(connection: Connection, tenant: str, sessions: Sequence[str], text: str) -> Mapping[str, str]:
    """Loads where a text matched: session -> excerpt, for sessions in which it was said."""
    matches = texts.is_match(text, connection.dialect) if text and sessions else None
    if matches is None:
        return {}
    # One excerpt tells why a conversation was found, so the first text of it is enough.
    entries: dict[str, tuple[str, str]] = {}
    for session, kind, entry in texts.find_entries(connection, tenant, sessions, matches):
        entries.setdefault(session, (kind, entry))
    excerpts = {}
    for session, (kind, entry) in entries.items():
        said = " ".join(_load_texts(connection, tenant, session, kind, entry))
        excerpts[session] = find_excerpt(said, text)
    return excerpts


def _load_texts(connection: Connection, tenant: str, session: str, kind: str, entry: str) -> Sequence[str]:
    if kind == texts.TURN:
        turn = select(StoredTurn.question, StoredTurn.reply).where(
            StoredTurn.tenant_id == tenant, StoredTurn.id == entry, StoredTurn.session_id == session
        )
        row = connection.execute(turn).first()
        return tuple(row) if row else ()
    if kind == texts.MESSAGE:
        table: type[DeskMessageRow] | type[DeskNoteRow] = DeskMessageRow
        own: ColumnElement[bool] = DeskMessageRow.seq == int(entry)
    else:
        table, own = DeskNoteRow, DeskNoteRow.id == entry
    query = select(table.content).where(table.tenant_id == tenant, table.session_id == session, own)
    return connection.execute(query).scalars().all()
