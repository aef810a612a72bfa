"""Connections that have no request in work: how long they may stay, and which of them make room for others.

uvicorn's `limit_concurrency` counts half-open connections too, so that a client that opens enough of them causes a 503
for everybody, /health included. Here the oldest one without a request is closed instead.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from typing import Any, Protocol

SWEEP_SECONDS = 0.5
# How long the last of an answer may take once a connection is closed.
CLOSE_SECONDS = 10.0
# Connections beyond the limit that are still told 503, or that the server is alive; further ones are cut.
RESERVE = 64


class Connection(Protocol):
    """One TCP connection. `idle`: its last request was answered and no byte of a new one has come."""

    transport: asyncio.Transport
    idle: bool
    address: str

    def check_timeouts(self) -> None:
        """Called every SWEEP_SECONDS; ends it when something takes too long.

        Times are counted in looks and not by a clock: after a pause of the loop, what has come is read first.
        """


class ServerConnections:
    """All connections of one server. `most`: how many there may be, of which half without a request in work."""

    def __init__(self, most: int, head_seconds: float) -> None:
        self.most = most
        self.head_seconds = head_seconds
        # Those without a request in work, the longest resting first.
        self.resting: dict[Connection, None] = {}
        self._open: Collection[Any] = ()
        self._sweeping = False

    @property
    def full(self) -> bool:
        """Only health is answered now."""
        return len(self._open) > self.most

    def add_connection(self, connection: Connection, everyone: Collection[Any]) -> None:
        """Adds a new connection, which is one of `everyone` already."""
        self._open = everyone
        if len(everyone) > self.most + RESERVE:
            connection.transport.abort()
            return
        if len(self.resting) >= self.most // 2 or (self.full and self.resting):
            self._close_oldest()
        self.resting[connection] = None
        if not self._sweeping:
            self._sweeping = True
            self._schedule_sweep()

    def _close_oldest(self) -> None:
        """Ends the oldest eighth of the address with most connections; one by one, a flood would cost a look at all for
        each.

        Those that never brought a request go first.
        """
        candidates = [one for one in self.resting if not one.idle] or list(self.resting)
        busiest = Counter(one.address for one in candidates).most_common(1)[0][0]
        for one in [one for one in candidates if one.address == busiest][: max(1, self.most // 16)]:
            del self.resting[one]
            one.transport.close()

    def _schedule_sweep(self) -> None:
        asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._check_all)

    def _check_all(self) -> None:
        for connection in tuple(self._open):
            connection.check_timeouts()
        self._sweeping = bool(self._open)
        if self._sweeping:
            self._schedule_sweep()
