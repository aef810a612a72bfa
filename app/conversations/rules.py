"""Who may have a conversation: its member, the holder of its secret, and keys that stay with the company."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace
from datetime import datetime, timedelta

from app.conversations.types import Holder
from app.errors import Forbidden
from app.turns.types import Claim

# Makes a leaked secret easy to search for.
PREFIX = "ys-"
# Of a secret, where no setting says otherwise.
LIFETIME = timedelta(days=7)
# Of its lifetime: a secret that is used goes on, at the price of a write now and then.
RENEWED_AFTER = 0.1


def create_token() -> str:
    """Creates a secret that nobody can guess: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_token(tenant: str, session_id: str, token: str) -> str:
    """Hashes a secret for storage, in hex: worth nothing in another session or with another tenant; empty for none."""
    if not token:
        return ""
    return hashlib.sha256(f"{tenant}\0{session_id}\0{token}".encode(errors="surrogatepass")).hexdigest()


def check(holder: Holder, claim: Claim, moment: datetime) -> None:
    """Lets the claim on a conversation pass. Raises Forbidden.

    Another member is refused whatever else is shown, also by a key that names the customer.
    """
    if holder.caller and claim.caller and claim.caller != holder.caller:
        raise Forbidden("这个会话属于另一位会员。", code="session_of_another")
    if claim.trusted or (holder.caller and claim.caller == holder.caller):
        return
    if not claim.shown and not claim.caller:
        raise Forbidden(
            "请出示这个会话的凭据：首次响应中的 session_token，或会员的 user_token。", code="session_token_required"
        )
    if not holder.digest or not hmac.compare_digest(holder.digest, claim.shown):
        raise Forbidden("凭据不是这个会话的，请新开一个会话。", code="session_forbidden")
    if holder.expires is not None and holder.expires <= moment:
        raise Forbidden("会话凭据已过期，请新开一个会话。", code="session_token_expired")


def settle_holder(holder: Holder, claim: Claim, moment: datetime, lifetime: timedelta) -> Holder:
    """Returns whose a conversation is once somebody has written into it. Raises Forbidden.

    The first proved member gets it, and the secret from before counts no more: it may be that of somebody who put the
    id into the member's browser.

    holder: after the conversation was opened, if it did not exist.
    """
    if claim.digest and claim.digest == holder.digest:
        return holder
    check(holder, claim, moment)
    if claim.caller and not holder.caller:
        return Holder(claim.caller, claim.digest, claim.expires if claim.digest else None)
    if is_stale(holder, claim, moment, lifetime):
        return replace(holder, expires=claim.expires)
    return holder


def is_stale(holder: Holder, claim: Claim, moment: datetime, lifetime: timedelta) -> bool:
    """Whether a customer who showed the conversation's secret gets a new term for it.

    True once RENEWED_AFTER of its lifetime has passed, so that not every message writes to the database.
    """
    if not claim.shown or claim.shown != holder.digest or holder.expires is None:
        return False
    return holder.expires - moment < lifetime * (1 - RENEWED_AFTER)
