"""How much is taken from whom: requests, turns at once, requests for a person, tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import ceil

from app.errors import AppError, Overloaded, RateLimited
from app.limits.pause import Pause
from app.limits.slots import FairSlots
from app.limits.types import HOUR, MINUTE, NOBODY, Kind, Rate, Sender
from app.limits.urgent import UrgentReplies
from app.limits.windows import Counters, MemoryCounters
from app.metrics import Metrics

FULL_SECONDS = 5
"""After which it is worth trying again where too many turns are under way."""
_TOO_MANY = "请求太频繁，请稍后再试。"
_SENDER: ContextVar[Sender] = ContextVar("sender", default=NOBODY)
"""Of the turn that runs."""


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """Rates by what is counted, 0 for no limit; `turns_*`: at once, those that wait included."""

    key: int = 0
    server_key: int = 0
    tenant: int = 0
    address: int = 0
    session: int = 0
    handoffs: int = 0
    handoffs_per_address: int = 0
    tickets: int = 0
    tickets_per_address: int = 0
    turns_per_key: int = 0
    turns_per_tenant: int = 0


class Limits:
    """Of all tenants. `slots`: the places where answers are computed; `urgent`: what is answered all the same."""

    def __init__(
        self,
        options: LimitOptions,
        slots: FairSlots,
        urgent: UrgentReplies,
        metrics: Metrics,
        counters: Counters | None = None,
    ) -> None:
        self.slots = slots
        self.urgent = urgent
        self.pause = Pause()
        self._options = options
        self._metrics = metrics
        self._counters = counters or MemoryCounters()
        self._under_way: Counter[Hashable] = Counter()

    async def counted(self, tenant: str, sender: Sender, session_id: str = "") -> Sender:
        """Counts a request; the sender with the refusal where it is one too many."""
        if not sender.key:
            return sender
        options = self._options
        refusal = (
            await self._hit(Kind.ADDRESS, tenant, sender.address, options.address)
            or await self._session(tenant, sender, session_id)
            or await self._hit(Kind.KEY, tenant, sender.key, options.server_key if sender.server else options.key)
            or await self._hit(Kind.TENANT, tenant, tenant, options.tenant)
        )
        return replace(sender, refusal=refusal) if refusal else sender

    async def take(self, tenant: str, sender: Sender, session_id: str = "") -> Sender:
        """Counts a request. Raises RateLimited, a moment later, where it is one too many."""
        sender = await self.counted(tenant, sender, session_id)
        if sender.refusal is not None:
            await self.pause()
            raise sender.refusal
        return sender

    def turn(self, tenant: str, sender: Sender, session_id: str, text: str) -> Admission:
        """Around a turn. session_id: empty for a new one. See `Admission`."""
        return Admission(self, tenant, sender, session_id, text)

    async def handoff(self, tenant: str, sender: Sender, customer: str, *, urgent: bool) -> None:
        """Counts a request for a person. customer: a proved member, or a session. Raises RateLimited.

        Urgent ones are counted by themselves: whoever is in danger is not to wait for what others used up.
        """
        rates = self._options.handoffs, self._options.handoffs_per_address
        if refusal := await self._hourly(Kind.HANDOFF, tenant, sender, (customer, urgent), rates):
            raise refusal

    async def ticket(self, tenant: str, customer: str) -> bool:
        """Counts a ticket that a customer opens within a turn; False where it is one too many."""
        rates = self._options.tickets, self._options.tickets_per_address
        return await self._hourly(Kind.TICKET, tenant, _SENDER.get(), (customer, False), rates) is None

    async def refusal(self, tenant: str, sender: Sender, session_id: str) -> AppError | None:
        """Why a turn is not taken."""
        options = self._options
        if refusal := sender.refusal or await self._session(tenant, sender, session_id):
            return refusal
        full = options.turns_per_tenant and self._under_way[tenant] >= options.turns_per_tenant
        if sender.key and not full:
            full = options.turns_per_key and self._under_way[tenant, sender.key] >= options.turns_per_key
        if not full:
            return None
        self._metrics.limited(tenant, Kind.QUEUE_FULL)
        return Overloaded("现在咨询的人太多，请稍后再试。", code="too_many_turns", retry_after=FULL_SECONDS)

    def begin(self, tenant: str, sender: Sender) -> None:
        """A turn is under way, until `done`."""
        _SENDER.set(sender)
        self._under_way[tenant] += 1
        self._under_way[tenant, sender.key] += 1

    def done(self, tenant: str, sender: Sender) -> None:
        """A turn is over."""
        for place in (tenant, (tenant, sender.key)):
            self._under_way[place] -= 1
            if not self._under_way[place]:
                del self._under_way[place]

    async def _session(self, tenant: str, sender: Sender, session_id: str) -> AppError | None:
        """Staff look at many sessions."""
        if not sender.key or sender.staff:
            return None
        return await self._hit(Kind.SESSION, tenant, session_id, self._options.session)

    async def _hourly(
        self, kind: Kind, tenant: str, sender: Sender, who: tuple[str, bool], rates: tuple[int, int]
    ) -> AppError | None:
        """who: the customer, and whether it is urgent; rates: of a customer and of an address."""
        if not sender.key:
            return None
        refusal = await self._hit(kind, tenant, ("customer", *who), rates[0], HOUR)
        if refusal is None and sender.address:
            refusal = await self._hit(kind, tenant, ("address", sender.address, who[1]), rates[1], HOUR)
        return refusal

    async def _hit(
        self, kind: Kind, tenant: str, name: Hashable, count: int, seconds: float = MINUTE
    ) -> AppError | None:
        if not count or not name:
            return None
        wait = await self._counters.hit(kind, (tenant, name), Rate(count, seconds))
        if not wait:
            return None
        self._metrics.limited(tenant, kind)
        return RateLimited(_TOO_MANY, limit=kind.value, retry_after=ceil(wait))


class Admission:
    """A turn within the limits: `async with` gives False for one that is too many, but urgent, and raises otherwise."""

    __slots__ = ("_limits", "_sender", "_session_id", "_tenant", "_text")

    def __init__(self, limits: Limits, tenant: str, sender: Sender, session_id: str, text: str) -> None:
        self._limits = limits
        self._tenant, self._sender = tenant, sender
        self._session_id, self._text = session_id, text

    async def __aenter__(self) -> bool:
        """Raises RateLimited, Overloaded."""
        refusal = await self._limits.refusal(self._tenant, self._sender, self._session_id)
        if refusal is not None and not self._limits.urgent.wanted(self._text):
            await self._limits.pause()
            raise refusal
        self._limits.begin(self._tenant, self._sender)
        return refusal is None

    async def __aexit__(self, *_: object) -> None:
        self._limits.done(self._tenant, self._sender)
