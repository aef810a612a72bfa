"""Teams of people who serve customers."""

from __future__ import annotations

import secrets

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.db.base import now
from app.db.engine import Database
from app.desk.tables import DeskSessionRow, DeskStaff
from app.desk.tables import DeskTeamRow as Table
from app.desk.types import WAITING, Team


def find(connection: Connection, tenant: str, team_id: str) -> Team | None:
    """Finds a team without its members, and locks it, so that it is not removed before the transaction ends."""
    row = connection.execute(select(Table.id, Table.name).where(_match_team(tenant, team_id)).with_for_update()).first()
    return Team(row.id, row.name) if row else None


class TeamRepository:
    """The teams of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_teams(self, tenant: str) -> list[Team]:
        """Lists all teams with their members, by name."""

        def read(connection: Connection) -> list[Team]:
            teams = connection.execute(select(Table.id, Table.name).where(Table.tenant_id == tenant))
            staff = connection.execute(
                select(DeskStaff.agent_id, DeskStaff.teams).where(DeskStaff.tenant_id == tenant)
            ).all()
            found = [
                Team(team.id, team.name, tuple(sorted(one.agent_id for one in staff if team.id in one.teams)))
                for team in teams
            ]
            return sorted(found, key=lambda team: team.name)

        return await self._database.run_in_reader(read)

    async def create(self, tenant: str, name: str) -> Team | None:
        """Creates a team; None if there is one of this name already."""
        team = Team(secrets.token_hex(6), name)
        row = insert(Table).values(tenant_id=tenant, id=team.id, name=name, created_at=now())
        try:
            await self._database.execute(row)
        except IntegrityError:
            return None
        return team

    async def rename(self, tenant: str, team_id: str, name: str) -> bool:
        """Renames a team; False if there is one of this name already."""
        try:
            await self._database.execute(update(Table).where(_match_team(tenant, team_id)).values(name=name))
        except IntegrityError:
            return False
        return True

    async def remove(self, tenant: str, team_id: str) -> bool:
        """Its members stay, without it; False while customers wait for it."""

        def work(connection: Connection) -> bool:
            connection.execute(select(Table.id).where(_match_team(tenant, team_id)).with_for_update())
            waiting = (
                DeskSessionRow.tenant_id == tenant,
                DeskSessionRow.team == team_id,
                DeskSessionRow.state.in_([state.value for state in WAITING]),
            )
            if connection.execute(select(func.count()).select_from(DeskSessionRow).where(*waiting)).scalar_one():
                return False
            connection.execute(delete(Table).where(_match_team(tenant, team_id)))
            mine = select(DeskStaff.agent_id, DeskStaff.teams).where(DeskStaff.tenant_id == tenant).with_for_update()
            for member in connection.execute(mine).all():
                if team_id in member.teams:
                    left = [team for team in member.teams if team != team_id]
                    who = (DeskStaff.tenant_id == tenant) & (DeskStaff.agent_id == member.agent_id)
                    connection.execute(update(DeskStaff).where(who).values(teams=left))
            return True

        return await self._database.transact(work)


def _match_team(tenant: str, team_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.id == team_id)
