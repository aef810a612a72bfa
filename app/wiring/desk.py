"""Puts the human desk together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Self

from app.contacts.repository import merge_into_member
from app.contacts.service import Contacts
from app.conversations import repository_holders
from app.conversations.repository import ConversationRepository
from app.db.engine import Database
from app.desk.feed import Feed
from app.desk.gate import DeskGate
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
from app.desk.signals import Signal, SignalKind, Signals
from app.desk.teams import Teams
from app.desk.watch import Watch
from app.errors import NotFound
from app.gaps import repository_unanswered as gaps
from app.history import repository_texts
from app.limits.service import RateLimits
from app.people.person import Duty
from app.profiles.repository import ProfileRepository
from app.redis.broadcast import Broadcast
from app.redis.server import RedisServer
from app.settings import Settings
from app.tickets import repository_desk
from app.types import SessionKey, Side
from app.webhooks import repository_messages

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.desk.types import DeskMessage, DeskNote, DeskSession


def prove_member(connection: Connection, key: SessionKey, caller: str) -> None:
    """A conversation turned out to be a member's: the desk and whoever labelled its customer know it."""
    record_member(connection, key, caller)
    merge_into_member(connection, key, caller)


def _record_message(connection: Connection, session: DeskSession, message: DeskMessage) -> None:
    repository_messages.emit_staff_message(connection, session, message)
    repository_texts.add_text(connection, session.key, repository_texts.MESSAGE, str(message.seq), message.content)


def _record_note(connection: Connection, key: SessionKey, note: DeskNote) -> None:
    repository_texts.add_text(connection, key, repository_texts.NOTE, note.id, note.content)


PARTNERS = Partners(
    lock=repository_holders.lock_conversation,
    member=partial(repository_holders.settle_member, proved=prove_member),
    served=repository_desk.resolve_desk_tickets,
    said=_record_message,
    noted=_record_note,
)


@dataclass(frozen=True, slots=True)
class HumanDesk:
    """The desk of all tenants; `start` before the first turn."""

    sessions: DeskSessionRepository
    messages: DeskMessageRepository
    notes: NoteRepository
    staff: StaffRepository
    teams: Teams
    solutions: SolutionRepository
    feed: Feed
    queue: Queue
    service: Desk
    reads: ReadRepository
    overview: Overview
    gate: DeskGate
    watch: Watch
    signals: Signals

    @classmethod
    def from_parts(
        cls,
        database: Database,
        settings: Settings,
        conversations: ConversationRepository,
        profiles: ProfileRepository,
        tickets: TicketDesk,
        limits: RateLimits,
        contacts: Contacts,
        on_commit: Callable[[], None] = lambda: None,
    ) -> Self:
        sessions, staff = DeskSessionRepository(database), StaffRepository(database)
        answering = settings.answer_while_queued
        feed, reads = Feed(sessions, answering=answering), ReadRepository(database)
        queue = Queue(sessions, staff, profiles)
        openings = Openings(queue, conversations, tickets, limits, answering=answering)
        service = Desk(database, feed, openings, PARTNERS, on_commit, timedelta(hours=settings.session_token_hours))
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
        return cls(
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

    async def require_teams(self, tenant: str, teams: Sequence[str]) -> None:
        """See `DutyRoster`."""
        await self.teams.require_all(tenant, teams)

    async def assign(self, tenant: str, agent_id: str, duty: Duty) -> None:
        """See `DutyRoster`."""
        await self.staff.put(tenant, agent_id, duty.name, duty.skills, duty.capacity, duty.teams, duty.hours)

    async def mark_read(self, key: SessionKey, agent_id: str, seq: int, *, viewing: bool) -> None:
        """Keeps how far somebody has read; colleagues who have the session open learn of it. Raises NotFound."""
        changed = await self.reads.mark_read(key, agent_id, seq, viewing=viewing)
        if changed is None:
            raise NotFound("没有找到这个会话的人工服务记录。", code="desk_session_not_found", session_id=key.session_id)
        if changed:
            self.feed.wake_watchers(key)

    async def start(self) -> None:
        """Starts the desk. Returns once no turn can miss that a person has its session."""
        await self.feed.poll()
        self.feed.start()

    async def mark_seen(self, key: SessionKey, side: Side, seq: int) -> None:
        """Records how far one side has read, and tells the other."""
        if seen := await self.messages.mark_seen(key, side, seq):
            self.signals.send(Signal(SignalKind.SEEN, side, key, seen))

    async def close(self) -> None:
        """Stops."""
        await self.feed.close()


def open_relay(signals: Signals, redis: RedisServer | None) -> Broadcast | None:
    """Between replicas; None where there is one alone."""
    if redis is None:
        return None
    relay = Broadcast(redis, "signals", signals.receive_signal)
    signals.relay = lambda parts: relay.tell(*parts)
    return relay
