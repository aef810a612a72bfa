"""A customer's identity as the frontend shows it: a JWT, signed by the company's own server with a shared secret
(HS256), or by an identity provider whose public keys are known (RS256, ES256).

A member's number and `exp` are required; `iat` must not lie in the future. Which key checks a token follows from what
the settings say of its algorithm: a public key is never taken for a secret, and nothing unsigned is taken at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from app.auth.claims import (
    MAX_TOKEN_CHARS,
    build_invalid,
    build_refusal,
    decode_claims,
    get_member,
    read_header,
    read_unproved,
)
from app.auth.principal import DEFAULT_TENANT, check_tenant_id
from app.auth.provider import Provider
from app.errors import Unauthorized
from app.settings import Settings
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import jwt
else:
    jwt = LazyModule("jwt")

ALGORITHM = "HS256"
# Where no other one is set.
TENANT_CLAIM = "tenant"


class UserTokens:
    """secret: what tokens are signed with, 32 characters or more; empty where no such tokens are accepted. secrets:
    those of tenants that have one of their own, which take nobody else's tokens, the provider's neither. issuer,
    audience: of signed ones, required where not empty. longest: from `iat`, then required, to `exp`; None for any time.

    tenant_claim: names the tenant, in every token; empty where tokens do not choose one: then a signed one is the
    key's, unless it names another, and a provider's is the default tenant's.
    """

    def __init__(
        self,
        secret: str,
        secrets: Mapping[str, str] = MappingProxyType({}),
        *,
        issuer: str = "",
        audience: str = "",
        longest: timedelta | None = None,
        tenant_claim: str = "",
        provider: Provider | None = None,
    ) -> None:
        self._secret, self._secrets, self.provider = secret, secrets, provider
        self._issuer, self._audience, self._longest = issuer, audience, longest
        self._tenant_claim = tenant_claim
        self._always = [name for name, needed in (("iat", longest), (tenant_claim, tenant_claim)) if needed]
        named = [name for name, needed in (("iss", issuer), ("aud", audience)) if needed]
        self._signed = ("sub", "exp", *self._always, *named)

    @classmethod
    def from_settings(cls, settings: Settings, provider: Provider | None = None) -> Self:
        """Builds the check of user tokens from the settings."""
        hours = settings.user_token_max_hours
        return cls(
            settings.user_token_secret.get_secret_value(),
            {tenant: secret.get_secret_value() for tenant, secret in settings.user_token_secrets.items()},
            issuer=settings.user_token_issuer,
            audience=settings.user_token_audience,
            longest=timedelta(hours=hours) if hours else None,
            tenant_claim=settings.user_token_tenant_claim,
            provider=provider,
        )

    @property
    def suffice(self) -> bool:
        """Whether a token without a key says of which tenant it is."""
        return bool(self._tenant_claim)

    def get_secret(self, tenant: str) -> str:
        """Returns the secret by which the tenant's tokens are signed; empty if it has none."""
        return self._secrets.get(tenant, self._secret)

    async def find_caller(self, token: str, tenant: str) -> str:
        """Returns the member that a token names.

        Raises Unauthorized, saying what is wrong with the token, and IdentityUnavailable if nobody can tell now.
        """
        trusted = self.provider if tenant not in self._secrets else None
        secret = self.get_secret(tenant)
        if not secret and trusted is None:
            told = "服务没有设置 USER_TOKEN_SECRET 或 OIDC_ISSUER，不接受 user_token"
            raise Unauthorized(told, code="user_token_unsupported")
        token = token[: MAX_TOKEN_CHARS + 1]
        header = read_header(token)
        if header.get("alg") != ALGORITHM and trusted is not None:
            claims = await trusted.check_claims(token, header, *self._always)
            return self._check_claims(claims, tenant, DEFAULT_TENANT, trusted.member)
        if not secret:
            raise build_invalid()
        named = {"issuer": self._issuer, "audience": self._audience}
        return self._check_claims(decode_claims(token, secret, ALGORITHM, self._signed, **named), tenant, tenant, "sub")

    async def find_tenant_and_caller(self, token: str) -> tuple[str, str]:
        """Returns tenant and member of a token that came without a key, where `suffice`. Raises as `find_caller`.

        The tenant that it claims says by which key it is checked, and must then be what that key signed.
        """
        given = read_unproved(token[: MAX_TOKEN_CHARS + 1]).get(self._tenant_claim)
        try:
            tenant = check_tenant_id(given if isinstance(given, str) else "")
        except ValueError as error:
            raise build_refusal(f"缺少 {self._tenant_claim}，或写的不是租户编号") from error
        return tenant, await self.find_caller(token, tenant)

    def _check_claims(self, claims: Mapping[str, Any], tenant: str, otherwise: str, member: str) -> str:
        """otherwise: whose a token is that names no tenant."""
        if claims.get(self._tenant_claim or TENANT_CLAIM, otherwise) != tenant:
            raise build_refusal("不属于这个租户")
        if self._longest and int(claims["exp"]) - int(claims["iat"]) > self._longest.total_seconds():
            raise build_refusal("的有效期太长", "user_token_too_long")
        return get_member(claims, member)


def sign_token(
    secret: str,
    caller: str,
    seconds: float,
    now: float,
    tenant: str = "",
    *,
    issuer: str = "",
    audience: str = "",
    tenant_claim: str = "",
) -> str:
    """Signs a token of a member as a company's server would. now: seconds since 1970."""
    claims: dict[str, object] = {"sub": caller, "iat": int(now), "exp": int(now + seconds)}
    optional = ((tenant_claim or TENANT_CLAIM, tenant), ("iss", issuer), ("aud", audience))
    return jwt.encode(claims | {name: value for name, value in optional if value}, secret, algorithm=ALGORITHM)
