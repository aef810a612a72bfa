"""API keys: what they look like, and whose a given one is."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from datetime import datetime

from app.auth.principal import DEFAULT_TENANT, LOOPBACK, Principal, Role, is_loopback
from app.db.base import now
from app.errors import RateLimited, Unauthorized
from app.keys.repository import KeyRepository, KeySnapshot
from app.limits.attempts import Attempts
from app.limits.types import Rate

# Makes a leaked key easy to search for.
PREFIX = "yd-"
# Id of the key that is not stored.
FIRST_KEY = "first"
# Its name: where it stands.
FIRST_KEY_NAME = "API_KEY"
# How long a revoked key may still work, and a new one may not work yet.
FRESH_SECONDS = 0.5


def create_key() -> str:
    """Creates a secret that nobody can guess: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    """Returns the SHA-256 of a secret in hex, which is all that is stored of it.

    A slow hash would only protect secrets that can be guessed.
    """
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


class KeyRing:
    """Tells whose a key is, from a copy of the stored keys that is `FRESH_SECONDS` old at most.

    A request costs a hash and a dictionary look-up; an unknown key costs the same and leaves nothing behind.
    """

    def __init__(
        self,
        stored: KeyRepository,
        first_key: str = "",
        clock: Callable[[], float] = time.monotonic,
        attempts: Attempts | None = None,
        today: Callable[[], datetime] = now,
    ) -> None:
        """first_key: an admin key of the default tenant that is not stored; empty for none. clock: in seconds, for how
        old the copy is; today: by which keys end.
        """
        self._stored = stored
        self._attempts = attempts or Attempts(Rate(0))
        self._first = hash_key(first_key) if first_key else None
        self._clock, self._today = clock, today
        self._snapshot = KeySnapshot(None, {})
        self._fresh_until = float("-inf")
        self._loading = asyncio.Lock()
        self._used: set[str] = set()

    async def authenticate(self, key: str | None, host: str | None) -> Principal:
        """Returns the caller who shows `key` and asks from `host`. Raises Unauthorized, RateLimited.

        While no key is configured at all, a caller from this machine has every role; a key is then ignored, because
        some clients cannot do without. Revoked keys count as configured: revoking the last one must not open the door.
        """
        if await self.is_keyless():
            if host is None or not is_loopback(host):
                raise Unauthorized("服务没有配置密钥，只接受本机的请求：请设置 API_KEY 或用 scripts/keys.py 创建密钥")
            return LOOPBACK
        if key is None:
            raise Unauthorized("缺少密钥：请在请求头里加上 Authorization: Bearer 密钥，或 X-API-Key: 密钥")
        try:
            async with self._attempts.check_secret(host, key):
                return self.get_owner(hash_key(key))
        except RateLimited:
            await self._attempts.pause()
            raise

    async def is_keyless(self) -> bool:
        """Whether no key is configured at all, so that this machine alone is served."""
        if self._clock() >= self._fresh_until:
            await self._load()
        return self._first is None and self._snapshot.stamp is None

    async def list_origins(self) -> frozenset[str]:
        """Lists the origins of all web pages that may use a key."""
        await self.is_keyless()
        return self._snapshot.origins

    async def get_tenant(self, name: str) -> Principal | None:
        """Returns a tenant with the web pages that may use one of its keys; None without a valid key, since it serves
        nobody then.
        """
        await self.is_keyless()
        snapshot, today = self._snapshot, self._today()
        ends = ((digest, snapshot.ends.get(digest)) for digest in snapshot.digests.get(name, ()))
        valid = [snapshot.owners[digest] for digest, end in ends if end is None or end > today]
        if not valid and not (self.environment and name == DEFAULT_TENANT):
            return None
        return Principal(name, frozenset(), origins=frozenset().union(*(owner.origins for owner in valid)))

    def expire_copy(self) -> None:
        """Keys were changed by this process: who asks next is looked up anew."""
        self._fresh_until = float("-inf")

    @property
    def environment(self) -> bool:
        """Whether there is a key that is not stored."""
        return self._first is not None

    def take_used(self) -> set[str]:
        """Returns the ids of the stored keys that were shown since the last call."""
        used, self._used = self._used, set()
        return used

    def get_owner(self, digest: str) -> Principal:
        """Returns the owner of the key with a digest, by the copy that `is_keyless` keeps fresh. Raises
        Unauthorized.
        """
        if self._first is not None and hmac.compare_digest(digest, self._first):
            return Principal(DEFAULT_TENANT, frozenset({Role.ADMIN}), FIRST_KEY, name=FIRST_KEY_NAME)
        owner = self._snapshot.owners.get(digest)
        if owner is None:
            raise Unauthorized("密钥不正确或已停用")
        ends = self._snapshot.ends.get(digest)
        if ends is not None and ends <= self._today():
            raise Unauthorized("密钥已到期，请换用新的密钥", code="key_expired")
        self._used.add(owner.key)
        return owner

    async def _load(self) -> None:
        async with self._loading:
            started = self._clock()
            if started < self._fresh_until:
                return
            self._snapshot = await self._stored.load_changed(self._snapshot.stamp) or self._snapshot
            self._fresh_until = started + FRESH_SECONDS
