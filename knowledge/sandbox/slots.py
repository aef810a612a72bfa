"""Slots that are shared fairly between tenants."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TenantSlots:
    """At most `total` slots, `per_tenant` for one tenant. Waiters are served in turn of tenants, then in order of
    arrival.
    """

    def __init__(self, total: int, per_tenant: int) -> None:
        self._free = total
        self._per_tenant = per_tenant
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def hold_slot(self, tenant: str) -> AsyncIterator[None]:
        """Waits for a slot and holds it for the block."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._grant_slots()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._release_slot(tenant)
            else:
                self._forget_waiter(tenant, turn)

    def _grant_slots(self) -> None:
        """Gives free slots to waiters."""
        while self._free and (tenant := self._choose_tenant()) is not None:
            queue = self._waiting[tenant]
            turn = queue.popleft()
            if queue:
                self._waiting.move_to_end(tenant)
            else:
                del self._waiting[tenant]
            if not turn.cancelled():
                self._free -= 1
                self._held[tenant] += 1
                turn.set_result(None)

    def _choose_tenant(self) -> str | None:
        """Returns the next waiting tenant that has not reached its limit, or None."""
        return next((tenant for tenant in self._waiting if self._held[tenant] < self._per_tenant), None)

    def _release_slot(self, tenant: str) -> None:
        self._free += 1
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]
        self._grant_slots()

    def _forget_waiter(self, tenant: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(tenant)
        if queue and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[tenant]
