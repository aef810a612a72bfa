from __future__ import annotations

from agents.llm.base import Generator
from agents.llm.registry import GENERATORS, GeneratorOptions, get_generator
from tests.agents.support import ANALYZER
from tests.contracts.generators import GeneratorContract


class TestExtractive(GeneratorContract):
    def generator(self) -> Generator:
        return get_generator("extractive", GeneratorOptions(ANALYZER.tokens, 3))


def test_every_generator_keeps_the_contract() -> None:
    covered = {contract().generator().name for contract in GeneratorContract.__subclasses__()}
    assert covered == set(GENERATORS)
