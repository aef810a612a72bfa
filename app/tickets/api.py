"""Tickets, for staff; customers reach theirs through the conversation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from agents.understanding.tickets import Category, Priority
from app.errors import Conflict, NotFound
from app.http.deps import StaffTenant, Wired, get_acting_agent, get_caller_name, read_proof
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.routes import RecordedRoute
from app.idempotency.header import build_retry_key, run_once
from app.idempotency.service import RequestAttempt
from app.idempotency.types import KeptResponse
from app.spreadsheets import CSV
from app.tickets.repository import TicketFilter, TicketOrder, TicketRow
from app.tickets.schemas import (
    STAFF,
    AssigneeList,
    AssigneeOut,
    CommentIn,
    TicketBulkIn,
    TicketDetail,
    TicketIn,
    TicketOut,
    TicketOutcome,
    TicketOutcomes,
    TicketPage,
    TicketPatch,
    TransitionIn,
)
from app.tickets.sheet import MAX_ROWS, write_tickets
from app.types import SessionKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.conversations.repository_holders import HolderRepository
    from app.tickets.assignees import Assignees
    from app.tickets.service import TicketService


class Parts(Protocol):
    """What these routes are served by."""

    assignees: Assignees
    holders: HolderRepository
    tickets: TicketService


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/tickets", tags=["tickets"], route_class=RecordedRoute)

Number = Annotated[str, Path(max_length=32, description="工单编号，如 TK260301482913")]
Sort = Annotated[TicketOrder, Query(description="urgency：没办完的在前，更急的先；due：先到解决时限的先")]
_FILE: Responses = {200: {"content": {CSV: {"schema": {"type": "string"}}}}}


async def build_filter(
    state: Annotated[list[TicketState], Query(description="可重复，多个状态任一")] = [],  # noqa: B006 - a query default
    q: Annotated[str, Query(max_length=200, description="单号、主题、描述、用户编号或会话编号里的字")] = "",
    priority: Priority | None = None,
    category: Category | None = None,
    session_id: str = "",
    user_id: str = "",
    assignee: str = "",
    team: str = "",
    unassigned: Annotated[bool, Query(description="只看没有分给人、也没有分给组的")] = False,
    overdue: Annotated[bool, Query(description="只看超出解决时限且未解决的")] = False,
) -> TicketFilter:
    """Builds the filter that the query asks for."""
    narrowed = priority, category, session_id, user_id, assignee, team
    return TicketFilter(tuple(state), *narrowed, unassigned=unassigned, overdue=overdue, text=q)


Wanted = Annotated[TicketFilter, Depends(build_filter)]


@router.post("", status_code=201, response_model=TicketOut, responses=list_failures(409))
async def open_ticket(body: TicketIn, request: Request, tenant: StaffTenant, wiring: Wiring) -> Response:
    """Opens a ticket; the one that is there, if the conversation has one of this subject that is not done. It is the
    conversation's member's, where that is known; else whose staff say, which an admin key alone proves.
    """
    author = _find_author(request, body.author)
    proof = await read_proof(request, user_id=body.user_id)
    key = build_retry_key(request, tenant, proof, body)

    def build_reply(ticket: TicketRow, *, written: bool) -> KeptResponse:
        content = TicketOut.from_row(ticket).model_dump_json().encode()
        return KeptResponse(201, content, session_id=body.session_id, written=written)

    async def work(attempt: RequestAttempt | None) -> KeptResponse:
        said = member = proof.caller
        if body.session_id:
            member = await wiring.holders.reserve(SessionKey(tenant, body.session_id), said) or said
        owner = TicketOwner(body.session_id, member or body.user_id)
        new = NewTicket(body.subject, body.description, body.category, body.priority)

        def keep(connection: Connection, ticket: TicketRow) -> None:
            if attempt is not None:
                attempt.write(connection, build_reply(ticket, written=True))

        create = wiring.tickets.create_ticket
        opened = await create(tenant, owner, new, author, verified=bool(member), hook=keep)
        return build_reply(opened[0], written=attempt is not None)

    return await run_once(request, key, work)


@router.get("")
async def list_tickets(
    tenant: StaffTenant,
    wiring: Wiring,
    wanted: Wanted,
    sort: Sort = TicketOrder.URGENCY,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> TicketPage:
    """The tickets that are left open first, the most urgent of them first, or in another order."""
    rows, total = await wiring.tickets.repository.load_page(tenant, wanted, limit, offset, sort)
    return TicketPage(tickets=[TicketOut.from_row(row) for row in rows], total=total)


@router.get("/export", response_class=Response, responses=_FILE)
async def export_tickets(
    tenant: StaffTenant, wiring: Wiring, wanted: Wanted, sort: Sort = TicketOrder.URGENCY
) -> Response:
    """The same tickets as a CSV file, the first 10,000."""
    rows, _ = await wiring.tickets.repository.load_page(tenant, wanted, MAX_ROWS, order=sort)
    people = {one.id: one.name for one in await wiring.assignees.list_people(tenant)}
    teams = {one.id: one.name for one in await wiring.assignees.list_teams(tenant)}
    written = await asyncio.to_thread(lambda: write_tickets(map(TicketOut.from_row, rows), people, teams))
    named = {"Content-Disposition": 'attachment; filename="tickets.csv"'}
    return Response(written, media_type=CSV, headers=named)


@router.get("/assignees")
async def list_assignees(tenant: StaffTenant, wiring: Wiring) -> AssigneeList:
    """Whom a ticket may be given to: colleagues whose account is not disabled, and teams."""
    people, teams = await wiring.assignees.list_people(tenant), await wiring.assignees.list_teams(tenant)
    return AssigneeList(
        people=[AssigneeOut.model_validate(one) for one in people],
        teams=[AssigneeOut.model_validate(one) for one in teams],
    )


@router.post("/bulk", responses=list_failures(404))
async def change_tickets(body: TicketBulkIn, request: Request, tenant: StaffTenant, wiring: Wiring) -> TicketOutcomes:
    """Does the same to up to 100 tickets, and says of each what became of it: one that is not there, or cannot go where
    it should, leaves the others alone. 404 for an assignee or a team that is not there: then nothing is done.
    """
    author = _find_author(request, body.author)
    await wiring.assignees.require_assignees(tenant, body.assignee, body.team)
    numbers = list(dict.fromkeys(number.upper() for number in body.numbers))
    done = await wiring.tickets.change_tickets(tenant, numbers, author, body.fields, body.to, body.note)
    outcomes = [_build_outcome(*one) for one in zip(numbers, done, strict=True)]
    return TicketOutcomes(outcomes=outcomes, changed=sum(one.ticket is not None for one in outcomes))


@router.get("/{number}", responses=list_failures(404))
async def read_ticket(number: Number, tenant: StaffTenant, wiring: Wiring) -> TicketDetail:
    """A ticket with its history."""
    ticket, history = await wiring.tickets.get_ticket(tenant, number.upper())
    return TicketDetail.build_from(TicketOut.from_row(ticket), history=history)


@router.patch("/{number}", responses=list_failures(404, 409))
async def edit_ticket(
    number: Number, body: TicketPatch, request: Request, tenant: StaffTenant, wiring: Wiring
) -> TicketOut:
    """Changes what is sent; 404 also for an assignee or a team that is not there, 409 when the ticket is not of the
    version given any more.
    """
    author = _find_author(request, body.author)
    await wiring.assignees.require_assignees(tenant, body.assignee, body.team)
    fields = body.model_dump(exclude_none=True, exclude={"author", "version"})
    return TicketOut.from_row(await wiring.tickets.edit_ticket(tenant, number.upper(), author, fields, body.version))


@router.post("/{number}/comments", status_code=201, responses=list_failures(404, 409))
async def comment_on_ticket(
    number: Number, body: CommentIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> TicketOut:
    """Adds a comment; a public one is what the customer hears when asking for the ticket."""
    author = _find_author(request, body.author)
    ticket = await wiring.tickets.add_comment(tenant, number.upper(), author, body.text, public=body.public)
    return TicketOut.from_row(ticket)


@router.post("/{number}/transitions", responses=list_failures(404, 409))
async def move_ticket(
    number: Number, body: TransitionIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> TicketOut:
    """Takes the ticket to another state; 409 where there is no way."""
    author = _find_author(request, body.author)
    moved = wiring.tickets.move_ticket(tenant, number.upper(), body.to, author, body.note, body.version)
    return TicketOut.from_row(await moved)


def _find_author(request: Request, named: str) -> str:
    """Returns who acts: the account that is signed in, else whom the request names, else the key. Raises Forbidden for
    an account that names somebody else.
    """
    return get_acting_agent(request, named) or get_caller_name(request) or STAFF


def _build_outcome(number: str, done: TicketRow | NotFound | Conflict) -> TicketOutcome:
    if isinstance(done, TicketRow):
        return TicketOutcome(number=number, ticket=TicketOut.from_row(done), code="", message="")
    return TicketOutcome(number=number, ticket=None, code=done.code, message=done.message)
