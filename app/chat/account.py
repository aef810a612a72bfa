"""What a turn takes and what it costs: the one place that adds up time, requests to models and outages."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from agents.types import Answer, Usage


class Account:
    """`ms`: step -> milliseconds; `usage` at models and `degraded` are of what came before the agents answered."""

    __slots__ = ("_last", "_started", "degraded", "ms", "usage")

    def __init__(self) -> None:
        self._started = self._last = perf_counter()
        self.ms: dict[str, float] = {}
        self.usage = Usage()
        self.degraded: tuple[str, ...] = ()

    def record_step(self, step: str) -> None:
        """Records the milliseconds since the previous step under the name of this one."""
        now = perf_counter()
        self.ms[step] = round((now - self._last) * 1000, 3)
        self._last = now

    def add_usage(self, usage: Usage, degraded: tuple[str, ...] = ()) -> None:
        """Adds what a step used at language models, and which parts were degraded in it."""
        self.usage += usage
        self.degraded += degraded

    @property
    def total_ms(self) -> float:
        """Since the start."""
        return round((perf_counter() - self._started) * 1000, 3)

    def complete_answer(self, answer: Answer) -> Answer:
        """Returns the answer with the usage, outages and timings of the whole turn. A step of the agents with the same
        name as an earlier one is added to it.
        """
        timings = dict(answer.timings_ms)
        for step, milliseconds in self.ms.items():
            timings[step] = round(milliseconds + timings.get(step, 0.0), 3)
        return replace(answer.add_costs(self.usage, self.degraded), timings_ms=timings)
