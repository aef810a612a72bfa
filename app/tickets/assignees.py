"""Assignees of tickets: the colleagues and the teams of the tenant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import NotFound

if TYPE_CHECKING:
    from app.desk.repository_staff import StaffRepository
    from app.desk.teams import Teams
    from app.people.repository import PeopleRepository


@dataclass(frozen=True, slots=True)
class Assignee:
    """A person by the id that the desk knows them by, or a team."""

    id: str
    name: str


class Assignees:
    """The assignees of all tenants."""

    def __init__(self, staff: StaffRepository, accounts: PeopleRepository, teams: Teams) -> None:
        self._staff = staff
        self._accounts = accounts
        self._teams = teams

    async def list_people(self, tenant: str) -> list[Assignee]:
        """Returns the colleagues who may be given a ticket, by name: whoever has an account that is not disabled, or
        serves with a key.
        """
        accounts = await self._accounts.list_people(tenant)
        names = {one.agent_id: one.name for one in await self._staff.list_all(tenant)}
        names |= {one.login: one.name for one in accounts}
        gone = {one.login for one in accounts if one.disabled}
        return sorted(
            (Assignee(*one) for one in names.items() if one[0] not in gone), key=lambda one: (one.name, one.id)
        )

    async def list_teams(self, tenant: str) -> list[Assignee]:
        """Returns all teams, by name."""
        return [Assignee(team.id, team.name) for team in await self._teams.list_teams(tenant)]

    async def require_assignees(self, tenant: str, person: str | None, team: str | None) -> None:
        """Raises NotFound where one of them, if given, is nobody of the tenant's who may work."""
        if person and person not in {one.id for one in await self.list_people(tenant)}:
            raise NotFound("没有这位同事，或账号已停用。", code="assignee_not_found", id=person)
        if team:
            await self._teams.require_all(tenant, [team])
