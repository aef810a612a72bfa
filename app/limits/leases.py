"""How much is open at once: turns, streams, sockets. Counted from the moment it opens until it closes.

In the memory of this process here; `app.limits.redis_leases` counts for all replicas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from typing import Protocol

from app.limits.types import LimitKind

# One more of a kind, of a name, of at most so many; 0 is no limit.
LeaseRequest = tuple[LimitKind, Hashable, int]


class Lease(ExitStack):
    """Something that is open. It is over when it is released, or when the context is."""

    def __init__(self, over: Callable[[], None] | None = None) -> None:
        """over: called once, when it is released; None for what is not counted."""
        super().__init__()
        if over is not None:
            self.callback(over)

    def release(self) -> None:
        """Ends the lease; a second call changes nothing."""
        self.close()


class Leases(Protocol):
    """Where it is counted; by all processes of a fleet, or by this one."""

    async def acquire(self, wanted: Sequence[LeaseRequest], *, beyond: bool = False) -> Lease | LimitKind:
        """Opens one more of each kind, or none at all.

        beyond: they are opened and counted even beyond their limits. Returns the lease, or the first kind of which
        there may be no more.
        """

    def count_held(self, kind: LimitKind, name: Hashable) -> int:
        """Returns how many of them this process has open."""

    async def close(self) -> None:
        """Stops: nothing is opened or released any more."""


class MemoryLeases:
    """See `Leases`: of this process alone. A name is kept while something of it is open."""

    def __init__(self) -> None:
        self._held: Counter[tuple[LimitKind, Hashable]] = Counter()

    async def acquire(self, wanted: Sequence[LeaseRequest], *, beyond: bool = False) -> Lease | LimitKind:
        """See `Leases.acquire`."""
        return self.acquire_now(wanted, beyond=beyond)

    def acquire_now(self, wanted: Sequence[LeaseRequest], *, beyond: bool = False) -> Lease | LimitKind:
        """Acquires as `acquire` does, without a coroutine."""
        for kind, name, most in wanted:
            if not beyond and 0 < most <= self._held[kind, name]:
                return kind
        names = [(kind, name) for kind, name, _ in wanted]
        self._held.update(names)
        return Lease(lambda: self._release(names))

    def count_held(self, kind: LimitKind, name: Hashable) -> int:
        """See `Leases.count_held`."""
        return self._held[kind, name]

    async def close(self) -> None:
        """See `Leases.close`."""

    def _release(self, names: Sequence[tuple[LimitKind, Hashable]]) -> None:
        for name in names:
            self._held[name] -= 1
            if not self._held[name]:
                del self._held[name]
