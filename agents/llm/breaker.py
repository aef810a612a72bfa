"""The circuit breaker of a language model: which of its errors say that it is out of order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agents.errors import CircuitOpen, GenerationForbidden, GenerationLate, GenerationUnavailable
from knowledge import breaker


class CircuitBreaker(breaker.CircuitBreaker):
    """Of one provider, in this process. Not for several threads."""

    @contextmanager
    def watch(self, *, patient: bool = True) -> Iterator[None]:
        """Around one request. patient: whether it was given all the time that the endpoint may take; else being late
        says nothing. Raises CircuitOpen; what it lets through is raised on.

        Cancelled or refused for what it says, a request tells nothing about the endpoint.
        """

        def failed(error: Exception) -> bool:
            out_of_order = isinstance(error, GenerationUnavailable | GenerationForbidden)
            return out_of_order and (patient or not isinstance(error, GenerationLate))

        with self.around(failed, CircuitOpen):
            yield
