"""A circuit breaker: an endpoint that fails repeatedly is left alone for a while, then tried with one request.

The `purgatory` package (3.0.1) was tried: once its time is over it lets all requests at once try, and a request that
its caller cancels counts as a failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum

from loguru import logger


class BreakerState(StrEnum):
    """closed: requests pass; open: none does; half_open: one may try."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerOptions:
    """failures: in a row that open it; seconds: that it stays open."""

    failures: int = 5
    seconds: float = 30.0


class Breaker:
    """Of one provider, in this process. Not for several threads."""

    def __init__(
        self, name: str, model: str, options: BreakerOptions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """name: of the provider; model: that is asked there."""
        self.name, self.model = name, model
        self.failures = 0
        self.opened = 0
        self._options, self._clock = options, clock
        self._until: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        """Now. `failures` counts those in a row, `opened` how often it opened since the start."""
        if self._until is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._clock() < self._until else BreakerState.HALF_OPEN

    @property
    def retry_in(self) -> float:
        """Seconds until it lets one try; 0.0 where it does."""
        return max(0.0, self._until - self._clock()) if self._until is not None else 0.0

    def reset(self) -> None:
        """Lets requests pass, as if nothing had happened."""
        self._until, self._probing, self.failures = None, False, 0

    @contextmanager
    def guard(
        self, failed: Callable[[BaseException], bool], refusal: Callable[[str, float], Exception]
    ) -> Iterator[None]:
        """Guards one request: counts its failure, and refuses it while the circuit is open.

        Args:
            failed: Decides whether an error, or a cancellation, means that the endpoint is out of order.
            refusal: Builds the error to raise while the circuit is open, from a message and the seconds to wait.
        """
        probe = self._admit_request(refusal)
        try:
            yield
        except BaseException as error:
            if failed(error):
                self._record_failure()
            raise
        else:
            self.reset()
        finally:
            if probe:
                self._probing = False

    def guard_server_call(self, unavailable: type[Exception], refused: type[Exception]) -> AbstractContextManager[None]:
        """Guards one request to a model server, see `guard`.

        Args:
            unavailable: The error which means that the server is out of order; also raised while the circuit is open.
            refused: A subclass of it that concerns only the given texts, and therefore does not count as a failure.
        """
        return self.guard(
            lambda error: isinstance(error, unavailable) and not isinstance(error, refused),
            lambda message, _: unavailable(message),
        )

    def _admit_request(self, refusal: Callable[[str, float], Exception]) -> bool:
        """Decides whether a request may pass; returns True if it is the single trial of a half-open circuit."""
        state = self.state
        if state is BreakerState.OPEN or self._probing:
            raise refusal(f"{self.name}: the circuit breaker is open", self.retry_in)
        self._probing = state is BreakerState.HALF_OPEN
        return self._probing

    def _record_failure(self) -> None:
        """Counts a failure, and opens the circuit after too many in a row or after a failed trial."""
        self.failures += 1
        if self._probing or (self._until is None and self.failures >= self._options.failures):
            self._until = self._clock() + self._options.seconds
            self.opened += 1
            logger.bind(provider=self.name, model=self.model, failures=self.failures).warning("circuit breaker opened")
