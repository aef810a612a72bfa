"""Signals between customer and staff beside their messages: that one side is typing, and how far it has read. They are
not stored, and only reach who is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.types import SessionKey, Side

# Who goes on typing is told of so often at most; a page shows it for some seconds.
TYPING_SECONDS = 2.0
# Signals that wait for one connection; more than these are no news.
MAX_WAITING = 32


class SignalKind(StrEnum):
    """What a signal says."""

    TYPING = "typing"
    SEEN = "seen"


@dataclass(frozen=True, slots=True)
class Signal:
    """seq: of the last message that was read."""

    kind: SignalKind
    side: Side
    key: SessionKey
    seq: int = 0


class Signals:
    """Hands signals to the connections of this process, and by `relay` to those of others."""

    def __init__(self) -> None:
        self._listening: dict[SessionKey | str, set[asyncio.Queue[Signal]]] = {}
        # Tells other processes; see `receive_signal`.
        self.relay: Callable[[list[Any]], None] = lambda parts: None

    @contextmanager
    def listen(self, where: SessionKey | str) -> Iterator[asyncio.Queue[Signal]]:
        """Opens a queue that gets the signals of a session, or of all sessions of a tenant given by its name."""
        queue: asyncio.Queue[Signal] = asyncio.Queue(MAX_WAITING)
        self._listening.setdefault(where, set()).add(queue)
        try:
            yield queue
        finally:
            self._listening[where].discard(queue)
            if not self._listening[where]:
                del self._listening[where]

    def send(self, signal: Signal) -> None:
        """Delivers a signal to all who listen, in this process and in others."""
        self._deliver(signal)
        self.relay([signal.kind.value, signal.side.value, signal.key.tenant, signal.key.session_id, signal.seq])

    def receive_signal(self, parts: Sequence[Any]) -> None:
        """Delivers a signal that another process sent. Raises ValueError or TypeError for what is no signal."""
        kind, side, tenant, session_id, seq = parts
        key = SessionKey(str(tenant), str(session_id))
        self._deliver(Signal(SignalKind(kind), Side(side), key, int(seq)))

    def _deliver(self, signal: Signal) -> None:
        for where in (signal.key, signal.key.tenant):
            for queue in self._listening.get(where, ()):
                if not queue.full():
                    queue.put_nowait(signal)


class Throttle:
    """Lets something through once within some seconds."""

    def __init__(self, seconds: float = TYPING_SECONDS) -> None:
        self._seconds = seconds
        self._last = -seconds

    def try_pass(self) -> bool:
        """Whether enough time has passed since the last call that passed; if so, this one counts."""
        moment = asyncio.get_running_loop().time()
        if moment - self._last < self._seconds:
            return False
        self._last = moment
        return True
