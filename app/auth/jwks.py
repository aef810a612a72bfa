"""The public keys of an identity provider: read from what it publishes (RFC 7517), kept for a while, asked for anew.

A key that is not known is asked for, because providers change theirs at any time; but not oftener than every
`PAUSE_SECONDS`, whatever tokens claim. While the provider cannot be reached the keys that were known go on working.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from loguru import logger

from app.errors import AppError, IdentityUnavailable
from app.tasks import stop_tasks
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import jwt
else:
    jwt = LazyModule("jwt")

# By which tokens may be signed that a public key checks. Each key is for one of them, by what kind of key it is.
ALGORITHMS = frozenset({"RS256", "ES256"})
MAX_KEYS = 64
MAX_KEY_ID_CHARS = 256
# Shorter ones are broken, longer ones cost too much to check.
RSA_BITS = range(2048, 8193)
PAUSE_SECONDS = 10.0
# Kind of key and curve -> its algorithm, and its public parts: what else stands in it is not looked at.
_KINDS = {
    ("RSA", None): ("RS256", ("kty", "n", "e")),
    ("EC", "P-256"): ("ES256", ("kty", "crv", "x", "y")),
}
# Algorithm and id, which is empty for a key without one -> public key.
Keys = Mapping[tuple[str, str], Any]
# The document. Raises AppError where it cannot be had.
Fetch = Callable[[], Awaitable[bytes]]


def read_keys(document: bytes) -> Keys:
    """Reads the keys of a document by which signatures can be checked. Raises ValueError if there are none
    or too many.
    """
    try:
        published = json.loads(document)
        entries = published["keys"]
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise ValueError("不是 JWKS：须为 JSON 对象，带有 keys") from error
    if not isinstance(entries, list) or len(entries) > MAX_KEYS:
        raise ValueError(f"keys 须是一个列表，最多 {MAX_KEYS} 项")
    found = dict(key for entry in entries if isinstance(entry, dict) and (key := _read_key(entry)))
    if not found:
        raise ValueError("里面没有可用来验签的 RSA（2048 位以上）或 P-256 公钥")
    return found


def _read_key(entry: Mapping[str, Any]) -> tuple[tuple[str, str], Any] | None:
    """Reads one key; None for one that serves another purpose or is of another kind."""
    kind = entry.get("kty"), entry.get("crv")
    key_id, uses = entry.get("kid", ""), entry.get("key_ops", ["verify"])
    if not all(isinstance(part, str | None) for part in kind) or kind not in _KINDS:
        return None
    algorithm, parts = _KINDS[kind]
    fits = entry.get("alg", algorithm) == algorithm and entry.get("use", "sig") == "sig"
    fits = fits and isinstance(uses, list) and "verify" in uses
    if not fits or not isinstance(key_id, str) or len(key_id) > MAX_KEY_ID_CHARS:
        return None
    try:
        key = jwt.PyJWK({part: entry[part] for part in parts}, algorithm=algorithm).key
    except (jwt.PyJWTError, LookupError, TypeError, ValueError) as error:
        logger.warning("a published key cannot be read", key_id=key_id, reason=repr(error))
        return None
    return ((algorithm, key_id), key) if algorithm != "RS256" or key.key_size in RSA_BITS else None


@dataclass(slots=True)
class _State:
    """fresh_until, next_try: seconds of the clock; failing: the last attempt did not work."""

    keys: Keys
    fresh_until: float = float("-inf")
    next_try: float = float("-inf")
    failing: bool = False


class KeySet:
    """lifetime: seconds after which keys are asked for again, so that one that was withdrawn stops to count."""

    def __init__(self, fetch: Fetch, lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._lifetime = lifetime
        self._clock = clock
        self._state = _State({})
        self._refreshing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Gives up what is being fetched."""
        await stop_tasks(self._refreshing)

    async def find(self, algorithm: str, key_id: str) -> Any | None:
        """Returns the public key; None if the provider has none like it. Raises IdentityUnavailable if that cannot be
        found out.

        key_id: empty for a token that names none; then the provider's only key of the kind is meant.
        """
        state, moment = self._state, self._clock()
        known = self._find_key(algorithm, key_id)
        if known is not None and moment < state.fresh_until:
            return known
        if self._refreshing is None and moment >= state.next_try:
            self._refreshing = asyncio.create_task(self._refresh())
        if known is not None and state.failing:
            return known  # nobody waits again and again for a server that is not there
        if self._refreshing is not None:
            await asyncio.shield(self._refreshing)
        known = self._find_key(algorithm, key_id)
        if known is None and state.failing:
            wait = max(1, ceil(state.next_try - self._clock()))
            raise IdentityUnavailable("暂时取不到身份提供方的公钥，无法核对身份，请稍后再试。", retry_after=wait)
        return known

    def _find_key(self, algorithm: str, key_id: str) -> Any | None:
        keys = self._state.keys
        if key_id:
            return keys.get((algorithm, key_id))
        fitting = [key for (kind, _), key in keys.items() if kind == algorithm]
        return fitting[0] if len(fitting) == 1 else None

    async def _refresh(self) -> None:
        state = self._state
        try:
            state.keys = read_keys(await self._fetch())
        except (AppError, ValueError) as error:
            state.failing = True
            logger.warning("the keys of the identity provider cannot be had", reason=str(error), kept=len(state.keys))
        else:
            state.failing = False
            state.fresh_until = self._clock() + self._lifetime
        finally:
            state.next_try = self._clock() + PAUSE_SECONDS
            self._refreshing = None
