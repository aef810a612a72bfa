"""The limits of one process, out of its settings."""

from __future__ import annotations

import os

from app.limits.attempts import Attempts
from app.limits.service import LimitOptions, Limits
from app.limits.slots import FairSlots
from app.limits.types import Rate
from app.limits.urgent import UrgentReplies
from app.metrics import Metrics
from app.settings import Settings

LEAST_SLOTS = 2
"""While one turn is at a step that only waits for the disk, another computes."""


def open_limits(settings: Settings, metrics: Metrics) -> Limits:
    """Rates, and as many places as there are processors unless told."""
    options = LimitOptions(
        key=settings.rate_per_key,
        server_key=settings.rate_per_server_key,
        tenant=settings.rate_per_tenant,
        address=settings.rate_per_address,
        session=settings.rate_per_session,
        handoffs=settings.handoffs_per_customer,
        handoffs_per_address=settings.handoffs_per_address,
        tickets=settings.tickets_per_customer,
        tickets_per_address=settings.tickets_per_address,
        turns_per_key=settings.turns_per_key,
        turns_per_tenant=settings.turns_per_tenant,
    )
    slots = settings.turn_slots or max(os.cpu_count() or 1, LEAST_SLOTS)
    return Limits(options, FairSlots(slots, settings.turn_wait), UrgentReplies(settings.emotion_threshold), metrics)


def open_attempts(settings: Settings, metrics: Metrics) -> Attempts:
    """Wrong keys and tokens."""
    return Attempts(Rate(settings.sign_in_failures), metrics.sign_in_refused)
