"""Where sessions stand now. Watchers hear of changes of this process at once, of other processes within a poll."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from app.desk.repository_sessions import DeskSessionRepository
from app.desk.states import is_silent
from app.desk.types import ACTIVE, DeskSession, Standing
from app.types import SessionKey
from app.work_loop import WorkLoop


class Feed(WorkLoop):
    """A copy of where all active sessions stand. SQL decides; this says where it is worth looking.

    answering: see `is_silent`.
    """

    name = "desk-feed"
    poll_seconds = 0.5

    def __init__(self, sessions: DeskSessionRepository, *, answering: bool = True) -> None:
        super().__init__()
        self._sessions = sessions
        self._answering = answering
        self._standing: dict[SessionKey, Standing] = {}
        self._noted: set[SessionKey] = set()
        self._polling = asyncio.Lock()
        self._watchers: dict[SessionKey | str, set[asyncio.Event]] = {}

    async def run_round(self) -> int:
        """See `WorkLoop`."""
        await self.poll()
        return 0

    async def close(self) -> None:
        """Stops, and wakes all watchers."""
        await super().close()
        for events in self._watchers.values():
            for event in events:
                event.set()

    def get_standing(self, key: SessionKey) -> Standing | None:
        """Returns where an active session stands; None for all others."""
        return self._standing.get(key)

    def is_held(self, key: SessionKey) -> bool:
        """Whether the bot must be silent."""
        standing = self._standing.get(key)
        return standing is not None and is_silent(standing.state, answering=self._answering)

    def record_changes(self, sessions: Sequence[DeskSession]) -> None:
        """Records sessions that this process changed, and wakes their watchers."""
        for session in sessions:
            known = self._standing.get(session.key)
            standing = Standing(session.state, session.version, session.messages, session.agent_id)
            if known and (known.version, known.messages) > (standing.version, standing.messages):
                continue  # a later change was noted first
            self._noted.add(session.key)
            if session.state in ACTIVE:
                self._standing[session.key] = standing
            else:
                self._standing.pop(session.key, None)
            self.wake_watchers(session.key)

    def wake_watchers(self, key: SessionKey) -> None:
        """Wakes everybody who waits for news of a session or of its tenant.

        Called by itself where the standing did not change, for example after messages were read.
        """
        for watched in (key, key.tenant):
            for event in self._watchers.get(watched, ()):
                event.set()

    def correct_standing(self, key: SessionKey, session: DeskSession | None) -> None:
        """Corrects the copy after SQL was asked. session: None where the desk has it no more."""
        if session is not None:
            self.record_changes([session])
        elif self._standing.pop(key, None):
            self._noted.add(key)
            self.wake_watchers(key)

    @contextmanager
    def watch(self, *keys: SessionKey | str) -> Iterator[asyncio.Event]:
        """Gives an event that is set at news of these sessions, or of any session of a tenant given by its name."""
        event = asyncio.Event()
        for key in keys:
            self._watchers.setdefault(key, set()).add(event)
        try:
            yield event
        finally:
            for key in keys:
                self._watchers[key].discard(event)
                if not self._watchers[key]:
                    del self._watchers[key]

    async def poll(self) -> None:
        """Reads what other processes changed; after the first time the copy is complete."""
        async with self._polling:
            # Before the read: what this process changes from here on may be missing in what is read.
            self._noted.clear()
            found = await self._sessions.load_active()
            for key in self._find_changed(found):
                if key in self._noted:
                    continue  # this process knows better: it changed while that was read
                if key in found:
                    self._standing[key] = found[key]
                else:
                    del self._standing[key]
                self.wake_watchers(key)

    def _find_changed(self, found: Mapping[SessionKey, Standing]) -> list[SessionKey]:
        keys = found.keys() | self._standing.keys()
        return [key for key in keys if found.get(key) != self._standing.get(key)]
