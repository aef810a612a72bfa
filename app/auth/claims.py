"""What a user token says, once its signature and its times are in order: the same for every kind of key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from app.errors import Unauthorized
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import jwt
else:
    jwt = LazyModule("jwt")

# How far the clocks of two servers may differ.
LEEWAY = timedelta(seconds=30)
MAX_CALLER_CHARS = 128
MAX_TOKEN_CHARS = 4096
# Beside the library's own errors: a lone surrogate is no token, and a thousand brackets are none either.
_BROKEN = (ValueError, OverflowError, RecursionError)


def read_header(token: str) -> Mapping[str, Any]:
    """Reads what a token says of its own signature, which proves nothing. Raises Unauthorized."""
    try:
        return jwt.get_unverified_header(token)
    except (jwt.InvalidTokenError, *_BROKEN) as error:
        raise build_invalid() from error


def read_unproved(token: str) -> Mapping[str, Any]:
    """Reads what a token claims before it is checked; only good for finding its key. Raises Unauthorized."""
    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.InvalidTokenError, *_BROKEN) as error:
        raise build_invalid() from error
    return claims


def decode_claims(
    token: str, key: Any, algorithm: str, required: Iterable[str], *, issuer: str, audience: str
) -> dict[str, Any]:
    """Returns the claims of a token, if this key signed it by this algorithm.

    issuer, audience: empty for any. Raises Unauthorized, saying what is wrong with the token.
    """
    options: Any = {"require": list(required), "verify_aud": bool(audience), "verify_iss": bool(issuer)}
    checked: Any = {"audience": audience or None, "issuer": issuer or None, "options": options, "leeway": LEEWAY}
    try:
        return jwt.decode(token, key, algorithms=[algorithm], **checked)
    except jwt.ExpiredSignatureError as error:
        raise build_refusal("已过期，请重新获取", "user_token_expired") from error
    except jwt.MissingRequiredClaimError as error:
        raise build_refusal(f"缺少 {error.claim}") from error
    except jwt.ImmatureSignatureError as error:
        raise build_refusal("还没有生效，请检查签发方的时钟") from error
    except jwt.InvalidAudienceError as error:
        raise build_refusal("的 aud 不是这个服务") from error
    except jwt.InvalidIssuerError as error:
        raise build_refusal("的 iss 不是约定的签发方") from error
    except (jwt.InvalidTokenError, *_BROKEN) as error:
        raise build_invalid() from error


def get_member(claims: Mapping[str, Any], claim: str) -> str:
    """Returns the member's number. Raises Unauthorized if the claim holds none."""
    given = claims[claim]
    caller = given.strip() if isinstance(given, str) else ""
    if not 0 < len(caller) <= MAX_CALLER_CHARS or not caller.isprintable():
        raise build_refusal(f"的 {claim} 不是会员编号")
    return caller


def build_refusal(what: str, code: str = "invalid_user_token") -> Unauthorized:
    """Builds the error for a token."""
    return Unauthorized(f"user_token {what}", code=code)


def build_invalid() -> Unauthorized:
    """Builds the error for a token that may be forged."""
    return build_refusal("无效：签名、算法或格式不对")
