from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from agents.errors import GenerationRejected, GenerationUnavailable
from agents.llm.chat import ModelOptions
from agents.llm.endpoint import EndpointModel, _read_usage
from agents.types import Usage
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM
from tests.agents.models import Scripted, scripted

MESSAGES = [{"role": "user", "content": "你好"}]
OUTAGES = (
    Behaviour.STALL_FIRST,
    Behaviour.STALL_MIDWAY,
    Behaviour.DROP_FIRST,
    Behaviour.DROP_MIDWAY,
    Behaviour.TOO_MANY,
    Behaviour.BROKEN,
    Behaviour.GARBAGE_BODY,
    Behaviour.GARBAGE_STREAM,
    Behaviour.EMPTY,
)
MIDWAY = (Behaviour.STALL_MIDWAY, Behaviour.DROP_MIDWAY, Behaviour.GARBAGE_STREAM)


async def streamed(llm: Scripted) -> tuple[str, Usage]:
    text, usage = "", Usage()
    async for piece in llm.model.stream(MESSAGES):
        if isinstance(piece, str):
            text += piece
        elif isinstance(piece, Usage):
            usage += piece
    return text, usage


async def test_text_and_its_cost_are_streamed() -> None:
    async with scripted(Say("您好，请讲。")) as llm:
        assert await streamed(llm) == ("您好，请讲。", Usage(1, 2, 6))


async def test_a_token_is_passed_on_before_the_next_one_comes() -> None:
    async with scripted(Behaviour.STALL_MIDWAY, silence=30) as llm, aclosing(llm.model.stream(MESSAGES)) as pieces:
        assert [await anext(pieces), await anext(pieces)] == [Usage(calls=1), "你好"]


@pytest.mark.parametrize("fault", OUTAGES)
async def test_an_outage_is_an_error_that_says_try_again(fault: Behaviour) -> None:
    async with scripted(fault, Say("好的")) as llm:
        with pytest.raises(GenerationUnavailable):
            await streamed(llm)
        assert llm.server.requests == 1


@pytest.mark.parametrize("fault", sorted(set(OUTAGES) - set(MIDWAY)))
async def test_a_failure_before_the_first_token_is_tried_again(fault: Behaviour) -> None:
    async with scripted(fault, Say("好的"), retries=1) as llm:
        text, usage = await streamed(llm)
        assert (text, usage.calls) == ("好的", 2)


@pytest.mark.parametrize("fault", MIDWAY)
async def test_a_failure_after_the_first_token_is_not_tried_again(fault: Behaviour) -> None:
    async with scripted(fault, Say("好的"), retries=3) as llm:
        with pytest.raises(GenerationUnavailable):
            await streamed(llm)
        assert llm.server.requests == 1


async def test_a_wrong_key_is_not_tried_again() -> None:
    async with scripted(Behaviour.UNAUTHORIZED, retries=3) as llm:
        with pytest.raises(GenerationRejected):
            await streamed(llm)
        assert llm.server.requests == 1


async def test_nobody_listening_is_an_outage() -> None:
    async with scripted() as llm:
        await llm.server.close()
        with pytest.raises(GenerationUnavailable):
            await streamed(llm)


async def test_a_short_reply_comes_as_a_whole() -> None:
    async with scripted(Say("改写后的问题")) as llm:
        assert await llm.model.complete(MESSAGES, 1.0) == ("改写后的问题", Usage(1, 2, 6))


@pytest.mark.parametrize("fault", [*OUTAGES[:-1], Behaviour.UNAUTHORIZED])
async def test_no_fault_of_a_short_reply_is_a_reply(fault: Behaviour) -> None:
    async with scripted(fault) as llm:
        with pytest.raises((GenerationUnavailable, GenerationRejected)):
            await llm.model.complete(MESSAGES, 0.3)


async def test_blocked_content_is_not_tried_again() -> None:
    async with scripted(Say("好的"), retries=3) as llm:
        llm.server.finish = "content_filter"
        with pytest.raises(GenerationRejected):
            await streamed(llm)
        assert llm.server.requests == 1


async def test_connections_are_kept_between_replies() -> None:
    async with scripted(Say("好的")) as llm:
        for _ in range(3):
            assert (await streamed(llm))[0] == "好的"
        assert llm.server.connections == 1


async def test_how_long_a_whole_reply_may_take_its_caller_says_alone() -> None:
    async with ScriptedLLM(Say("好"), first_token_delay=0.4) as server:
        model = EndpointModel(ModelOptions("slow", server.base_url, "key", silence=0.1, total=0.1))
        try:
            assert (await model.complete(MESSAGES, 20.0))[0] == "好"
            with pytest.raises(GenerationUnavailable):
                await model.complete(MESSAGES, 0.1)
        finally:
            await model.close()


@pytest.mark.parametrize(
    "told", [{"prompt_tokens_details": {"cached_tokens": 280}}, {"prompt_cache_hit_tokens": 280}, {}]
)
def test_what_a_provider_had_computed_before_is_counted(told: dict[str, Any]) -> None:
    usage = _read_usage({"usage": {"prompt_tokens": 400, "completion_tokens": 5} | told})
    assert usage == Usage(0, 400, 5, 280 if told else 0)
