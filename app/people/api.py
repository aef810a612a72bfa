"""People with accounts of their own: listed, invited, changed, signed out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from app.http.deps import AdminTenant, LeadTenant
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.people.parts import Wiring
from app.people.person import Person
from app.people.schemas import (
    DutyIn,
    InvitationOut,
    PersonCreated,
    PersonIn,
    PersonList,
    PersonOut,
    PersonPatch,
)

router = APIRouter(prefix="/api/v1/people", tags=["people"], route_class=GuardedRoute)

PersonId = Annotated[str, Path(max_length=32)]


@router.get("")
async def list_people(request: Request, tenant: LeadTenant, wiring: Wiring) -> PersonList:
    """All accounts, and how they stand at the desk."""
    colleagues = {member.agent_id: member for member in await wiring.desk.staff.list_all(tenant)}
    own = request.state.principal.key
    people = await wiring.people.repository.list_people(tenant)
    return PersonList(people=[PersonOut.from_person(one, colleagues.get(one.login), own) for one in people])


@router.post("", status_code=201, responses=list_failures(404, 409))
async def create_person(body: PersonIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> PersonCreated:
    """Makes an account and an invitation to choose its password, which is returned this once."""
    who = body.login, body.name, body.role, body.subject
    person, invitation, _ = await wiring.people.create(tenant, *who, body.build_duty(body.name))
    return PersonCreated.build_from(await _build_person(person, request, wiring), invitation=invitation)


@router.patch("/{person_id}", responses=list_failures(404, 409))
async def change_person(
    person_id: PersonId, body: PersonPatch, request: Request, tenant: AdminTenant, wiring: Wiring
) -> PersonOut:
    """Changes name, role or identity of somebody, or disables the account."""
    given, own = body.model_dump(exclude_unset=True), request.state.principal.key
    return await _build_person(await wiring.people.change(tenant, person_id, given, own), request, wiring)


@router.put("/{person_id}/duty", responses=list_failures(404))
async def assign_duty(
    person_id: PersonId, body: DutyIn, request: Request, tenant: LeadTenant, wiring: Wiring
) -> PersonOut:
    """Says what somebody serves: teams, skills, hours, how many at once."""
    person = await wiring.people.require(tenant, person_id)
    await wiring.desk.teams.require_all(tenant, body.teams)
    member = await wiring.desk.staff.get(tenant, person.login)
    await wiring.desk.staff.put(tenant, person.login, body.build_duty(member.name if member else person.name))
    return await _build_person(person, request, wiring)


@router.post("/{person_id}/invitation", status_code=201, responses=list_failures(404, 409))
async def invite_person(person_id: PersonId, tenant: AdminTenant, wiring: Wiring) -> InvitationOut:
    """Makes another link to choose a password, also for who forgot it; the link before works no more."""
    invitation, until = await wiring.people.invite(tenant, person_id)
    return InvitationOut(invitation=invitation, invited_until=until)


@router.delete("/{person_id}/signins", status_code=204, responses=list_failures(404))
async def sign_person_out(person_id: PersonId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Ends all sign-ins of somebody."""
    await wiring.people.sign_out(tenant, person_id)
    return Response(status_code=204)


async def _build_person(person: Person, request: Request, wiring: Wiring) -> PersonOut:
    member = await wiring.desk.staff.get(person.tenant, person.login)
    return PersonOut.from_person(person, member, request.state.principal.key)
