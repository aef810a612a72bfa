"""Puts the human desk together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from app.contacts.repository import merge_into_member
from app.contacts.service import Contacts
from app.conversations import repository_holders
from app.conversations.repository import ConversationRepository
from app.conversations.rules import LIFETIME
from app.db.engine import Database
from app.desk.feed import Feed
from app.desk.gate import DeskGate
from app.desk.human_desk import HumanDesk
from app.desk.openings import Openings, TicketDesk
from app.desk.overview import Overview
from app.desk.partners import Partners
from app.desk.queue import Queue
from app.desk.repository import record_member
from app.desk.repository_messages import DeskMessageRepository
from app.desk.repository_notes import NoteRepository
from app.desk.repository_reads import ReadRepository
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.repository_solutions import SolutionRepository
from app.desk.repository_staff import StaffRepository
from app.desk.repository_teams import TeamRepository
from app.desk.service import Desk
from app.desk.signals import Signals
from app.desk.teams import Teams
from app.desk.watch import Watch
from app.gaps import repository_unanswered as gaps
from app.history import repository_texts
from app.limits.service import RateLimits
from app.profiles.repository import ProfileRepository
from app.redis.broadcast import Broadcast
from app.redis.server import RedisServer
from app.settings import Settings
from app.tickets import repository_desk
from app.types import SessionKey
from app.webhooks import repository_messages

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.desk.types import DeskMessage, DeskNote, DeskSession


def prove_member(connection: Connection, key: SessionKey, caller: str) -> None:
    """Tells the desk, and what labels customers, that a conversation turned out to be a member's."""
    record_member(connection, key, caller)
    merge_into_member(connection, key, caller)


def _record_message(connection: Connection, session: DeskSession, message: DeskMessage) -> None:
    told = {
        "session_id": session.session_id,
        "user_id": session.user_id,
        "verified": session.verified,
        "channel": session.channel,
        "seq": message.seq,
        "agent_id": message.agent_id,
        "text": message.content,
        "created_at": message.created_at.isoformat(),
    }
    repository_messages.emit_staff_message(connection, session.tenant, told)
    repository_texts.add_text(connection, session.key, repository_texts.MESSAGE, str(message.seq), message.content)


def _record_note(connection: Connection, key: SessionKey, note: DeskNote) -> None:
    repository_texts.add_text(connection, key, repository_texts.NOTE, note.id, note.content)


def build_partners(lifetime: timedelta = LIFETIME) -> Partners:
    """Builds what other features do in a transaction of the desk. lifetime: of a session's secret."""
    return Partners(
        lock_conversation=repository_holders.lock_conversation,
        find_member=partial(repository_holders.settle_member, lifetime=lifetime, proved=prove_member),
        resolve_tickets=repository_desk.resolve_desk_tickets,
        announce_message=_record_message,
        announce_note=_record_note,
    )


def build_human_desk(
    database: Database,
    settings: Settings,
    conversations: ConversationRepository,
    profiles: ProfileRepository,
    tickets: TicketDesk,
    limits: RateLimits,
    contacts: Contacts,
    on_commit: Callable[[], None] = lambda: None,
) -> HumanDesk:
    """Builds the desk. on_commit: called after each of its transactions."""
    sessions, staff = DeskSessionRepository(database), StaffRepository(database)
    answering = settings.answer_while_queued
    feed, reads = Feed(sessions, answering=answering), ReadRepository(database)
    queue = Queue(sessions, staff, profiles)
    openings = Openings(queue, conversations, tickets, limits, answering=answering)
    partners = build_partners(timedelta(hours=settings.session_token_hours))
    service = Desk(database, feed, openings, partners, on_commit)
    shared = database.engine.dialect.name != "sqlite"
    watch = Watch(
        service,
        sessions,
        staff,
        queue,
        release=timedelta(minutes=settings.desk_release_minutes),
        idle=timedelta(hours=settings.desk_idle_hours),
    )
    gate = DeskGate(
        service,
        feed,
        sessions,
        queue,
        openings,
        shared=shared,
        threshold=settings.emotion_threshold,
        answering=answering,
    )
    return HumanDesk(
        sessions=sessions,
        messages=DeskMessageRepository(database),
        notes=NoteRepository(database),
        staff=staff,
        teams=Teams(TeamRepository(database)),
        solutions=SolutionRepository(database, gaps.count_questions),
        feed=feed,
        queue=queue,
        service=service,
        reads=reads,
        overview=Overview(reads, contacts),
        gate=gate,
        watch=watch,
        signals=Signals(),
    )


def open_relay(signals: Signals, redis: RedisServer | None) -> Broadcast | None:
    """Opens the relay of signals between replicas; None if there is only one."""
    if redis is None:
        return None
    relay = Broadcast(redis, "signals", signals.receive_signal)
    signals.relay = lambda parts: relay.tell(*parts)
    return relay
