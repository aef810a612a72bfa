"""Colleagues as the rest of the product knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from app.auth.principal import Principal, Role
from app.desk.types import Duty


class PersonState(StrEnum):
    """invited: has neither chosen a password nor an identity at the provider; disabled: may not sign in."""

    INVITED = "invited"
    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Person:
    """A colleague, without the password."""

    tenant: str
    id: str
    login: str
    name: str
    role: Role
    subject: str
    has_password: bool
    invited_until: datetime | None
    created_at: datetime
    disabled_at: datetime | None
    signed_in_at: datetime | None

    @property
    def disabled(self) -> bool:
        return self.disabled_at is not None

    @property
    def state(self) -> PersonState:
        if self.disabled:
            return PersonState.DISABLED
        return PersonState.ACTIVE if self.has_password or self.subject else PersonState.INVITED

    @property
    def principal(self) -> Principal:
        """What this person may do once signed in."""
        return Principal(self.tenant, frozenset({self.role}), self.id, name=self.name, agent_id=self.login)


class DutyRoster(Protocol):
    """Where the desk keeps who serves what."""

    async def require_teams(self, tenant: str, teams: Sequence[str]) -> None:
        """Raises NotFound for a team that is not there."""

    async def assign(self, tenant: str, agent_id: str, duty: Duty) -> None:
        """Describes a member of staff."""


class Colleague(Protocol):
    """A member of staff as the desk shows them."""

    @property
    def agent_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def skills(self) -> Sequence[str]: ...
    @property
    def teams(self) -> Sequence[str]: ...
    @property
    def hours(self) -> Sequence[str]: ...
    @property
    def capacity(self) -> int: ...
    @property
    def assigned(self) -> int: ...
    @property
    def last_seen(self) -> datetime | None: ...
