"""Where sessions stand now, and whoever waits for news: told at once in this process, of others' within a poll."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from loguru import logger

from app.desk.repository_sessions import DeskSessionRepository
from app.desk.states import is_silent
from app.desk.types import ACTIVE, DeskSession, Standing
from app.types import SessionKey

# How late the news of another process may be.
POLL_SECONDS = 0.5


class Feed:
    """A copy of where all active sessions stand. SQL decides; this says where it is worth looking.

    answering: see `is_silent`.
    """

    def __init__(
        self, sessions: DeskSessionRepository, poll_seconds: float = POLL_SECONDS, *, answering: bool = True
    ) -> None:
        self._sessions = sessions
        self._answering = answering
        self._poll_seconds = poll_seconds
        self._standing: dict[SessionKey, Standing] = {}
        self._noted: set[SessionKey] = set()
        self._polling = asyncio.Lock()
        self._watchers: dict[SessionKey | str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns once the copy is complete: from then on no turn can miss that a person has its session."""
        await self.poll()
        self._task = asyncio.create_task(self._run(), name="desk-feed")

    async def close(self) -> None:
        """Stops; whoever waits is woken."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
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
        """Records sessions that this process changed, and wakes whoever waits for news of them."""
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
            self._notify_watchers(session.key)

    def wake_watchers(self, key: SessionKey) -> None:
        """Wakes whoever waits for news of a session whose standing did not change, for example of how far it
        was read.
        """
        self._notify_watchers(key)

    def correct_standing(self, key: SessionKey, session: DeskSession | None) -> None:
        """Corrects the copy after SQL was asked. session: None where the desk has it no more."""
        if session is not None:
            self.record_changes([session])
        elif self._standing.pop(key, None):
            self._noted.add(key)
            self._notify_watchers(key)

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
        """Reads what other processes changed."""
        async with self._polling:
            self._noted.clear()
            found = await self._sessions.load_active()
            for key in self._find_changed(found):
                if key in self._noted:
                    continue  # this process knows better: it changed while that was read
                if key in found:
                    self._standing[key] = found[key]
                else:
                    del self._standing[key]
                self._notify_watchers(key)

    def _find_changed(self, found: Mapping[SessionKey, Standing]) -> list[SessionKey]:
        keys = found.keys() | self._standing.keys()
        return [key for key in keys if found.get(key) != self._standing.get(key)]

    def _notify_watchers(self, key: SessionKey) -> None:
        for watched in (key, key.tenant):
            for event in self._watchers.get(watched, ()):
                event.set()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                await self.poll()
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("the desk cannot be polled")
