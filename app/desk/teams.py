"""Teams as people manage them."""

from __future__ import annotations

from collections.abc import Iterable

from app.desk.repository_teams import TeamRepository
from app.desk.types import Team
from app.errors import Conflict, NotFound


class Teams:
    """The teams of all tenants."""

    def __init__(self, repository: TeamRepository) -> None:
        self._repository = repository

    async def list_teams(self, tenant: str) -> list[Team]:
        """Lists all teams with their members, by name."""
        return await self._repository.list_teams(tenant)

    async def require_all(self, tenant: str, team_ids: Iterable[str]) -> None:
        """Raises NotFound for one that is not there."""
        if missing := set(team_ids) - {team.id for team in await self.list_teams(tenant)}:
            raise NotFound("没有找到这个客服组。", code="team_not_found", id=min(missing))

    async def create(self, tenant: str, name: str) -> Team:
        """Raises Conflict for a name that there is already."""
        made = await self._repository.create(tenant, name)
        if made is None:
            raise _build_name_conflict(name)
        return made

    async def rename(self, tenant: str, team_id: str, name: str) -> Team:
        """Raises NotFound, and Conflict for a name that there is already."""
        await self.require_all(tenant, [team_id])
        if not await self._repository.rename(tenant, team_id, name):
            raise _build_name_conflict(name)
        return next(team for team in await self.list_teams(tenant) if team.id == team_id)

    async def remove(self, tenant: str, team_id: str) -> None:
        """Its members stay, without it. Raises NotFound, and Conflict while customers wait for it."""
        await self.require_all(tenant, [team_id])
        if not await self._repository.remove(tenant, team_id):
            raise Conflict("还有顾客在等这个客服组，先把他们接走或转走。", code="team_in_use", id=team_id)


def _build_name_conflict(name: str) -> Conflict:
    return Conflict(f"已经有一个客服组叫「{name}」。", code="team_name_taken")
