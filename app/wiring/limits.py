"""The limits of one process, out of its settings."""

from __future__ import annotations

import os

from app.limits.leases import Leases, MemoryLeases
from app.limits.redis_counters import RedisCounters
from app.limits.redis_leases import RedisLeases
from app.limits.service import RateLimits
from app.limits.slots import TurnSlots
from app.limits.urgent import UrgentReplies
from app.limits.windows import Counters, MemoryCounters
from app.metrics import Metrics
from app.redis.server import RedisServer
from app.settings import Settings


def open_counters(redis: RedisServer | None) -> Counters:
    """Returns counters for rates: of all replicas with Redis, else of this process alone."""
    return MemoryCounters() if redis is None else RedisCounters(redis, MemoryCounters())


def open_leases(redis: RedisServer | None) -> Leases:
    """Returns leases on streams and sockets: of all replicas with Redis, else of this process alone."""
    return MemoryLeases() if redis is None else RedisLeases(redis)


def open_limits(
    settings: Settings,
    metrics: Metrics,
    embeddings: int,
    counters: Counters | None = None,
    leases: Leases | None = None,
) -> RateLimits:
    """Builds the limits on requests and on concurrent turns from the settings.

    TURN_SLOTS turns of one tenant compute at once, and one more of another tenant. Where the setting is 0, they are
    one more than the processors, but with that extra one no more than `embeddings`, so that no turn with a place waits
    for an embedding.

    Args:
        settings: Read for the rates, the places and the threshold of urgent messages.
        metrics: Counts what is refused.
        embeddings: How many questions the embedder embeds at once.
        counters: Counts requests; of this process alone where none are given.
        leases: Counts open streams, sockets and turns; of this process alone where none are given.
    """
    # One more than processors: a turn that goes from one process to the other leaves its processor for a moment.
    own = settings.turn_slots or max(min((os.cpu_count() or 1) + 1, embeddings - 1), 1)
    slots = TurnSlots(own + 1, settings.turn_wait)
    return RateLimits(settings, slots, UrgentReplies(settings.emotion_threshold), metrics, counters, leases)
