"""How much is taken from whom: requests, turns at once, requests for a person, tickets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from math import ceil

from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.types import Question, SenderId
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import say
from app.errors import AppError, Overloaded, RateLimited
from app.limits.leases import Lease, LeaseRequest, Leases, MemoryLeases
from app.limits.pause import Pause
from app.limits.slots import TurnSlots
from app.limits.types import LimitKind, Rate, Requester
from app.limits.urgent import UrgentReplies
from app.limits.windows import Counters, MemoryCounters, Wanted
from app.metrics import Metrics

# After which it is worth trying again where too many turns are under way.
FULL_SECONDS = 5


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """By what is counted; a count of 0 is no limit. `turns_*`: at once, those that wait included; `streams_*` and
    `sockets_*`: open at once.
    """

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
    streams_per_key: int
    streams_per_address: int
    sockets_per_key: int
    sockets_per_address: int


class RateLimits:
    """Of all tenants. `slots`: the places where answers are computed; `urgent`: what is answered all the same."""

    def __init__(
        self,
        options: LimitOptions,
        slots: TurnSlots,
        urgent: UrgentReplies,
        metrics: Metrics,
        counters: Counters | None = None,
        leases: Leases | None = None,
    ) -> None:
        self.slots = slots
        self.urgent = urgent
        self.pause = Pause()
        self._options = options
        self._metrics = metrics
        self._counters = counters or MemoryCounters()
        self._leases = leases or MemoryLeases()

    async def count_with_refusal(self, tenant: str, sender: Requester, session_id: str = "") -> Requester:
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
        refusal = await self._count_names(tenant, wanted)
        return replace(sender, refusal=refusal) if refusal else sender

    async def count_request(self, tenant: str, sender: Requester, session_id: str = "") -> Requester:
        """Counts a request. Raises RateLimited, a moment later, where it is one too many."""
        sender = await self.count_with_refusal(tenant, sender, session_id)
        if sender.refusal is not None:
            await self.pause()
            raise sender.refusal
        return sender

    async def require(self, sender: Requester, text: str) -> None:
        """Lets a message pass, before anything else is done for it.

        Raises RateLimited, after a pause, if its request was over a limit and the message is not urgent.
        """
        if sender.refusal is not None and not self.urgent.is_urgent(text):
            raise await self.translate_error(sender.refusal, text)

    async def translate_error(self, error: AppError, text: str) -> AppError:
        """Returns an error in the language of the message, after a pause."""
        await self.pause()
        key = "too_busy" if isinstance(error, Overloaded) else "too_often"
        error.message = say(key, is_reply_english(Question(Utterance(text)), TenantProfile()))
        return error

    @asynccontextmanager
    async def open_turn(self, tenant: str, sender: Requester, session_id: str, text: str) -> AsyncIterator[bool]:
        """Counts a turn as open while it lasts. Gives False for an urgent one that is over a limit.

        session_id: empty for a new session. Raises RateLimited, Overloaded.
        """
        refusal = await self._find_refusal(tenant, sender, session_id)
        lease = refusal or await self.begin(tenant, sender)
        is_within = isinstance(lease, Lease)
        if not isinstance(lease, Lease):
            if not self.urgent.is_urgent(text):
                raise await self.translate_error(lease, text)
            lease = await self.begin(tenant, sender, beyond=True)
            assert isinstance(lease, Lease), "nothing is refused beyond the limits"
        with lease:
            yield is_within

    async def count_handoff(self, tenant: str, sender: Requester, customer: str, *, urgent: bool) -> None:
        """Counts a request for a person. customer: a proved member, or a session. Raises RateLimited.

        Urgent ones are counted apart: people in danger must not be refused because others used the limit up.
        """
        rates = self._options.handoffs, self._options.handoffs_per_address
        if refusal := await self._count_customer(LimitKind.HANDOFF, tenant, sender, (customer, urgent), rates):
            raise refusal

    async def count_ticket(self, tenant: str, sender: SenderId, customer: str) -> bool:
        """Counts a ticket that a customer opens within a turn; False where it is one too many."""
        rates = self._options.tickets, self._options.tickets_per_address
        return await self._count_customer(LimitKind.TICKET, tenant, sender, (customer, False), rates) is None

    async def _find_refusal(self, tenant: str, sender: Requester, session_id: str) -> AppError | None:
        """Returns the error for a turn that is over the limits on requests; None for one that is not."""
        if sender.refusal is not None:
            return sender.refusal
        if session_id and sender.key and not sender.staff:
            session: Wanted = (LimitKind.SESSION, (tenant, session_id), self._options.session)
            return await self._count_names(tenant, [session])
        return None

    async def begin(self, tenant: str, sender: Requester, *, beyond: bool = False) -> Lease | Overloaded:
        """Opens a turn, or returns the error if too many are open. beyond: opens it however many are."""
        options = self._options
        wanted: list[LeaseRequest] = [(LimitKind.QUEUE_FULL, ("tenant", tenant), options.turns_per_tenant)]
        if sender.key:
            wanted.append((LimitKind.QUEUE_FULL, ("key", tenant, sender.key), options.turns_per_key))
        lease = await self._leases.acquire(wanted, beyond=beyond)
        if isinstance(lease, Lease):
            return lease
        self._metrics.add_limited(tenant, lease)
        return Overloaded(say("too_busy", False), code="too_many_turns", retry_after=FULL_SECONDS)

    async def open_stream(self, tenant: str, sender: Requester, text: str) -> Lease:
        """Opens a stream of events. Raises RateLimited if too many are open, unless the message is urgent."""
        rates = self._options.streams_per_key, self._options.streams_per_address
        return await self._open_lease(LimitKind.STREAMS, tenant, sender, rates, text)

    async def open_socket(self, tenant: str, sender: Requester) -> Lease:
        """Opens a socket. Raises RateLimited if too many are open."""
        rates = self._options.sockets_per_key, self._options.sockets_per_address
        return await self._open_lease(LimitKind.SOCKETS, tenant, sender, rates)

    def count_turns(self, tenant: str) -> int:
        """Turns of a tenant that are under way in this process."""
        return self._leases.count_held(LimitKind.QUEUE_FULL, ("tenant", tenant))

    async def _open_lease(
        self, kind: LimitKind, tenant: str, sender: Requester, most: tuple[int, int], text: str = ""
    ) -> Lease:
        """most: of a key, and of an address that shows a key which is public; text: the message, if there is one."""
        if not sender.key:
            return Lease()
        wanted: list[LeaseRequest] = [(kind, ("key", tenant, sender.key), most[0])]
        if sender.address:
            wanted.insert(0, (kind, ("address", tenant, sender.address), most[1]))
        lease = await self._leases.acquire(wanted)
        if not isinstance(lease, Lease) and text and self.urgent.is_urgent(text):
            lease = await self._leases.acquire(wanted, beyond=True)
        if isinstance(lease, Lease):
            return lease
        self._metrics.add_limited(tenant, kind)
        await self.pause()
        raise RateLimited(say("too_busy", False), code=f"too_many_{kind}", limit=kind, retry_after=FULL_SECONDS)

    async def _count_customer(
        self, kind: LimitKind, tenant: str, sender: SenderId, who: tuple[str, bool], rates: tuple[Rate, Rate]
    ) -> AppError | None:
        """who: the customer, and whether it is urgent; rates: of a customer and of an address."""
        if not sender.key:
            return None
        wanted: list[Wanted] = [(kind, (tenant, "customer", *who), rates[0])]
        if sender.address:
            wanted.append((kind, (tenant, "address", sender.address, who[1]), rates[1]))
        return await self._count_names(tenant, wanted)

    async def _count_names(self, tenant: str, wanted: Sequence[Wanted]) -> AppError | None:
        refused = await self._counters.count_names(wanted)
        if refused is None:
            return None
        kind, wait = refused
        self._metrics.add_limited(tenant, kind)
        return RateLimited(say("too_often", False), limit=kind.value, retry_after=ceil(wait))
