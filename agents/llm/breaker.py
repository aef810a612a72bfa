"""The circuit breaker of a language model: which of its errors say that it is out of order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents.errors import CircuitOpen, GenerationForbidden, GenerationLate, GenerationUnavailable
from knowledge.breaker import Breaker


class CircuitBreaker(Breaker):
    """Of one provider, in this process. Not for several threads."""

    @contextmanager
    def watch(self, *, patient: bool = True, slow: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Around one request. patient: whether it was given all the time that the endpoint may take; else being late
        says nothing. slow: of a request that is cancelled, whether it waited long enough to tell. Raises CircuitOpen;
        what it lets through is raised on.

        Refused for what it says, or cancelled early, a request tells nothing about the endpoint.
        """

        def has_failed(error: BaseException) -> bool:
            if not isinstance(error, Exception):  # it was cancelled
                return slow()
            out_of_order = isinstance(error, GenerationUnavailable | GenerationForbidden)
            return out_of_order and (patient or not isinstance(error, GenerationLate))

        with self.around(has_failed, CircuitOpen):
            yield
