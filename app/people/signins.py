"""Signing in and out. What a browser keeps is a secret of 256 random bits that the server can end."""

from __future__ import annotations

import secrets
from datetime import timedelta
from math import ceil

from app.auth.claims import get_member, read_header
from app.auth.principal import Principal, check_tenant_id
from app.auth.provider import Provider
from app.auth.sign_in import PREFIX
from app.db.base import now
from app.errors import InvalidRequest, RateLimited, Unauthorized
from app.keys.service import hash_key
from app.limits.types import HOUR, LimitKind, Rate, normalize_address
from app.limits.windows import Counters
from app.people.passwords import Passwords, require_strong
from app.people.person import Person
from app.people.repository import PeopleRepository
from app.people.repository_signins import SignedInAs, SignInRepository

_WRONG = "账号或密码不正确。"


class SignIns:
    """attempts: to sign in to one account from one address, in five minutes; ten times as many an hour from anywhere. A
    count of 0 is no limit. idle, longest: how long a sign-in lasts without a request, and at most. provider: whose
    tokens are taken in the place of a password.
    """

    def __init__(
        self,
        repository: SignInRepository,
        people: PeopleRepository,
        passwords: Passwords,
        counters: Counters,
        *,
        attempts: int,
        idle: timedelta,
        longest: timedelta,
        provider: Provider | None = None,
    ) -> None:
        self._repository, self._people, self._passwords, self._counters = repository, people, passwords, counters
        self._rates = Rate(attempts, HOUR / 12), Rate(10 * attempts, HOUR)
        self._idle, self._longest, self._provider = idle, longest, provider

    @property
    def by_provider(self) -> bool:
        """Whether tokens of an identity provider are taken."""
        return self._provider is not None

    async def find(self, secret: str) -> SignedInAs | None:
        """Returns who is signed in with this secret; None for nobody."""
        return await self._repository.find(hash_key(secret), self._idle)

    async def check_password(self, tenant: str, login: str, password: str, host: str | None) -> Person:
        """Returns the person with this login and password.

        Raises Unauthorized, the same for an unknown login as for a wrong password, and RateLimited after too many
        failures even for the right password, so that guessing does not help.
        """
        login = login.casefold()
        await self._count(tenant, login, host)
        found = await self._people.find_login(tenant, login)
        right = await self._passwords.verify(found[1] if found else None, password)
        if not right or found is None or found[0].disabled_at is not None:
            raise Unauthorized(_WRONG, code="wrong_password")
        return found[0]

    async def check_token(self, tenant: str, token: str) -> Person:
        """Returns the person whose token of the identity provider this is. Raises Unauthorized, IdentityUnavailable.

        Tokens that a company's own server signs for its customers are not accepted: who can sign those is no
        administrator.
        """
        if self._provider is None:
            raise Unauthorized("服务没有设置 OIDC_ISSUER，不能用企业账号登录。", code="oidc_not_configured")
        claims = await self._provider.check_claims(token, read_header(token))
        person = await self._people.find_subject(tenant, get_member(claims, self._provider.member))
        if person is None or person.disabled_at is not None:
            raise Unauthorized("这个企业账号没有开通，请联系管理员。", code="account_unknown")
        return person

    async def open_for(self, person: Person, before: str = "") -> str:
        """Signs a person in; returns the secret. before: that of the browser until now, which ends."""
        return await self._open(person.tenant, before, person_id=person.id)

    async def open_for_key(self, principal: Principal, digest: str, before: str = "") -> str:
        """Signs in whoever showed a key, for as long as the key counts. digest: the key's."""
        return await self._open(principal.tenant, before, key_digest=digest)

    async def end(self, secret: str) -> None:
        """Signs a browser out."""
        await self._repository.end(hash_key(secret))

    async def end_all(self, person: Person) -> None:
        """Signs a person out on every browser."""
        await self._repository.end_all(person.tenant, person.id)

    async def accept_invitation(self, invitation: str, password: str, before: str = "") -> tuple[Person, str]:
        """Sets the first password, or a new one, by a link that works once; signs the person in here and out
        everywhere else. Raises InvalidRequest, Unauthorized.
        """
        person = await self._people.find_invitation(hash_key(invitation))
        if person is not None:
            require_strong(password, person.login)
            kept = await self._passwords.hash(password)
            if await self._people.accept(hash_key(invitation), kept):
                # Somebody else may be signed in with the password before this one.
                await self.end_all(person)
                return person, await self.open_for(person, before)
        raise Unauthorized("这个链接已经用过或过期了，请向管理员再要一个。", code="invitation_over")

    async def change_password(self, person: Person, current: str, password: str, host: str | None) -> str:
        """Sets another password; signs the person out everywhere and returns the secret of the new sign-in here.
        Raises InvalidRequest, RateLimited.
        """
        await self._count(person.tenant, person.login, host)
        found = await self._people.find_login(person.tenant, person.login)
        before = found[1] if found else None
        if not await self._passwords.verify(before, current):
            raise InvalidRequest("原来的密码不正确。", code="wrong_current_password")
        require_strong(password, person.login)
        if not await self._people.replace_password(person, before, await self._passwords.hash(password)):
            raise InvalidRequest("密码刚刚在别处改过，请重新登录。", code="wrong_current_password")
        await self.end_all(person)
        return await self.open_for(person)

    async def _open(
        self, tenant: str, before: str, *, person_id: str | None = None, key_digest: str | None = None
    ) -> str:
        secret = PREFIX + secrets.token_urlsafe(32)
        until = now() + self._longest
        await self._repository.open(tenant, hash_key(secret), until, person_id=person_id, key_digest=key_digest)
        if before:
            await self.end(before)
        return secret

    async def _count(self, tenant: str, login: str, host: str | None) -> None:
        near, anywhere = self._rates
        wanted = (
            (LimitKind.ACCOUNT, (tenant, login, normalize_address(host or "")), near),
            (LimitKind.ACCOUNT, (tenant, login), anywhere),
        )
        if refused := await self._counters.count_names(wanted):
            message = "这个账号登录得太频繁，请过一会儿再试。"
            raise RateLimited(message, code="too_many_attempts", retry_after=ceil(refused[1]))


def check_tenant(text: str) -> str:
    """Raises Unauthorized for what is no tenant, as for a login that is nobody's."""
    try:
        return check_tenant_id(text)
    except ValueError as error:
        raise Unauthorized(_WRONG, code="wrong_password") from error
