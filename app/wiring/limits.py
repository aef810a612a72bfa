"""The limits of one process, out of its settings."""

from __future__ import annotations

import os

from app.limits.attempts import Attempts
from app.limits.leases import Leases, MemoryLeases
from app.limits.redis_counters import RedisCounters
from app.limits.redis_leases import RedisLeases
from app.limits.service import RateLimits
from app.limits.slots import TurnSlots
from app.limits.types import Rate
from app.limits.urgent import UrgentReplies
from app.limits.windows import Counters, MemoryCounters
from app.metrics import Metrics
from app.redis.server import RedisServer
from app.settings import Settings


def open_counters(redis: RedisServer | None) -> Counters:
    """Of this process, or with Redis of all replicas."""
    if redis is None:
        return MemoryCounters()
    return RedisCounters(redis, MemoryCounters())


def open_leases(redis: RedisServer | None) -> Leases:
    """Of this process, or with Redis of all replicas."""
    return MemoryLeases() if redis is None else RedisLeases(redis)


def open_limits(
    settings: Settings,
    metrics: Metrics,
    embeddings: int,
    counters: Counters | None = None,
    leases: Leases | None = None,
) -> RateLimits:
    """Rates, and places for a tenant, with one more for another one.

    embeddings: how many questions are embedded at once. There are no more places, unless told: whoever has a place must
    not wait for an embedding behind the others.
    """
    # One more than processors: a turn that goes from one process to the other leaves its processor for a moment.
    own = settings.turn_slots or max(min((os.cpu_count() or 1) + 1, embeddings - 1), 1)
    slots = TurnSlots(own + 1, settings.turn_wait)
    return RateLimits(settings, slots, UrgentReplies(settings.emotion_threshold), metrics, counters, leases)


def open_attempts(settings: Settings, metrics: Metrics, counters: Counters | None = None) -> Attempts:
    """Wrong keys and tokens."""
    return Attempts(Rate(settings.sign_in_failures), metrics.sign_in_refused, counters)
