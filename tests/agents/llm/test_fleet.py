from __future__ import annotations

import pytest

from agents.errors import CircuitOpen, GenerationLate, GenerationUnavailable
from agents.generator import Degraded, Spent
from agents.llm.breaker import CircuitBreaker
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.fallback import FallbackGenerator
from agents.llm.fleet import GuardedModel, ModelFleet
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from knowledge.breaker import BreakerOptions, BreakerState
from scripts.scripted_llm import Behaviour, Say
from tests.agents.models import RETURNS, Scripted, reply_of, request, scripted
from tests.agents.support import ANALYZER, collect_pieces

MESSAGES = [{"role": "user", "content": "你好"}]


def guarded(llm: Scripted, failures: int = 2) -> GuardedModel:
    return GuardedModel(llm.model, CircuitBreaker("one", "m", BreakerOptions(failures, 3600.0)), patience=5.0)


async def test_an_open_breaker_sends_nothing() -> None:
    async with scripted(Behaviour.BROKEN) as llm:
        model = guarded(llm)
        for _ in range(2):
            with pytest.raises(GenerationUnavailable):
                [_ async for _ in model.stream(MESSAGES)]
        for _ in range(3):
            with pytest.raises(CircuitOpen):
                [_ async for _ in model.stream(MESSAGES)]
            with pytest.raises(CircuitOpen):
                await model.complete(MESSAGES, 60.0)
        assert llm.server.requests == 2


async def test_short_requests_that_are_late_close_no_door_to_answers() -> None:
    async with scripted(Behaviour.STALL_FIRST, Behaviour.STALL_FIRST, Say("好的"), silence=60.0) as llm:
        model = guarded(llm)
        for _ in range(2):
            with pytest.raises(GenerationLate):
                await model.complete(MESSAGES, 0.1)
        assert model.breaker.state is BreakerState.CLOSED


async def test_whoever_leaves_is_no_failure() -> None:
    async with scripted(Behaviour.STALL_MIDWAY, silence=60.0) as llm:
        model = guarded(llm, failures=1)
        pieces = model.stream(MESSAGES)
        async for piece in pieces:
            if isinstance(piece, str):
                break
        await pieces.aclose()
        assert model.breaker.state is BreakerState.CLOSED


async def test_the_next_is_asked_where_one_fails() -> None:
    async with scripted(Behaviour.BROKEN) as first, scripted(Say("好的")) as second:
        fleet = ModelFleet([guarded(first), guarded(second)])
        reply, usage = await fleet.complete(MESSAGES, 60.0)
        assert (reply, usage.calls) == ("好的", 2)
        text = [piece async for piece in fleet.stream(MESSAGES) if isinstance(piece, str)]
        assert "".join(text) == "好的"
        reply, usage = await fleet.complete(MESSAGES, 60.0)
        assert (reply, usage.calls) == ("好的", 1)
        assert first.server.requests == 2


async def test_after_the_first_word_nobody_else_takes_over() -> None:
    async with scripted(Behaviour.DROP_MIDWAY) as first, scripted(Say("好的")) as second:
        with pytest.raises(GenerationUnavailable):
            [_ async for _ in ModelFleet([guarded(first), guarded(second)]).stream(MESSAGES)]
        assert second.server.requests == 0


async def test_answers_go_down_the_order_and_then_to_quotes() -> None:
    async with scripted(Behaviour.BROKEN) as first, scripted(Behaviour.ANSWER, Behaviour.BROKEN) as second:
        models = [guarded(first, failures=1), guarded(second, failures=1)]
        writers = [ModelGenerator(model, TenantProfile(), 3, 800) for model in models]
        chain = FallbackGenerator(writers, ExtractiveGenerator(ANALYZER, 3))
        for reply, calls in (("退款在验货后 1～5 个工作日内到账。[0]", 2), (f"{RETURNS}[0]", 1), (f"{RETURNS}[0]", 0)):
            pieces = await collect_pieces(chain, request(RETURNS))
            assert reply_of(pieces) == reply
            assert [piece for piece in pieces if isinstance(piece, Degraded)] == [Degraded("llm")]
            assert sum(piece.usage.calls for piece in pieces if isinstance(piece, Spent)) == calls
