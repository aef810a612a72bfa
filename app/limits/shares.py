"""Which tenant had how much of the places lately, so that one that had little goes first."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable

# Over which use is averaged; what was longer ago counts less and less.
MEAN_SECONDS = 5.0
# By then e^-10 of a mean is left, which moves no tenant before another.
_FORGET_SECONDS = 10 * MEAN_SECONDS
# The share of all use beyond which a tenant leaves the last place to the others: twice what these had together.
MOST_OF_ALL = 2 / 3


class _Mean:
    """Places held on average: m' = (held - m) / MEAN_SECONDS."""

    __slots__ = ("_at", "_mean", "held")

    def __init__(self, at: float) -> None:
        self._at, self._mean, self.held = at, 0.0, 0

    def compute_at(self, now: float) -> float:
        old = math.exp((self._at - now) / MEAN_SECONDS)
        self._at, self._mean = now, self._mean * old + self.held * (1 - old)
        return self._mean

    def is_idle(self, now: float) -> bool:
        return not self.held and now - self._at > _FORGET_SECONDS


class PlaceShares:
    """clock: monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._all = _Mean(clock())
        self._tenants: OrderedDict[str, _Mean] = OrderedDict()

    def add_places(self, tenant: str, by: int) -> None:
        """Records that a tenant has more places, or fewer with a negative number."""
        now = self._clock()
        mean = self._tenants.setdefault(tenant, _Mean(now))
        for each in (mean, self._all):
            each.compute_at(now)
            each.held += by
        self._tenants.move_to_end(tenant)
        while next(iter(self._tenants.values())).is_idle(now):
            self._tenants.popitem(last=False)

    def compute_used(self, tenant: str) -> float:
        """Places that it had on average lately."""
        mean = self._tenants.get(tenant)
        return mean.compute_at(self._clock()) if mean else 0.0

    def has_most(self, tenant: str) -> bool:
        """Whether it had most of all that was used lately."""
        return self.compute_used(tenant) > MOST_OF_ALL * self._all.compute_at(self._clock())
