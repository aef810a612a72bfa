"""What a page's cookie stands for, as whoever lets requests in needs it."""

from __future__ import annotations

from typing import Protocol

from app.auth.principal import Principal

# Tells the secret of a sign-in from a key, and makes a leaked one easy to search for.
PREFIX = "yl-"


class KnownSignIn(Protocol):
    """Either a person with an account, or whoever showed a key, by its digest."""

    @property
    def principal(self) -> Principal | None: ...
    @property
    def key_digest(self) -> str | None: ...


class SignInLookup(Protocol):
    """Where sign-ins are kept."""

    async def find(self, secret: str) -> KnownSignIn | None:
        """Returns who is signed in with this secret; None for nobody, also if the sign-in is over."""
