"""Which arm of a running experiment a customer meets: always the same one, without anything being kept."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from app.tuner.types import CONTROL, TREATMENT, Placing, RunningExperiment, Tuning

if TYPE_CHECKING:
    from app.chat.session import Message

CUSTOMER = "customer"
_BUCKETS = 10_000


class Placements:
    """tuning: a tenant's parameters with the experiment that runs."""

    def __init__(self, tuning: Callable[[str], Awaitable[Tuning]]) -> None:
        self._tuning = tuning

    async def of(self, message: Message) -> Placing | None:
        """Where the sender of a message is put; None where nothing is tried. A customer whom nobody names is as many as
        they have conversations.
        """
        experiment = (await self._tuning(message.tenant)).experiment
        if experiment is None:
            return None
        named = message.caller or message.user_id if experiment.unit == CUSTOMER else ""
        return place(experiment, f"customer {named}" if named else f"session {message.session_id}")


def place(experiment: RunningExperiment, whom: str) -> Placing:
    """By a digest of both: one experiment's arms have nothing to do with another's."""
    digest = hashlib.sha256(f"{experiment.id}\0{whom}".encode()).hexdigest()
    treated = int(digest[:8], 16) % _BUCKETS < experiment.share * _BUCKETS // 100
    return Placing(experiment.id, TREATMENT if treated else CONTROL, digest[:32])
