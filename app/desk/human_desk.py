"""All of the human desk."""

from __future__ import annotations

from dataclasses import dataclass

from app.desk.feed import Feed
from app.desk.gate import DeskGate
from app.desk.moves import build_not_found
from app.desk.overview import Overview
from app.desk.queue import Queue
from app.desk.repository_messages import DeskMessageRepository
from app.desk.repository_notes import NoteRepository
from app.desk.repository_reads import ReadRepository
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.repository_solutions import SolutionRepository
from app.desk.repository_staff import StaffRepository
from app.desk.service import Desk
from app.desk.signals import Signal, SignalKind, Signals
from app.desk.teams import Teams
from app.desk.watch import Watch
from app.types import SessionKey, Side


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

    async def mark_read(self, key: SessionKey, agent_id: str, seq: int, *, viewing: bool) -> None:
        """Keeps how far somebody has read; colleagues who have the session open learn of it. Raises NotFound."""
        changed = await self.reads.mark_read(key, agent_id, seq, viewing=viewing)
        if changed is None:
            raise build_not_found(key)
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
