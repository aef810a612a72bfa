from __future__ import annotations

import pytest

from agents.errors import CircuitOpen, GenerationForbidden, GenerationLate, GenerationRejected, GenerationUnavailable
from agents.llm.breaker import CircuitBreaker
from knowledge.breaker import BreakerOptions, BreakerState


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("deepseek", "deepseek-chat", BreakerOptions(failures=3, seconds=30.0), clock)


def fails(breaker: CircuitBreaker, error: Exception | None = None, *, patient: bool = True) -> None:
    error = error or GenerationUnavailable()
    with pytest.raises(type(error)), breaker.watch(patient=patient):
        raise error


def works(breaker: CircuitBreaker) -> None:
    with breaker.watch():
        pass


def state_of(breaker: CircuitBreaker) -> BreakerState:
    return breaker.state


def opened(breaker: CircuitBreaker) -> CircuitBreaker:
    for _ in range(3):
        fails(breaker)
    assert state_of(breaker) is BreakerState.OPEN
    return breaker


def test_it_opens_after_failures_in_a_row_and_asks_nothing_more(breaker: CircuitBreaker) -> None:
    fails(breaker)
    fails(breaker)
    works(breaker)
    fails(breaker)
    fails(breaker)
    assert state_of(breaker) is BreakerState.CLOSED
    fails(breaker)
    asked = []
    with pytest.raises(CircuitOpen) as raised, breaker.watch():
        asked.append("asked")
    assert not asked
    assert raised.value.retry_after == 30.0
    assert breaker.opened == 1


def test_one_tries_after_a_while_and_the_others_wait_for_it(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 30.0
    assert state_of(breaker) is BreakerState.HALF_OPEN
    with breaker.watch(), pytest.raises(CircuitOpen), breaker.watch():
        pass
    assert state_of(breaker) is BreakerState.CLOSED
    assert breaker.failures == 0


def test_one_that_tries_in_vain_opens_it_again(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 30.0
    fails(breaker)
    assert state_of(breaker) is BreakerState.OPEN
    assert breaker.retry_in == 30.0
    assert breaker.opened == 2


def test_one_that_tries_and_is_given_up_lets_the_next_try(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 30.0
    with pytest.raises(KeyboardInterrupt), breaker.watch():
        raise KeyboardInterrupt
    assert state_of(breaker) is BreakerState.HALF_OPEN
    works(breaker)
    assert state_of(breaker) is BreakerState.CLOSED


def test_a_request_that_is_refused_for_what_it_says_opens_nothing(breaker: CircuitBreaker) -> None:
    for _ in range(9):
        fails(breaker, GenerationRejected("content filter"))
    assert state_of(breaker) is BreakerState.CLOSED


def test_a_wrong_key_opens_it(breaker: CircuitBreaker) -> None:
    for _ in range(3):
        fails(breaker, GenerationForbidden("401"))
    assert state_of(breaker) is BreakerState.OPEN


def test_being_late_for_an_impatient_request_opens_nothing(breaker: CircuitBreaker) -> None:
    for _ in range(9):
        fails(breaker, GenerationLate("1.5 s"), patient=False)
    assert state_of(breaker) is BreakerState.CLOSED
    for _ in range(3):
        fails(breaker, GenerationLate("10 s"))
    assert state_of(breaker) is BreakerState.OPEN


def test_a_reset_lets_requests_pass_at_once(breaker: CircuitBreaker) -> None:
    opened(breaker).reset()
    assert state_of(breaker) is BreakerState.CLOSED
    works(breaker)
