"""Kept answers that all replicas give: in Redis, each for as long as it may be served."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pydantic import TypeAdapter, ValidationError

import agents.types
from agents.decision import Decision
from agents.places import RelatedPlace
from agents.types import Answer
from app import __version__
from app.ids import create_id
from app.redis.server import RedisServer

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from app.chat.hot_cache import CacheKey


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer, the documents that it rests on, and what it cost. epoch: of its tenant when it began."""

    answer: Answer
    documents: frozenset[str]
    milliseconds: float
    epoch: str


class CacheLookup(NamedTuple):
    """What there is, and the tenant's epoch; without one Redis is away, and nothing is to be kept there."""

    answer: SharedAnswer | None
    epoch: str | None


class SharedAnswers:
    """The answers of all tenants in Redis. installation: part of every key, so that databases do not share answers.

    Clearing a tenant's cache begins a new epoch. Answers of an older epoch are not given any more, even if one is still
    being computed at another replica. Keys are digests, so that questions cannot be read from them.
    """

    def __init__(self, server: RedisServer, installation: str) -> None:
        self._server = server
        self._installation = installation
        self._json = TypeAdapter(SharedAnswer)
        self._json.rebuild(_types_namespace={**vars(agents.types), "Decision": Decision, "RelatedPlace": RelatedPlace})

    async def get(self, key: CacheKey) -> CacheLookup:
        """Looks a question up in what replicas share."""

        async def read(client: Redis) -> CacheLookup:
            epoch, kept = await client.mget(self._build_epoch_key(key.tenant), self._build_key(key))
            now = (epoch or b"").decode()
            found = self._parse_answer(kept) if kept else None
            return CacheLookup(found if found is not None and found.epoch == now else None, now)

        return await self._server.ask(read, CacheLookup(None, None))

    async def put(self, key: CacheKey, kept: SharedAnswer, seconds: float) -> None:
        """Stores an answer for some seconds, unless Redis is away."""
        name, text, milliseconds = self._build_key(key), self._json.dump_json(kept), max(int(seconds * 1000), 1)
        await self._server.ask(lambda client: client.set(name, text, px=milliseconds), None)

    async def clear(self, tenant: str) -> None:
        """Begins a new epoch of the tenant, so that no earlier answer counts any more; does nothing while Redis is
        away.
        """
        await self._server.ask(lambda client: client.set(self._build_epoch_key(tenant), create_id()), None)

    def _parse_answer(self, text: bytes) -> SharedAnswer | None:
        try:
            return self._json.validate_json(text)
        except ValidationError:  # of another state of the code: it is computed anew, and written over
            return None

    def _build_key(self, key: CacheKey) -> str:
        about = repr((__version__, self._installation, *key))
        return self._server.build_key("answer", hashlib.sha256(about.encode("utf-8", "replace")).hexdigest())

    def _build_epoch_key(self, tenant: str) -> str:
        about = repr((self._installation, tenant))
        return self._server.build_key("epoch", hashlib.sha256(about.encode("utf-8", "replace")).hexdigest())
