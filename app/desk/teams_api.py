"""Teams: whom conversations are transferred to."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.desk.parts import Wiring
from app.desk.schemas import TeamIn, TeamList, TeamOut
from app.http.deps import LeadTenant, StaffTenant
from app.http.failures import list_failures
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/agent/teams", tags=["desk"], route_class=GuardedRoute)

TeamId = Annotated[str, Path(max_length=32)]


@router.get("")
async def list_teams(tenant: StaffTenant, wiring: Wiring) -> TeamList:
    """The teams with their members."""
    return TeamList(teams=[TeamOut.model_validate(team) for team in await wiring.desk.teams.list_teams(tenant)])


@router.post("", status_code=201, responses=list_failures(409))
async def create_team(body: TeamIn, tenant: LeadTenant, wiring: Wiring) -> TeamOut:
    """Makes a team; who is in it is said of each person."""
    return TeamOut.model_validate(await wiring.desk.teams.create(tenant, body.name))


@router.put("/{team_id}", responses=list_failures(404, 409))
async def rename_team(team_id: TeamId, body: TeamIn, tenant: LeadTenant, wiring: Wiring) -> TeamOut:
    """Gives a team another name."""
    return TeamOut.model_validate(await wiring.desk.teams.rename(tenant, team_id, body.name))


@router.delete("/{team_id}", status_code=204, responses=list_failures(404, 409))
async def remove_team(team_id: TeamId, tenant: LeadTenant, wiring: Wiring) -> Response:
    """Removes a team for which no customer waits."""
    await wiring.desk.teams.remove(tenant, team_id)
    return Response(status_code=204)
