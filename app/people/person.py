"""Colleagues as the rest of the product knows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.auth.principal import Principal, Role


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
