from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents.generator import Generator
from agents.llm.chat import ModelOptions
from agents.llm.fallback import FallbackGenerator
from agents.llm.registry import GENERATORS, GeneratorOptions, get_generator, get_model
from scripts.scripted_llm import Behaviour
from tests.agents.models import scripted
from tests.agents.support import ANALYZER
from tests.contracts.generators import GeneratorContract
from tests.gguf_model import instruct_file


class TestExtractive(GeneratorContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Generator]:
        yield get_generator("extractive", GeneratorOptions(ANALYZER, 3))


class TestEndpoint(GeneratorContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Generator]:
        async with scripted(Behaviour.OBEY) as llm:
            yield get_generator("model", GeneratorOptions(ANALYZER, 3, model=llm.model))


class TestGguf(GeneratorContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Generator]:
        model = get_model("gguf", ModelOptions(str(instruct_file()), silence=60.0, threads=1))
        yield get_generator("model", GeneratorOptions(ANALYZER, 3, model=model))
        await model.close()


class TestFallback(GeneratorContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Generator]:
        async with scripted(Behaviour.DROP_MIDWAY) as llm:
            options = GeneratorOptions(ANALYZER, 3, model=llm.model)
            yield FallbackGenerator([get_generator("model", options)], get_generator("extractive", options))


async def test_every_generator_keeps_the_contract() -> None:
    covered = set()
    for contract in GeneratorContract.__subclasses__():
        async with contract().opened() as generator:
            covered.add(generator.name)
    assert covered == {*GENERATORS, FallbackGenerator.name}
