"""Accounts made, changed and invited by those who may."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from app.auth.principal import Role
from app.db.base import now
from app.desk.types import Duty
from app.errors import Conflict, NotFound
from app.keys.service import hash_key
from app.people.person import Person
from app.people.repository import PeopleRepository
from app.people.signins import SignIns

if TYPE_CHECKING:
    from app.desk.repository_staff import StaffRepository
    from app.desk.teams import Teams

# How long the link to a first password works.
INVITATION = timedelta(days=7)


class People:
    """The accounts of all tenants; what they serve is kept by the desk."""

    def __init__(self, repository: PeopleRepository, sign_ins: SignIns, staff: StaffRepository, teams: Teams) -> None:
        self.repository = repository
        self._sign_ins = sign_ins
        self._staff = staff
        self._teams = teams

    async def require(self, tenant: str, person_id: str) -> Person:
        """Raises NotFound."""
        found = await self.repository.find(tenant, person_id)
        if found is None:
            raise NotFound("没有找到这个账号。", code="person_not_found", id=person_id)
        return found

    async def create(
        self, tenant: str, login: str, name: str, role: Role, subject: str, duty: Duty
    ) -> tuple[Person, str, datetime]:
        """Creates an account with an invitation.

        Returns the account, the invitation, which is shown only this once, and when that ends. Raises Conflict, and
        NotFound for a team that does not exist.
        """
        login = login.casefold()
        await self._teams.require_all(tenant, duty.teams)
        invitation, until = _create_invitation()
        values: dict[str, Any] = {"login": login, "name": name, "role": role.value, "subject": subject or None}
        values |= {"invitation": hash_key(invitation), "invited_until": until}
        person_id = await self.repository.create(tenant, values)
        if person_id is None:
            raise Conflict("这个账号名或企业账号已经有人用了。", code="login_taken")
        await self._staff.put(tenant, login, duty)
        return await self.require(tenant, person_id), invitation, until

    async def change(self, tenant: str, person_id: str, given: Mapping[str, Any], own: str) -> Person:
        """Changes what is given of name, role, subject and disabled. own: the account of who asks, which stays an
        administrator's, so that one is left. Whoever is disabled is signed out at once. Raises NotFound, Conflict.
        """
        person = await self.require(tenant, person_id)
        values = {name: given[name] for name in ("name", "role") if given.get(name) is not None}
        if person.id == own and (values.get("role", person.role) is not person.role or given.get("disabled")):
            raise Conflict("不能停用自己，也不能改自己的角色：请另一位管理员来改。", code="own_account")
        if "subject" in given:
            values["subject"] = given["subject"] or None
        if given.get("disabled") is not None:
            values |= {"disabled_at": now(), "invitation": None} if given["disabled"] else {"disabled_at": None}
        if values and not await self.repository.change(tenant, person_id, values):
            raise Conflict("这个企业账号已经有人用了。", code="login_taken")
        if given.get("disabled"):
            await self._sign_ins.end_all(person)
        return await self.require(tenant, person_id)

    async def invite(self, tenant: str, person_id: str) -> tuple[str, datetime]:
        """Makes a new link by which a person chooses a password, also one who forgot it; the link before works no more.

        Returns the invitation and when it ends. Raises NotFound, Conflict.
        """
        person = await self.require(tenant, person_id)
        if person.disabled_at is not None:
            raise Conflict("账号已停用，启用之后才能邀请。", code="person_disabled")
        invitation, until = _create_invitation()
        values: dict[str, Any] = {"invitation": hash_key(invitation), "invited_until": until}
        await self.repository.change(tenant, person_id, values)
        return invitation, until

    async def sign_out(self, tenant: str, person_id: str) -> None:
        """Ends all sign-ins of a person. Raises NotFound."""
        await self._sign_ins.end_all(await self.require(tenant, person_id))


def _create_invitation() -> tuple[str, datetime]:
    return secrets.token_urlsafe(32), now() + INVITATION
