"""Places at the processor: few, and given out in turn."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from math import ceil

from agents.wording.catalogue import say
from app.errors import QueueTimeout
from app.limits.shares import PlaceShares
from knowledge.work_place import PLACE

# How long a tenant that took a place has its share of them: who asks again and again finds it free.
LATELY_SECONDS = 2.0
_Line = OrderedDict[Hashable, deque[asyncio.Future[None]]]


class TurnSlots:
    """Gives out the places for turns that compute. count: how many there are; seconds: how long one is waited for.

    The last free place is never given to a tenant that has all others, nor to one that had most of the places lately.
    So the next tenant need not wait for work that cannot be interrupted, and the waiting turns of a busy tenant run
    after the turns of others, not beside them. The other places are shared by the tenants that were there lately, at
    least one for each. A place that comes free goes to the waiting tenant that had the fewest lately, and within a
    tenant to the next sender, so that a sender of many turns only waits behind its own.
    """

    def __init__(self, count: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: monotonic seconds."""
        self.seconds = seconds
        self._clock = clock
        self._lately: OrderedDict[str, float] = OrderedDict()
        self._shares = PlaceShares(clock)
        self.free = count
        self._last = 1 if count > 1 else 0
        self._most = max(count - 1, 1)
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, _Line] = OrderedDict()

    @property
    def idle(self) -> bool:
        """Whether nobody has a place, and nobody waits for one."""
        return not self._held and not self._waiting

    @asynccontextmanager
    async def open_slot(
        self, tenant: str, sender: Hashable = "", patience: Callable[[], float] | None = None
    ) -> AsyncIterator[None]:
        """Holds a place while something is computed for a sender.

        patience: asked once the sender has to wait; returns for how many seconds it may. Raises QueueTimeout.
        """
        await self.acquire(tenant, sender, patience)
        place = _Place(self, tenant, sender)
        PLACE.set(place)
        try:
            yield
        finally:
            PLACE.set(None)
            place.end()

    async def acquire(
        self,
        tenant: str,
        sender: Hashable = "",
        patience: Callable[[], float] | None = None,
        *,
        first: bool = False,
    ) -> None:
        """Waits for a place, which the caller gives back with `release`.

        first: this place comes before all others of the sender, and is waited for without limit. Raises QueueTimeout.
        """
        self._lately[tenant] = self._clock()
        self._lately.move_to_end(tenant)
        if tenant in self._waiting:
            self._fill_places()  # its share may have grown since
        if self.free and tenant not in self._waiting and self._can_have(tenant):
            self._give_place(tenant)
            return
        waiter = asyncio.get_running_loop().create_future()
        line = self._waiting.setdefault(tenant, OrderedDict()).setdefault(sender, deque())
        line.appendleft(waiter) if first else line.append(waiter)
        seconds = None if first else patience() if patience else self.seconds
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except BaseException as error:
            if waiter.done() and not waiter.cancelled():  # it came at this very moment
                self.release(tenant)
            else:
                self._forget_waiter(tenant, sender, waiter)
            if isinstance(error, TimeoutError):
                raise QueueTimeout(say("too_busy", False), retry_after=ceil(self.seconds)) from error
            raise

    def release(self, tenant: str) -> None:
        """Gives a tenant's place back, which goes to the next one in line."""
        self.free += 1
        self._shares.add_places(tenant, -1)
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]
        self._fill_places()

    def _give_place(self, tenant: str) -> None:
        self.free -= 1
        self._shares.add_places(tenant, 1)
        self._held[tenant] += 1

    def _fill_places(self) -> None:
        while self.free and (following := self._wake_next()) is not None:
            self._give_place(following)

    def _wake_next(self) -> str | None:
        """Wakes the next sender of the next tenant that may have a place; both go to the end of their lines."""
        able = [tenant for tenant in self._waiting if self._can_have(tenant)]
        if not able:
            return None
        tenant = min(able, key=self._shares.compute_used)
        senders = self._waiting[tenant]
        sender, line = senders.popitem(last=False)
        waiter = line.popleft()
        if line:
            senders[sender] = line
        self._waiting.move_to_end(tenant)
        if not senders:
            del self._waiting[tenant]
        if waiter.done():  # it was given up a moment ago
            return self._wake_next()
        waiter.set_result(None)
        return tenant

    def _can_have(self, tenant: str) -> bool:
        """Whether a tenant may have one of the free places."""
        held = self._held[tenant]
        if not held:
            return self.free > self._last or not self._shares.has_most(tenant)
        since = self._clock() - LATELY_SECONDS
        while self._lately and next(iter(self._lately.values())) < since:
            self._lately.popitem(last=False)
        return held < max(self._most // max(len(self._lately), 1), 1)

    def _forget_waiter(self, tenant: str, sender: Hashable, waiter: asyncio.Future[None]) -> None:
        senders = self._waiting.get(tenant, OrderedDict())
        line = senders.get(sender, deque())
        if waiter in line:
            line.remove(waiter)
        if not line and sender in senders:
            del senders[sender]
        if not senders:
            self._waiting.pop(tenant, None)


class _Place:
    """See `knowledge.work_place.WorkPlace`: one place, left while part of the work waits for another server."""

    def __init__(self, slots: TurnSlots, tenant: str, sender: Hashable) -> None:
        self._slots, self._tenant, self._sender = slots, tenant, sender
        self._away = 0
        self._held, self._ended = True, False

    def release(self) -> None:
        self._away += 1
        if self._held:
            self._held = False
            self._slots.release(self._tenant)

    async def acquire(self) -> None:
        self._away -= 1
        if self._away or self._ended:
            return
        await self._slots.acquire(self._tenant, self._sender, first=True)
        if self._ended or self._held or self._away:  # meanwhile it ended, or went away again
            self._slots.release(self._tenant)
        else:
            self._held = True

    def give_up(self) -> None:
        self._away -= 1

    def end(self) -> None:
        self._ended = True
        if self._held:
            self._held = False
            self._slots.release(self._tenant)
