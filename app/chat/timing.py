"""Stopwatch of the steps of a turn."""

from __future__ import annotations

from time import perf_counter


class Laps:
    """`ms`: step -> milliseconds."""

    __slots__ = ("_last", "_started", "ms")

    def __init__(self) -> None:
        self._started = self._last = perf_counter()
        self.ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """Notes the time since the last lap."""
        now = perf_counter()
        self.ms[step] = round((now - self._last) * 1000, 3)
        self._last = now

    @property
    def total_ms(self) -> float:
        """Since the start."""
        return round((perf_counter() - self._started) * 1000, 3)
