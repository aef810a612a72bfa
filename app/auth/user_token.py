"""A customer's identity as the frontend shows it: a JWT that the company's own server signed (HS256).

Claims: `sub`, the member's number in the business system, and `exp` are required; `iat` must not lie in the future;
`tenant`, where given, has to be that of the key. `iss`, `aud` and the lifetime are checked where settings name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Self

import jwt

from app.errors import Unauthorized
from app.settings import Settings

ALGORITHM = "HS256"
LEEWAY = timedelta(seconds=30)
"""How far the clocks of two servers may differ."""
MAX_CALLER_CHARS = 128
MAX_TOKEN_CHARS = 4096


class UserTokens:
    """secret: what tokens are signed with, 32 characters or more; empty where no tokens are accepted. secrets: those of
    tenants that have one of their own, which the general one does not open. issuer, audience: required where not empty.
    longest: from `iat`, then required, to `exp`; None for any time.
    """

    def __init__(
        self,
        secret: str,
        secrets: Mapping[str, str] = MappingProxyType({}),
        *,
        issuer: str = "",
        audience: str = "",
        longest: timedelta | None = None,
    ) -> None:
        self._secret, self._secrets = secret, secrets
        self._issuer, self._audience, self._longest = issuer, audience, longest
        wanted = {"sub": True, "exp": True, "iat": longest, "iss": issuer, "aud": audience}
        self._options: Any = {
            "require": [claim for claim, needed in wanted.items() if needed],
            "verify_aud": bool(audience),
            "verify_iss": bool(issuer),
        }

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """By the settings."""
        hours = settings.user_token_max_hours
        return cls(
            settings.user_token_secret.get_secret_value(),
            {tenant: secret.get_secret_value() for tenant, secret in settings.user_token_secrets.items()},
            issuer=settings.user_token_issuer,
            audience=settings.user_token_audience,
            longest=timedelta(hours=hours) if hours else None,
        )

    def secret_of(self, tenant: str) -> str:
        """What the tenant's tokens are signed with; empty where it has none."""
        return self._secrets.get(tenant, self._secret)

    def caller(self, token: str, tenant: str) -> str:
        """The member that a token names. Raises Unauthorized, saying what is wrong with the token."""
        secret = self.secret_of(tenant)
        if not secret:
            raise Unauthorized("服务没有设置 USER_TOKEN_SECRET，不接受 user_token", code="user_token_unsupported")
        claims = self._decoded(token[: MAX_TOKEN_CHARS + 1], secret)
        if claims.get("tenant", tenant) != tenant:
            raise _refused("不属于这个租户")
        if self._longest and claims["exp"] - claims["iat"] > self._longest.total_seconds():
            raise _refused("的有效期太长", "user_token_too_long")
        caller = claims["sub"].strip()
        if not 0 < len(caller) <= MAX_CALLER_CHARS or not caller.isprintable():
            raise _refused("的 sub 不是会员编号")
        return str(caller)

    def _decoded(self, token: str, secret: str) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                secret,
                algorithms=[ALGORITHM],
                leeway=LEEWAY,
                audience=self._audience or None,
                issuer=self._issuer or None,
                options=self._options,
            )
        except jwt.ExpiredSignatureError as error:
            raise _refused("已过期，请重新获取", "user_token_expired") from error
        except jwt.MissingRequiredClaimError as error:
            raise _refused(f"缺少 {error.claim}") from error
        except jwt.ImmatureSignatureError as error:
            raise _refused("还没有生效，请检查签发方的时钟") from error
        except jwt.InvalidAudienceError as error:
            raise _refused("的 aud 不是这个服务") from error
        except jwt.InvalidIssuerError as error:
            raise _refused("的 iss 不是约定的签发方") from error
        except (jwt.InvalidTokenError, ValueError) as error:  # a lone surrogate is no token either
            raise _refused("无效：签名、算法或格式不对") from error


def signed(
    secret: str, caller: str, seconds: float, now: float, tenant: str = "", *, issuer: str = "", audience: str = ""
) -> str:
    """A token of a member, as a company's server would make it. now: seconds since 1970."""
    claims: dict[str, object] = {"sub": caller, "iat": int(now), "exp": int(now + seconds)}
    claims |= {name: value for name, value in (("tenant", tenant), ("iss", issuer), ("aud", audience)) if value}
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


def _refused(what: str, code: str = "invalid_user_token") -> Unauthorized:
    return Unauthorized(f"user_token {what}", code=code)
