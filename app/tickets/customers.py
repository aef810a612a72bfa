"""Tickets of one tenant as the ticket agent reaches them."""

from __future__ import annotations

from collections.abc import Awaitable

from agents.ticketing.types import CustomerTicket, NewTicket, TicketOwner
from app.errors import Conflict
from app.limits.service import RateLimits
from app.tickets.repository import BOT, TicketRow
from app.tickets.service import TicketService


class CustomerTickets:
    """See `agents.ticketing.types.Tickets`."""

    def __init__(self, service: TicketService, tenant: str, limits: RateLimits) -> None:
        self._limits = limits
        self._service = service
        self._tenant = tenant

    async def open(self, owner: TicketOwner, ticket: NewTicket) -> tuple[CustomerTicket, bool] | None:
        """See `Tickets.open`."""
        if not await self._limits.count_ticket(self._tenant, owner.sender, owner.caller or owner.session):
            return None
        row, new = await self._service.create_ticket(self._tenant, owner, ticket, BOT)
        return _build_customer_ticket(row), new

    async def find_tickets(self, owner: TicketOwner, number: str = "") -> list[CustomerTicket]:
        """See `Tickets.find_tickets`."""
        return [
            _build_customer_ticket(row, note)
            for row, note in await self._service.repository.list_owned(self._tenant, owner, number)
        ]

    async def add(self, owner: TicketOwner, number: str, text: str) -> CustomerTicket | None:
        """See `Tickets.add`."""
        return await self._find_current(
            owner, number, self._service.add_customer_comment(self._tenant, owner, number, text)
        )

    async def urge(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        """See `Tickets.urge`."""
        return await self._find_current(owner, number, self._service.urge_ticket(self._tenant, owner, number))

    async def close(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        """See `Tickets.close`."""
        return await self._find_current(owner, number, self._service.close_ticket(self._tenant, owner, number))

    async def _find_current(
        self, owner: TicketOwner, number: str, change: Awaitable[TicketRow | None]
    ) -> CustomerTicket | None:
        """Returns the ticket after a change; as it is now where its state does not allow the change any more; None
        where it is not the owner's.
        """
        try:
            row = await change
        except Conflict:
            return next(iter(await self.find_tickets(owner, number)), None)
        return None if row is None else _build_customer_ticket(row)


def _build_customer_ticket(row: TicketRow, note: str = "") -> CustomerTicket:
    return CustomerTicket(row.number, row.subject, row.state, row.priority, row.created_at, row.resolve_by, note)
