"""Hedged requests: a second model beside one that is silent, before the first token and never after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from agents.errors import BudgetExhausted
from agents.generator import Degraded, Piece, Spent, Text, Withdrawn
from agents.llm.breaker import CircuitBreaker
from agents.llm.chat import ChatModel
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.fallback import FallbackGenerator
from agents.llm.fleet import GuardedModel
from agents.llm.metered_model import MeteredModel
from agents.llm.race import Patience
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from agents.types import Usage
from knowledge.breaker import BreakerOptions, BreakerState
from knowledge.work_place import PLACE
from scripts.scripted_llm import Behaviour, Say, Step
from tests.agents.models import RETURNS, Scripted, reply_of, request, scripted
from tests.agents.support import ANALYZER, collect_pieces

ARRIVES = "退款在验货后 1～5 个工作日内到账。"
QUOTED = f"{RETURNS}[0]"
HEDGE = 0.2
ENOUGH = 30.0


def chain(*models: ChatModel, hedge: float = HEDGE, first: float = ENOUGH) -> FallbackGenerator:
    writers = [ModelGenerator(model, TenantProfile(), 3, 800) for model in models]
    return FallbackGenerator(writers, ExtractiveGenerator(ANALYZER, 3), Patience(hedge, first))


async def written(generator: FallbackGenerator) -> list[Piece]:
    return await collect_pieces(generator, request(RETURNS))


def marks(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if isinstance(piece, Degraded | Withdrawn)]


def calls(pieces: list[Piece]) -> int:
    return sum(piece.usage.calls for piece in pieces if isinstance(piece, Spent))


@asynccontextmanager
async def servers(*scripts: Step | tuple[Step, ...]) -> AsyncIterator[list[Scripted]]:
    """Patient clients: only the race ends a silence."""
    async with AsyncExitStack() as stack:
        steps = [script if isinstance(script, tuple) else (script,) for script in scripts]
        yield [await stack.enter_async_context(scripted(*script, silence=ENOUGH)) for script in steps]


async def test_a_silent_model_is_overtaken_by_the_next_and_let_go() -> None:
    async with servers(Behaviour.STALL_FIRST, Behaviour.ANSWER) as (silent, quick):
        pieces = await written(chain(silent.model, quick.model))
        assert reply_of(pieces) == f"{ARRIVES}[0]"
        assert marks(pieces) == [Degraded("llm")]  # a stand-in wrote it
        assert calls(pieces) == 2
        await asyncio.wait_for(silent.server.left.wait(), 20.0)


async def test_the_only_model_is_asked_once_more_which_is_no_degradation() -> None:
    async with servers((Behaviour.STALL_FIRST, Behaviour.ANSWER)) as (llm,):
        pieces = await written(chain(llm.model))
        assert reply_of(pieces) == f"{ARRIVES}[0]"
        assert marks(pieces) == []
        assert llm.server.requests == calls(pieces) == 2


async def test_who_speaks_in_time_is_alone() -> None:
    async with servers(Behaviour.ANSWER, Behaviour.ANSWER) as (first, second):
        pieces = await written(chain(first.model, second.model, hedge=ENOUGH))
        assert marks(pieces) == [] and second.server.requests == 0


async def test_after_the_first_token_nobody_is_asked_beside_it() -> None:
    async with servers(Behaviour.STALL_MIDWAY, Behaviour.ANSWER) as (first, second):
        generator = chain(first.model, second.model, hedge=0.05)
        begun = asyncio.Event()

        def take(piece: Piece) -> None:
            if isinstance(piece, Text):
                begun.set()

        writing = asyncio.create_task(generator.write(request(RETURNS), take))
        await begun.wait()
        await asyncio.sleep(0.5)
        assert second.server.requests == 0
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def test_thoughts_are_a_sign_of_life() -> None:
    async with servers(Say(f"{ARRIVES}[1]", "想" * 8), Behaviour.ANSWER) as (_, second):
        async with scripted(Say(f"{ARRIVES}[1]", "想" * 8), token_delay=0.3) as thinking:
            pieces = await written(chain(thinking.model, second.model))
        assert reply_of(pieces) == f"{ARRIVES}[0]"
        assert second.server.requests == 0


async def test_one_deadline_for_the_first_token_of_all_of_them() -> None:
    async with servers(*[Behaviour.STALL_FIRST] * 3) as silent:
        async with asyncio.timeout(ENOUGH / 2):  # three of them one after the other would take three times as long
            pieces = await written(chain(*(one.model for one in silent), hedge=0.1, first=0.5))
        assert reply_of(pieces) == QUOTED
        assert marks(pieces) == [Degraded("llm")]
        assert [one.server.requests for one in silent] == [1, 1, 0]  # two at a time at most


async def test_a_failure_starts_the_next_at_once() -> None:
    async with servers(Behaviour.BROKEN, Behaviour.BROKEN, Behaviour.ANSWER) as all_of_them:
        pieces = await written(chain(*(one.model for one in all_of_them), hedge=ENOUGH))
        assert reply_of(pieces) == f"{ARRIVES}[0]"
        assert calls(pieces) == 3


async def test_who_fails_midway_leaves_the_word_to_who_was_not_asked_yet() -> None:
    async with servers(Behaviour.STALL_FIRST, Behaviour.DROP_MIDWAY, Behaviour.ANSWER) as (_, midway, last):
        pieces = await written(chain(*(one.model for one in (_, midway, last))))
        assert reply_of(pieces) == f"{ARRIVES}[0]"
        assert marks(pieces) == [Degraded("llm"), Withdrawn()]
        assert (midway.server.requests, last.server.requests) == (1, 1)


async def test_who_always_loses_is_asked_no_more_until_its_breaker_lets_it() -> None:
    async with servers(Behaviour.STALL_FIRST, Behaviour.ANSWER) as (silent, quick):
        breaker = CircuitBreaker("one", "m", BreakerOptions(2, 3600.0))
        guarded = GuardedModel(silent.model, breaker, ENOUGH, slow=HEDGE)
        for _ in range(4):
            assert reply_of(await written(chain(guarded, quick.model))) == f"{ARRIVES}[0]"
        assert breaker.state is BreakerState.OPEN
        assert silent.server.requests == 2


async def test_an_open_breaker_is_passed_over_by_the_hedge() -> None:
    async with servers(Behaviour.STALL_FIRST, Behaviour.BROKEN, Behaviour.ANSWER) as (silent, broken, quick):
        guarded = GuardedModel(broken.model, CircuitBreaker("two", "m", BreakerOptions(1, 3600.0)), ENOUGH)
        with pytest.raises(Exception, match="500"):
            await guarded.complete([{"role": "user", "content": "你好"}], ENOUGH)
        assert reply_of(await written(chain(silent.model, guarded, quick.model))) == f"{ARRIVES}[0]"
        assert (broken.server.requests, quick.server.requests) == (1, 1)


class _Account:
    """Allows so many requests."""

    def __init__(self, allowed: int) -> None:
        self.left, self.usage = allowed, Usage()

    async def allow(self) -> None:
        if not self.left:
            raise BudgetExhausted("used up")
        self.left -= 1

    def record_usage(self, model: str, usage: Usage) -> None:
        self.usage += usage

    def count_unreadable(self, provider: str, model: str) -> None:
        raise AssertionError("nothing of a shape is asked for")


async def test_the_loser_is_on_the_account_too() -> None:
    async with servers((Behaviour.STALL_FIRST, Behaviour.ANSWER)) as (llm,):
        account = _Account(2)
        await written(chain(MeteredModel(llm.model, account)))
        assert account.usage.calls == 2 and account.usage.completion_tokens > 0


async def test_no_second_request_beyond_the_budget() -> None:
    async with servers((Behaviour.STALL_FIRST, Behaviour.ANSWER)) as (llm,):
        pieces = await written(chain(MeteredModel(llm.model, _Account(1)), first=1.0))
        assert llm.server.requests == 1
        assert reply_of(pieces) == QUOTED


async def test_who_leaves_ends_both() -> None:
    async with servers(Behaviour.STALL_FIRST, Behaviour.STALL_FIRST) as both:
        reading = asyncio.create_task(written(chain(*(one.model for one in both), hedge=0.05)))
        for one in both:
            await asyncio.wait_for(one.server.asked.wait(), 20.0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        for one in both:
            await asyncio.wait_for(one.server.left.wait(), 20.0)


class _Desk:
    """A place, counted as the real one does."""

    def __init__(self) -> None:
        self.away = 0

    def release(self) -> None:
        self.away += 1

    async def acquire(self) -> None:
        self.away -= 1

    def give_up(self) -> None:
        self.away -= 1


async def test_the_loser_does_not_keep_the_turn_from_its_place() -> None:
    async with servers((Behaviour.STALL_FIRST, Behaviour.ANSWER)) as (llm,):
        desk = _Desk()
        token = PLACE.set(desk)
        await written(chain(llm.model))
        PLACE.reset(token)
        assert desk.away == 0
