from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from agents.llm.breaker import CircuitBreaker
from agents.llm.chat import ChatModel, ModelOptions
from agents.llm.fleet import GuardedModel, ModelFleet
from agents.llm.registry import MODELS, get_model
from knowledge.breaker import BreakerOptions
from knowledge.errors import InvalidConfiguration
from scripts.scripted_llm import Behaviour, Say
from tests.agents.models import scripted
from tests.contracts.chat_models import ChatModelContract, closing
from tests.gguf_model import REPLY, instruct_file


class TestEndpoint(ChatModelContract):
    name = "openai"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ChatModel]:
        async with scripted(*[Say(REPLY)] * 5) as llm:
            yield llm.model

    @asynccontextmanager
    async def broken(self) -> AsyncIterator[ChatModel]:
        async with scripted(Behaviour.BROKEN, Behaviour.BROKEN) as llm:
            yield llm.model


class TestThinkingEndpoint(TestEndpoint):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ChatModel]:
        async with scripted(Say(f"<think>先想想。</think>\n\n{REPLY}")) as llm:
            yield llm.model


class TestFleet(TestEndpoint):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ChatModel]:
        async with scripted(Say(REPLY)) as llm:
            breaker = CircuitBreaker("llm", "scripted", BreakerOptions())
            yield ModelFleet([GuardedModel(llm.model, breaker, 20.0)])

    @asynccontextmanager
    async def broken(self) -> AsyncIterator[ChatModel]:
        async with scripted(Behaviour.BROKEN) as first, scripted(Behaviour.DROP_FIRST) as second:
            yield ModelFleet([first.model, second.model])


class TestGguf(ChatModelContract):
    name = "gguf"

    def opened(self) -> AbstractAsyncContextManager[ChatModel]:
        return closing(get_model("gguf", ModelOptions(str(instruct_file()), silence=60.0, threads=1)))

    def broken(self) -> AbstractAsyncContextManager[ChatModel]:
        return closing(get_model("gguf", ModelOptions("nowhere/at-all.gguf")))


def test_every_chat_model_keeps_the_contract() -> None:
    assert {contract.name for contract in ChatModelContract.__subclasses__()} == set(MODELS)


def test_an_unknown_provider_names_the_setting_and_the_choices() -> None:
    with pytest.raises(InvalidConfiguration, match=r"LLM_PROVIDER=magic.*gguf"):
        get_model("magic", ModelOptions("model"))
