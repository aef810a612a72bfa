"""The circuit breaker of a language model: decides which errors mean that the model is out of order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agents.errors import CircuitOpen, GenerationForbidden, GenerationLate, GenerationUnavailable
from knowledge.breaker import Breaker


class CircuitBreaker(Breaker):
    """The breaker of one provider in this process. Not for several threads."""

    @contextmanager
    def watch(self, *, patient: bool = True, slow: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Wraps one request. A request that is refused for its content, or cancelled early, says nothing about the
        endpoint.

        Args:
            patient: whether the request had all the time that the endpoint may take; else being late says nothing.
            slow: of a cancelled request, whether it waited long enough to count as a failure.

        Raises:
            CircuitOpen: the endpoint failed too often; errors of the request are raised on.
        """

        def has_failed(error: BaseException) -> bool:
            if not isinstance(error, Exception):  # it was cancelled
                return slow()
            out_of_order = isinstance(error, GenerationUnavailable | GenerationForbidden)
            return out_of_order and (patient or not isinstance(error, GenerationLate))

        with self.guard(has_failed, CircuitOpen):
            yield
