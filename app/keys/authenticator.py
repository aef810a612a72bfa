"""Authenticates callers by a key, a sign-in or, where settings allow it, the token of a customer alone."""

from __future__ import annotations

import hashlib

from cachetools import TTLCache

from app.auth.principal import Principal, Role
from app.auth.sign_in import PREFIX, SignInLookup
from app.auth.user_token import UserTokens
from app.errors import RateLimited, Unauthorized
from app.keys.service import FRESH_SECONDS, KeyRing, hash_key
from app.limits.attempts import Attempts

# What every JSON object in base64url begins with.
_JWT = "eyJ"
_MAX_PROVED = 4096


class Authenticator:
    """A token without a key is worth what a chat window's key is, in the tenant that it names, as its member. It opens
    no tenant that has no valid key, and none at all while the server has no keys.
    """

    def __init__(self, keys: KeyRing, tokens: UserTokens, attempts: Attempts, sign_ins: SignInLookup) -> None:
        self._keys = keys
        self._sign_ins = sign_ins
        self._tokens = tokens
        self._attempts = attempts
        # A socket asks for every frame, and to check a signature takes 100 µs.
        self._proved: TTLCache[str, tuple[str, str]] = TTLCache(_MAX_PROVED, FRESH_SECONDS)

    async def authenticate(self, key: str | None, host: str | None, user_token: str = "") -> Principal:
        """Returns the caller who shows these and asks from `host`.

        Instead of a key there may be the secret of a sign-in, or a token alone. Raises Unauthorized, RateLimited,
        IdentityUnavailable.
        """
        if key is not None and key.startswith(PREFIX):
            return await self._authenticate_sign_in(key, host)
        token = user_token if key is None else key if _is_token(key) else ""
        if not token or not self._tokens.suffice or await self._keys.is_keyless():
            return await self._keys.authenticate(key, host)
        try:
            async with self._attempts.check_secret(host, token):
                return await self._authenticate_member(token)
        except RateLimited:
            await self._attempts.pause()
            raise

    async def _authenticate_sign_in(self, secret: str, host: str | None) -> Principal:
        """Returns the caller who is signed in: a person, or the owner of a key while the key is valid."""
        found = await self._sign_ins.find(secret)
        if found is not None and found.principal is not None:
            return found.principal
        if await self._keys.is_keyless():
            return await self._keys.authenticate(None, host)
        async with self._attempts.check_secret(host, secret):
            if found is None or found.key_digest is None:
                raise Unauthorized("登录已经失效，请重新登录")
            return self._keys.get_owner(found.key_digest)

    async def _authenticate_member(self, token: str) -> Principal:
        digest = hash_key(token)
        proved = self._proved.get(digest)
        if proved is None:
            self._proved[digest] = proved = await self._tokens.find_tenant_and_caller(token)
        tenant, caller = proved
        known = await self._keys.get_tenant(tenant)
        if known is None:
            raise Unauthorized("user_token 写明的租户没有开通", code="user_token_tenant")
        counted = hashlib.sha256(f"{tenant}\0{caller}".encode()).hexdigest()[:16]
        return Principal(tenant, frozenset({Role.CLIENT}), f"member-{counted}", known.origins, caller=caller)


def _is_token(key: str) -> bool:
    return key.startswith(_JWT) and key.count(".") == 2
