"""Tickets, for staff; customers reach theirs through the conversation."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from agents.understanding.tickets import Priority
from app.http.deps import StaffTenant, Wiring, read_proof
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.idempotency.header import hash_body, read_key, retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse
from app.tickets.repository import TicketFilter, TicketRow
from app.tickets.schemas import (
    CommentIn,
    TicketDetail,
    TicketEventOut,
    TicketIn,
    TicketOut,
    TicketPage,
    TicketPatch,
    TransitionIn,
)
from app.types import SessionKey

router = APIRouter(prefix="/api/v1/tickets", tags=["tickets"], route_class=GuardedRoute)

Number = Annotated[str, Path(max_length=32, description="工单编号，如 TK260301482913")]


@router.post("", status_code=201, response_model=TicketOut, responses=list_failures(409))
async def open_ticket(body: TicketIn, request: Request, tenant: StaffTenant, wiring: Wiring) -> Response:
    """Opens a ticket; the one that is there, if the conversation has one of this subject that is not done. It is the
    conversation's member's, where that is known; else whose staff say, which an admin key alone proves.
    """
    proof, own_key = await read_proof(request, user_id=body.user_id), read_key(request)
    key = retry_key(request, tenant, own_key, proof, hash_body(body)) if own_key else None

    def reply(ticket: TicketRow, *, written: bool) -> KeptResponse:
        told = TicketOut.of(ticket).model_dump_json().encode()
        return KeptResponse(201, told, session_id=body.session_id, written=written)

    async def work(attempt: RequestAttempt | None) -> KeptResponse:
        said = member = proof.caller
        if body.session_id:
            member = await wiring.holders.reserve(SessionKey(tenant, body.session_id), said) or said
        owner = TicketOwner(body.session_id, member or body.user_id)
        new = NewTicket(body.subject, body.description, body.category, body.priority)
        kept = attempt.build_keeper(partial(reply, written=True)) if attempt else None
        create = wiring.tickets.create
        opened = await create(tenant, owner, new, body.author, verified=bool(member), together=kept)
        return reply(opened[0], written=attempt is not None)

    return await run_once(request, key, work)


@router.get("")
async def list_tickets(
    tenant: StaffTenant,
    wiring: Wiring,
    state: Annotated[list[TicketState], Query(description="可重复，多个状态任一")] = [],  # noqa: B006 - a query default
    q: Annotated[str, Query(max_length=200, description="单号、主题、描述或用户编号里的字")] = "",
    priority: Priority | None = None,
    session_id: str = "",
    user_id: str = "",
    assignee: str = "",
    overdue: Annotated[bool, Query(description="只看超出解决时限且未解决的")] = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> TicketPage:
    """The tickets that are left open first, the most urgent of them first."""
    wanted = TicketFilter(tuple(state), priority, session_id, user_id, assignee, overdue, q)
    rows, total = await wiring.tickets.page(tenant, wanted, limit, offset)
    return TicketPage(tickets=[TicketOut.of(row) for row in rows], total=total)


@router.get("/{number}", responses=list_failures(404))
async def read_ticket(number: Number, tenant: StaffTenant, wiring: Wiring) -> TicketDetail:
    """A ticket with its history."""
    ticket, history = await wiring.tickets.get(tenant, number.upper())
    events = [TicketEventOut.model_validate(asdict(event)) for event in history]
    return TicketDetail(**TicketOut.of(ticket).model_dump(), history=events)


@router.patch("/{number}", responses=list_failures(404, 409))
async def edit_ticket(number: Number, body: TicketPatch, tenant: StaffTenant, wiring: Wiring) -> TicketOut:
    """Changes what is sent; 409 when the ticket is not of the version given any more."""
    fields = body.model_dump(exclude_none=True, exclude={"author", "version"})
    return TicketOut.of(await wiring.tickets.edit(tenant, number.upper(), body.author, fields, body.version))


@router.post("/{number}/comments", status_code=201, responses=list_failures(404, 409))
async def comment_on_ticket(number: Number, body: CommentIn, tenant: StaffTenant, wiring: Wiring) -> TicketOut:
    """Adds a comment; a public one is what the customer hears when asking for the ticket."""
    ticket = await wiring.tickets.comment(tenant, number.upper(), body.author, body.text, public=body.public)
    return TicketOut.of(ticket)


@router.post("/{number}/transitions", responses=list_failures(404, 409))
async def move_ticket(number: Number, body: TransitionIn, tenant: StaffTenant, wiring: Wiring) -> TicketOut:
    """Takes the ticket to another state; 409 where there is no way."""
    moved = wiring.tickets.move(tenant, number.upper(), body.to, body.author, body.note, body.version)
    return TicketOut.of(await moved)
