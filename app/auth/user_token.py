"""A customer's identity as the frontend shows it: a JWT that the company's own server signed (HS256).

Claims: `sub`, the member's number in the business system, and `exp` are required; `iat` must not lie in the future;
`tenant`, where given, has to be that of the key.
"""

from __future__ import annotations

from datetime import timedelta

import jwt

from app.errors import Unauthorized

ALGORITHM = "HS256"
LEEWAY = timedelta(seconds=30)
"""How far the clocks of two servers may differ."""
MAX_CALLER_CHARS = 128
MAX_TOKEN_CHARS = 4096


class UserTokens:
    """secret: what tokens are signed with, 32 characters or more; empty where no tokens are accepted."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def caller(self, token: str, tenant: str) -> str:
        """The member that a token names. Raises Unauthorized, saying what is wrong with the token."""
        if not self._secret:
            raise Unauthorized("服务没有设置 USER_TOKEN_SECRET，不接受 user_token", code="user_token_unsupported")
        try:
            claims = jwt.decode(
                token[: MAX_TOKEN_CHARS + 1],
                self._secret,
                algorithms=[ALGORITHM],
                leeway=LEEWAY,
                options={"require": ["sub", "exp"], "verify_aud": False},
            )
        except jwt.ExpiredSignatureError as error:
            raise _refused("已过期，请重新获取", "user_token_expired") from error
        except jwt.MissingRequiredClaimError as error:
            raise _refused(f"缺少 {error.claim}") from error
        except jwt.ImmatureSignatureError as error:
            raise _refused("还没有生效，请检查签发方的时钟") from error
        except (jwt.InvalidTokenError, ValueError) as error:  # a lone surrogate is no token either
            raise _refused("无效：签名、算法或格式不对") from error
        if claims.get("tenant", tenant) != tenant:
            raise _refused("不属于这个租户")
        caller = claims["sub"].strip()
        if not 0 < len(caller) <= MAX_CALLER_CHARS or not caller.isprintable():
            raise _refused("的 sub 不是会员编号")
        return str(caller)


def signed(secret: str, caller: str, seconds: float, now: float, tenant: str = "") -> str:
    """A token of a member, as a company's server would make it. now: seconds since 1970."""
    claims: dict[str, object] = {"sub": caller, "iat": int(now), "exp": int(now + seconds)}
    if tenant:
        claims["tenant"] = tenant
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


def _refused(what: str, code: str = "invalid_user_token") -> Unauthorized:
    return Unauthorized(f"user_token {what}", code=code)
