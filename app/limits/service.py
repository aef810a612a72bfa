"""How much is taken from whom: requests, turns at once, requests for a person, tickets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import ceil

from agents.language import in_english
from agents.profile import TenantProfile
from agents.types import Question
from agents.wording.catalogue import say
from app.errors import AppError, Overloaded, RateLimited
from app.limits.pause import Pause
from app.limits.slots import TurnSlots
from app.limits.types import NOBODY, LimitKind, Rate, Requester
from app.limits.urgent import UrgentReplies
from app.limits.windows import Counters, MemoryCounters, Wanted
from app.metrics import Metrics

FULL_SECONDS = 5
"""After which it is worth trying again where too many turns are under way."""
_SENDER: ContextVar[Requester] = ContextVar("sender", default=NOBODY)
"""Of the turn that runs."""


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """By what is counted; a count of 0 is no limit. `turns_*`: at once, those that wait included."""

    key: Rate
    server_key: Rate
    tenant: Rate
    address: Rate
    session: Rate
    handoffs: Rate
    handoffs_per_address: Rate
    tickets: Rate
    tickets_per_address: Rate
    turns_per_key: int
    turns_per_tenant: int


@dataclass(slots=True)
class _UnderWay:
    """Turns of a tenant, and of each of its keys."""

    turns: int = 0
    keys: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))


class RateLimits:
    """Of all tenants. `slots`: the places where answers are computed; `urgent`: what is answered all the same."""

    def __init__(
        self,
        options: LimitOptions,
        slots: TurnSlots,
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
        self._under_way: defaultdict[str, _UnderWay] = defaultdict(_UnderWay)

    async def counted(self, tenant: str, sender: Requester, session_id: str = "") -> Requester:
        """Counts a request; the sender with the refusal where it is one too many."""
        if not sender.key:
            return sender
        options = self._options
        own = options.server_key if sender.server else options.key
        wanted: list[Wanted] = [(LimitKind.KEY, sender.key, own), (LimitKind.TENANT, tenant, options.tenant)]
        if session_id and not sender.staff:
            wanted.insert(0, (LimitKind.SESSION, (tenant, session_id), options.session))
        if sender.address:  # what is narrowest goes first: a flood is not to use up what others need too
            wanted.insert(0, (LimitKind.ADDRESS, (tenant, sender.address), options.address))
        refusal = await self._hit(tenant, wanted)
        return replace(sender, refusal=refusal) if refusal else sender

    async def take(self, tenant: str, sender: Requester, session_id: str = "") -> Requester:
        """Counts a request. Raises RateLimited, a moment later, where it is one too many."""
        sender = await self.counted(tenant, sender, session_id)
        if sender.refusal is not None:
            await self.pause()
            raise sender.refusal
        return sender

    def turn(self, tenant: str, sender: Requester, session_id: str, text: str) -> Admission:
        """Around a turn. session_id: empty for a new one. See `Admission`."""
        return Admission(self, tenant, sender, session_id, text)

    async def handoff(self, tenant: str, sender: Requester, customer: str, *, urgent: bool) -> None:
        """Counts a request for a person. customer: a proved member, or a session. Raises RateLimited.

        Urgent ones are counted by themselves: whoever is in danger is not to wait for what others used up.
        """
        rates = self._options.handoffs, self._options.handoffs_per_address
        if refusal := await self._of_customer(LimitKind.HANDOFF, tenant, sender, (customer, urgent), rates):
            raise refusal

    async def ticket(self, tenant: str, customer: str) -> bool:
        """Counts a ticket that a customer opens within a turn; False where it is one too many."""
        rates = self._options.tickets, self._options.tickets_per_address
        return await self._of_customer(LimitKind.TICKET, tenant, _SENDER.get(), (customer, False), rates) is None

    async def refusal(self, tenant: str, sender: Requester, session_id: str) -> AppError | None:
        """Why a turn is not taken."""
        if sender.refusal is not None:
            return sender.refusal
        options = self._options
        if session_id and sender.key and not sender.staff:
            session: Wanted = (LimitKind.SESSION, (tenant, session_id), options.session)
            if refusal := await self._hit(tenant, [session]):
                return refusal
        under_way = self._under_way[tenant]
        full = 0 < options.turns_per_tenant <= under_way.turns
        if full or (sender.key and 0 < options.turns_per_key <= under_way.keys[sender.key]):
            self._metrics.limited(tenant, LimitKind.QUEUE_FULL)
            return Overloaded(say("too_busy", False), code="too_many_turns", retry_after=FULL_SECONDS)
        return None

    def under_way(self, tenant: str) -> int:
        """Turns of a tenant that are under way."""
        return self._under_way[tenant].turns

    def begin(self, tenant: str, sender: Requester) -> None:
        """A turn is under way, until `done`."""
        _SENDER.set(sender)
        under_way = self._under_way[tenant]
        under_way.turns += 1
        under_way.keys[sender.key] += 1

    def done(self, tenant: str, sender: Requester) -> None:
        """A turn is over."""
        under_way = self._under_way[tenant]
        under_way.turns -= 1
        under_way.keys[sender.key] -= 1

    async def _of_customer(
        self, kind: LimitKind, tenant: str, sender: Requester, who: tuple[str, bool], rates: tuple[Rate, Rate]
    ) -> AppError | None:
        """who: the customer, and whether it is urgent; rates: of a customer and of an address."""
        if not sender.key:
            return None
        wanted: list[Wanted] = [(kind, (tenant, "customer", *who), rates[0])]
        if sender.address:
            wanted.append((kind, (tenant, "address", sender.address, who[1]), rates[1]))
        return await self._hit(tenant, wanted)

    async def _hit(self, tenant: str, wanted: Sequence[Wanted]) -> AppError | None:
        refused = await self._counters.hit(wanted)
        if refused is None:
            return None
        kind, wait = refused
        self._metrics.limited(tenant, kind)
        return RateLimited(say("too_often", False), limit=kind.value, retry_after=ceil(wait))


class Admission:
    """A turn within the limits: `async with` gives False for one that is too many, but urgent, and raises otherwise."""

    __slots__ = ("_limits", "_sender", "_session_id", "_tenant", "_text")

    def __init__(self, limits: RateLimits, tenant: str, sender: Requester, session_id: str, text: str) -> None:
        self._limits = limits
        self._tenant, self._sender = tenant, sender
        self._session_id, self._text = session_id, text

    async def __aenter__(self) -> bool:
        """Raises RateLimited, Overloaded."""
        limits = self._limits
        refusal = await limits.refusal(self._tenant, self._sender, self._session_id)
        if refusal is not None and not limits.urgent.wanted(self._text):
            await limits.pause()
            key = "too_busy" if isinstance(refusal, Overloaded) else "too_often"
            refusal.message = say(key, in_english(Question(self._text), TenantProfile()))
            raise refusal
        limits.begin(self._tenant, self._sender)
        return refusal is None

    async def __aexit__(self, *_: object) -> None:
        self._limits.done(self._tenant, self._sender)
