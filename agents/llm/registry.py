"""Generators by name. A provider is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.llm.base import Generator
from knowledge.errors import InvalidConfiguration


@dataclass(frozen=True, slots=True)
class GeneratorOptions:
    """What providers are built from. tokens: the tenant's analyzer; max_sources: fragments cited at most."""

    tokens: Callable[[str], Sequence[str]]
    max_sources: int


def _extractive(options: GeneratorOptions) -> Generator:
    from agents.llm.extractive import ExtractiveGenerator

    return ExtractiveGenerator(options.tokens, options.max_sources)


GENERATORS: dict[str, Callable[[GeneratorOptions], Generator]] = {"extractive": _extractive}


def get_generator(name: str, options: GeneratorOptions) -> Generator:
    """The generator of that name. Raises InvalidConfiguration."""
    if name not in GENERATORS:
        raise InvalidConfiguration(f"生成器 {name} 不存在，可选：{', '.join(GENERATORS)}")
    return GENERATORS[name](options)
