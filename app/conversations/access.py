"""The one check of everything that takes a session id: whose the conversation is, and what is shown for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from app.conversations.repository_holders import HolderRepository
from app.conversations.rules import check, create_token, hash_token, is_stale
from app.conversations.types import Holder, OpenedConversation
from app.db.base import now
from app.errors import Forbidden, NotFound
from app.turns.types import Claim
from app.types import Proof, SessionKey


class Access:
    """lifetime: of a session's secret since it was used last; clock: aware times in UTC."""

    def __init__(self, holders: HolderRepository, lifetime: timedelta, clock: Callable[[], datetime] = now) -> None:
        self._holders = holders
        self._lifetime = lifetime
        self._clock = clock

    async def require(self, key: SessionKey, proof: Proof) -> None:
        """Lets a caller read a conversation, or change one that must exist. Raises NotFound, Forbidden."""
        claim = self._build_shown_claim(key, proof)
        if claim.is_settled:
            return
        holder, moment = await self._holders.find(key), self._clock()
        if holder is None:
            if claim.trusted:
                return
            raise NotFound("没有找到这个会话。", code="conversation_not_found", session_id=key.session_id)
        check(holder, claim, moment)
        if is_stale(holder, claim, moment, self._lifetime):
            await self._holders.renew_secret(key, claim.shown, moment + self._lifetime)

    async def claim(self, key: SessionKey, proof: Proof, *, new: bool = False) -> Claim:
        """Lets a caller write into a conversation, which is opened if it does not exist. Raises Forbidden.

        What follows from the claim is written by the transaction that writes the rest, and only if it still holds by
        then.

        new: the id was made for this, so nothing is looked up.
        """
        claim = self._build_shown_claim(key, proof)
        if new:
            return self._add_secret(key, replace(claim, first=True, sure=True))
        if claim.is_settled:
            return claim
        holder = await self._holders.find(key)
        if holder is None:
            return self._add_secret(key, replace(claim, first=True))
        check(holder, claim, self._clock())
        claim = replace(claim, exists=True)
        return self._add_secret(key, claim) if claim.caller and not holder.caller else claim

    async def extend_secret(self, key: SessionKey, token: str) -> datetime | None:
        """Extends the session's secret and returns until when it counts; None where this is not the secret."""
        claim = self._build_shown_claim(key, Proof(token=token))
        holder, moment = await self._holders.find(key), self._clock()
        if holder is None:
            return None
        try:
            check(holder, claim, moment)
        except Forbidden:
            return None
        if not is_stale(holder, claim, moment, self._lifetime):
            return holder.expires
        await self._holders.renew_secret(key, claim.shown, moment + self._lifetime)
        return moment + self._lifetime

    async def open(self, key: SessionKey, proof: Proof, *, user_id: str, channel: str) -> OpenedConversation:
        """Opens a new conversation with a secret of its own, ahead of its first turn.

        A caller with a key that needs no secret gets one too, to hand it to a browser. key: of an id that was made for
        this.
        """
        token, expires = create_token(), self._clock() + self._lifetime
        holder = Holder(proof.caller, hash_token(key.tenant, key.session_id, token), expires)
        await self._holders.open(key, holder, user_id=proof.caller or user_id, channel=channel)
        return OpenedConversation(key.session_id, token, expires)

    def _build_shown_claim(self, key: SessionKey, proof: Proof) -> Claim:
        shown = hash_token(key.tenant, key.session_id, proof.token)
        return Claim(proof.caller, shown, proof.trusted, expires=self._clock() + self._lifetime)

    def _add_secret(self, key: SessionKey, claim: Claim) -> Claim:
        """Adds a new secret to the claim, unless the key proves enough by itself."""
        if claim.trusted:
            return claim
        token = create_token()
        return replace(claim, issued=token, digest=hash_token(key.tenant, key.session_id, token))
