"""Accounts of people in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.auth.principal import Role
from app.db.base import now
from app.db.engine import Database
from app.people.person import Person
from app.people.tables import PersonRow as Table


class PeopleRepository:
    """Of all tenants; only an invitation, which nobody can guess, is looked up without one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_people(self, tenant: str) -> list[Person]:
        """Lists all accounts, by name."""
        query = select(Table.__table__).where(Table.tenant_id == tenant).order_by(Table.name, Table.login)
        return [build_person(row) for row in await self._database.fetch(query)]

    async def find(self, tenant: str, person_id: str) -> Person | None:
        """Returns the account of that id; None without one."""
        found = await self._find_first(Table.tenant_id == tenant, Table.id == person_id)
        return found and found[0]

    async def find_login(self, tenant: str, login: str) -> tuple[Person, str | None] | None:
        """Returns the account with this login, and the hash of its password; None without one."""
        return await self._find_first(Table.tenant_id == tenant, Table.login == login)

    async def find_subject(self, tenant: str, subject: str) -> Person | None:
        """Returns the account of the person whom the identity provider knows by this number; None without one."""
        found = await self._find_first(Table.tenant_id == tenant, Table.subject == subject)
        return found and found[0]

    async def find_invitation(self, digest: str) -> Person | None:
        """Returns the account that an invitation is for, while the invitation is valid."""
        open_ = Table.invited_until > now(), Table.disabled_at.is_(None)
        found = await self._find_first(Table.invitation == digest, *open_)
        return found and found[0]

    async def create(self, tenant: str, values: Mapping[str, Any]) -> str | None:
        """Keeps an account and returns its id; None where login or subject is somebody's already."""
        person_id = secrets.token_hex(6)
        row = insert(Table).values(tenant_id=tenant, id=person_id, created_at=now(), **values)
        try:
            await self._database.execute(row)
        except IntegrityError:
            return None
        return person_id

    async def change(self, tenant: str, person_id: str, values: Mapping[str, Any]) -> bool:
        """Writes columns of an account; False where the subject is somebody else's already."""
        try:
            await self._database.execute(update(Table).where(_is(tenant, person_id)).values(values))
        except IntegrityError:
            return False
        return True

    async def accept(self, digest: str, password: str) -> bool:
        """Sets the password of whoever an invitation is for, which then is used up; False where it does not hold."""
        holds = (Table.invitation == digest) & (Table.invited_until > now()) & Table.disabled_at.is_(None)
        values = {"password": password, "invitation": None, "invited_until": None}
        return await self._database.execute(update(Table).where(holds).values(values)) == 1

    async def replace_password(self, person: Person, before: str | None, password: str) -> bool:
        """Sets a password where the one before is still the same."""
        unchanged = Table.password.is_(None) if before is None else Table.password == before
        query = update(Table).where(_is(person.tenant, person.id), unchanged).values(password=password)
        return await self._database.execute(query) == 1

    async def _find_first(self, *wanted: ColumnElement[bool]) -> tuple[Person, str | None] | None:
        row = await self._database.fetch_first(select(Table.__table__).where(*wanted))
        return (build_person(row), row.password) if row else None


def build_person(row: Any) -> Person:
    """Builds a person from a row with the columns of the table."""
    who = row.tenant_id, row.id, row.login, row.name, Role(row.role), row.subject or "", row.password is not None
    return Person(*who, row.invited_until, row.created_at, row.disabled_at, row.signed_in_at)


def _is(tenant: str, person_id: str) -> ColumnElement[bool]:
    return (Table.tenant_id == tenant) & (Table.id == person_id)
