"""Generators and chat models by name. A provider is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agents.answering.meaning import Meaning
from agents.generator import Generator
from agents.llm.chat import ChatModel, ModelOptions
from agents.llm.writer import Objections
from agents.profile import TenantProfile
from agents.prompt_library import Prompts, load_shipped_prompts
from knowledge.errors import InvalidConfiguration
from knowledge.text import Analyzer


@dataclass(frozen=True, slots=True)
class GeneratorOptions:
    """What generators are built from."""

    # The tenant's.
    analyzer: Analyzer
    # Fragments cited at most.
    max_sources: int
    # Of a fragment in a prompt.
    max_chunk_chars: int = 800
    profile: TenantProfile = field(default_factory=TenantProfile)
    # The writer, for generators that need one.
    model: ChatModel | None = None
    # Of sentences, None chooses and checks by words alone.
    meaning: Meaning | None = None
    prompts: Prompts = field(default_factory=load_shipped_prompts)
    # To what it writes.
    objections: Objections | None = None


def _build_extractive_generator(options: GeneratorOptions) -> Generator:
    from agents.llm.extractive import ExtractiveGenerator

    return ExtractiveGenerator(options.analyzer, options.max_sources, options.meaning)


def _build_model_generator(options: GeneratorOptions) -> Generator:
    from agents.llm.writer import ModelGenerator

    if options.model is None:
        raise InvalidConfiguration("生成器 model 需要大模型：请设置 LLM_API_KEY 或 LLM_LOCAL_MODEL")
    limits = options.max_sources, options.max_chunk_chars
    return ModelGenerator(options.model, options.profile, *limits, options.prompts, options.objections, options.meaning)


GENERATORS: dict[str, Callable[[GeneratorOptions], Generator]] = {
    "extractive": _build_extractive_generator,
    "model": _build_model_generator,
}


def get_generator(name: str, options: GeneratorOptions) -> Generator:
    """Returns the generator of that name. Raises InvalidConfiguration."""
    if name not in GENERATORS:
        raise InvalidConfiguration(f"生成器 {name} 不存在，可选：{', '.join(GENERATORS)}")
    return GENERATORS[name](options)


def _build_endpoint_model(options: ModelOptions) -> ChatModel:
    from agents.llm.endpoint import EndpointModel

    return EndpointModel(options)


def _build_gguf_model(options: ModelOptions) -> ChatModel:
    from agents.llm.gguf import GgufModel

    return GgufModel(options, _build_endpoint_model)


MODELS: dict[str, Callable[[ModelOptions], ChatModel]] = {"openai": _build_endpoint_model, "gguf": _build_gguf_model}


def get_model(provider: str, options: ModelOptions) -> ChatModel:
    """Returns the chat model of that provider. Raises InvalidConfiguration, MissingDependency."""
    if provider not in MODELS:
        raise InvalidConfiguration(f"LLM_PROVIDER={provider} 不存在，可选：{', '.join(MODELS)}")
    return MODELS[provider](options)
