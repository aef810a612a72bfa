"""Which member asks: by a signed token, or because a trusted key says so. Never by what a text says."""

from __future__ import annotations

from app.auth.principal import Principal, Role
from app.auth.user_token import UserTokens
from app.errors import Unauthorized
from app.types import Proof

# Keys with one of these roles stay on servers, which know who their customer is.
TRUSTED = frozenset({Role.SERVER, Role.ADMIN})
# Keys with this role alone may be in anybody's browser, so that a session id is no right to a conversation.
UNPROVED = frozenset({Role.CLIENT, Role.METRICS})


async def find_caller(principal: Principal, tokens: UserTokens, user_token: str = "", user_id: str = "") -> str:
    """Returns the member's number in the business system; empty if nothing proves one.

    A token counts for anybody who shows it, and more than `user_id`, which counts with a trusted key, or on loopback
    without keys.

    Raises:
        Unauthorized: A token is not valid, or names another member than a trusted key does, or than the token that came
            in place of a key.
        IdentityUnavailable: A token cannot be checked now.
    """
    proved = principal.caller or (user_id if not principal.roles.isdisjoint(TRUSTED) else "")
    if not user_token:
        return proved
    caller = await tokens.find_caller(user_token, principal.tenant)
    if proved and proved != caller:
        raise Unauthorized("user_id 与 user_token 指的不是同一位会员", code="user_mismatch")
    return caller


async def build_proof(
    principal: Principal, tokens: UserTokens, *, user_token: str = "", user_id: str = "", session_token: str = ""
) -> Proof:
    """Builds what proves the caller's right to a conversation. Raises Unauthorized, see `find_caller`."""
    caller = await find_caller(principal, tokens, user_token, user_id)
    return Proof(caller, session_token, trusted=is_inside(principal))


def is_inside(principal: Principal) -> bool:
    """Whether the key is one of the company's own, or there are none: then a session id opens its conversation."""
    return not principal.roles <= UNPROVED
