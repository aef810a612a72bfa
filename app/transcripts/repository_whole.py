"""A conversation as it went: what customer, bot, staff and system said, and what happened to it at the desk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from sqlalchemy import Executable, Select, func, select

from app.conversations.tables import Conversation, StoredTurn
from app.db.base import match_equal, match_session
from app.db.engine import Database
from app.desk.tables import DeskEvent, DeskMessageRow, DeskSessionRow, DeskStaff
from app.desk.types import Event, Sender, State
from app.types import SessionKey


class Who(StrEnum):
    """Whose an entry of a transcript is."""

    CUSTOMER = "customer"
    BOT = "bot"
    STAFF = "staff"
    SYSTEM = "system"


# Of the desk's messages. What customer and bot say to each other while a person is waited for is a turn as well.
_WHO = {Sender.AGENT.value: Who.STAFF, Sender.SYSTEM.value: Who.SYSTEM}


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """Something said, or with `event` something that happened. agent_id, name: of the member of staff; message_id: of
    the turn; seq: of the desk's message; note: for staff;
    attachments: see `Attachment.build_brief`.
    """

    who: Who
    created_at: datetime
    text: str = ""
    agent_id: str = ""
    name: str = ""
    message_id: str = ""
    seq: int | None = None
    event: Event | None = None
    note: str = ""
    attachments: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class WholeTranscript:
    """A conversation. state: who it is with; entries: the oldest first."""

    session_id: str
    user_id: str
    verified: bool
    channel: str
    state: State
    created_at: datetime
    updated_at: datetime
    entries: tuple[TranscriptEntry, ...]


class WholeTranscriptRepository:
    """A session id means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, key: SessionKey) -> WholeTranscript | None:
        """Reads a whole conversation; None if it does not exist."""
        query = (
            select(
                Conversation.session_id,
                Conversation.user_id,
                Conversation.caller != "",
                Conversation.channel,
                func.coalesce(DeskSessionRow.state, State.BOT.value),
                Conversation.created_at,
                Conversation.updated_at,
            )
            .outerjoin(DeskSessionRow, match_equal(DeskSessionRow, Conversation, "session_id"))
            .where(match_session(Conversation, key))
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
            if row is None:
                return None
            turns = (await connection.execute(_select_turns(key))).all()
            said = (await connection.execute(_select_messages(key))).all()
            happened = (await connection.execute(_select_events(key))).all()
        entries = _build_entries(turns, said, happened)
        return WholeTranscript(row[0], row[1], bool(row[2]), row[3], State(row[4]), row[5], row[6], entries)


def _select_turns(key: SessionKey) -> Executable:
    return (
        select(StoredTurn.id, StoredTurn.question, StoredTurn.reply, StoredTurn.created_at, StoredTurn.attachments)
        .where(match_session(StoredTurn, key))
        .order_by(StoredTurn.number)
    )


def _select_messages(key: SessionKey) -> Executable:
    table = DeskMessageRow
    about = table.content, table.created_at, table.attachments
    rows = _select_with_staff(table, key, table.seq, table.sender, table.agent_id, _NAME, *about)
    return rows.where(table.sender.in_(_WHO)).order_by(table.seq)


def _select_events(key: SessionKey) -> Executable:
    table = DeskEvent
    rows = _select_with_staff(table, key, table.event, table.actor, table.agent_id, _NAME, table.note, table.created_at)
    return rows.order_by(table.version)


def _select_with_staff(table: type[DeskMessageRow] | type[DeskEvent], key: SessionKey, *columns: Any) -> Select[Any]:
    """Rows of the conversation beside the member of staff whose they are."""
    named = match_equal(DeskStaff, table, "agent_id")
    return select(*columns).select_from(table).outerjoin(DeskStaff, named).where(match_session(table, key))


def _build_entries(turns: Sequence[Any], said: Sequence[Any], happened: Sequence[Any]) -> tuple[TranscriptEntry, ...]:
    """Returns all entries in the order of time.

    Of entries with the same time a turn comes first, which may have caused the rest, then the transition, then its
    notice.
    """
    entries = []
    for id, question, reply, at, attached in turns:
        entries.append(TranscriptEntry(Who.CUSTOMER, at, question, message_id=id, attachments=attached))
        entries.append(TranscriptEntry(Who.BOT, at, reply, message_id=id))
    for event, actor, agent_id, name, note, at in happened:
        entries.append(TranscriptEntry(Who(actor), at, agent_id=agent_id, name=name, event=Event(event), note=note))
    for seq, sender, agent_id, name, content, at, attached in said:
        entries.append(TranscriptEntry(_WHO[sender], at, content, agent_id, name, seq=seq, attachments=attached))
    return tuple(sorted(entries, key=attrgetter("created_at")))


_NAME = func.coalesce(DeskStaff.name, "")
