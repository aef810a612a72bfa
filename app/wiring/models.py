"""The language models of one process, and what is built on them. Without a key everything works without them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import replace
from typing import Any, Self

from agents.answering.meaning import Meaning
from agents.claim_reader import ClaimReader
from agents.generator import Generator, Request
from agents.judge import ReaderOptions
from agents.llm.breaker import CircuitBreaker
from agents.llm.calls import RecordedModel
from agents.llm.chat import ChatModel, ModelOptions
from agents.llm.critique import Critic
from agents.llm.fallback import FallbackGenerator
from agents.llm.faq_drafter import FaqDrafter
from agents.llm.fleet import GuardedModel, ModelFleet
from agents.llm.metered_model import MeteredModel
from agents.llm.profiles import find_profile
from agents.llm.question_writer import QuestionWriter
from agents.llm.race import Patience
from agents.llm.registry import get_generator, get_model
from agents.llm.structured_model import StructuredModel
from agents.llm.writer import Objections
from agents.model_reading import ModelReader
from agents.profile import TenantProfile
from agents.prompt_library import Prompts
from agents.reader import PassageReader
from agents.types import Usage
from agents.verifier import Verifier, VerifierPolicy
from app.configuration.models import FIRST, GGUF, READING, SMALL, LlmProvider, parse_thinks
from app.prompts.library import PromptLibrary
from app.retrieval import build_generator_options
from app.settings import Settings
from app.spending.service import Accounts
from knowledge.breaker import BreakerOptions
from knowledge.text import Analyzer

# Of a model's patience: silence for so long tells something, whoever ends it.
_SLOW = 0.9


class LanguageModels:
    """`writers` write the answers, one after the other; `main` is all of them for replies that come as a whole. `small`
    reads messages and replies, those of LLM_PROVIDERS stand in for it; at another endpoint it stands in for the first
    writer too.

    A turn costs three requests at most where nothing fails: one to understand the question, then one for the answer and
    one to read it again, or two attempts at the answer.
    """

    def __init__(self, settings: Settings, accounts: Accounts | None = None) -> None:
        """accounts: of what tenants spend; None for what no tenant asks."""
        self._opened, self.accounts = AsyncExitStack(), accounts
        self.library = PromptLibrary(settings.prompts_dir, settings.prompts_ttl)
        self.prompts = self.library.get_current()
        self._local_models: dict[str, ChatModel] = {}
        # Grows whenever others are asked.
        self.version = 0
        self._build(settings)

    def replace_models(self, settings: Settings) -> None:
        """Replaces the models by those of other settings. What is under way ends with the models before, which are
        closed in the end.
        """
        self.version += 1
        self._build(settings)

    def _build(self, settings: Settings) -> None:
        self._settings = settings
        self.breakers: dict[str, CircuitBreaker] = {}
        first = self._build_first()
        further = [self._build_further(provider) for provider in settings.llm_providers]
        self.writers = [*first, *further]
        self.main: ModelFleet | None = ModelFleet(self.writers) if self.writers else None
        small = self._build_small()
        readers = [small, *further] if small is not None else self.writers
        self.small: ModelFleet | None = ModelFleet(readers) if readers else None
        self.judge = self._build_judge()
        if small is not None and self._elsewhere and self.writers:
            self.writers.insert(1, small)

    def for_tenant(self, tenant: str, prompts: Prompts | None = None) -> LanguageModels:
        """Returns the same models on a tenant's account and within its budget. prompts: None for those in force."""
        own = copy(self)
        own.prompts = prompts or self.library.get_current()
        if self.accounts is None:
            return own
        meter = self.accounts.get_meter(tenant)

        def wrap_metered(models: Sequence[ChatModel]) -> list[ChatModel]:
            return [MeteredModel(model, meter) for model in models]

        own.writers = wrap_metered(self.writers)
        own.main = ModelFleet(wrap_metered(self.main.models)) if self.main is not None else None
        own.small = ModelFleet(wrap_metered(self.small.models)) if self.small is not None else None
        own.judge = ModelFleet(wrap_metered(self.judge.models)) if self.judge is not None else None
        return own

    @property
    def title(self) -> str:
        """Of all that are asked, for what depends on them."""
        return " ".join(self.names)

    @property
    def names(self) -> list[str]:
        """Of all that are asked; one may be there several times."""
        fleets = (self.main, self.small, self.judge)
        return [model.name for fleet in fleets if fleet is not None for model in fleet.models]

    @property
    def present(self) -> bool:
        """Whether anything is sent to a model at all."""
        return self.main is not None or self.small is not None

    def build_generator(
        self,
        analyzer: Analyzer,
        profile: TenantProfile,
        meaning: Meaning | None = None,
        *,
        believes: Callable[[Request], bool] = lambda _: True,
        writes: Callable[[], bool] = lambda: True,
        objections: Objections | None = None,
    ) -> Generator:
        """Builds the generator: models in order of preference, in the end or alone quotes from the knowledge base.
        meaning: of what is quoted; believes, writes: see `FallbackGenerator`; objections: to what is written.
        """
        options = build_generator_options(self._settings, analyzer, profile, meaning=meaning, prompts=self.prompts)
        options = replace(options, objections=objections)
        quotes = get_generator("extractive", options)

        def build_writer(model: ChatModel) -> Generator:
            return get_generator("model", replace(options, model=model))

        if not self.writers or self._settings.llm_answers == "quote":
            return quotes
        return FallbackGenerator(list(map(build_writer, self.writers)), quotes, self._patience, believes, writes)

    def build_understanding(self, analyzer: Analyzer, trusted: Callable[[], bool] = lambda: True) -> ModelReader | None:
        """Builds what reads messages in their conversation, leaving the tenant's names as they are; None where no model
        does. trusted: whether it is asked.
        """
        if not self._settings.rewrite_enabled or self.small is None:
            return None
        return ModelReader(self.small, self._settings.rewrite_timeout, analyzer, self.prompts, trusted)

    def build_critic(self) -> Critic | None:
        """Builds the judge of replies; None where there is no model."""
        if self.small is None:
            return None
        return Critic(self.small, self._settings.verify_timeout, self._settings.max_chunk_chars, self.prompts)

    def build_reader(self) -> PassageReader | None:
        """Builds the judge of whether passages state an answer; None where no model does."""
        if self.judge is None:
            return None
        return PassageReader(self.judge, self._reader_options, self.prompts)

    def claim_reader(self) -> ClaimReader | None:
        """Judges by what writes, sentence by sentence, what was written; None where no model judges or none writes."""
        settings = self._settings
        asked = settings.llm_answers == "auto" or (settings.llm_answers == "write" and settings.verify_enabled)
        if self.main is None or not (asked and settings.reader_enabled):
            return None
        return ClaimReader(self.main, self._reader_options, self.prompts)

    def build_drafter(self) -> FaqDrafter | None:
        """Builds the writer of drafts of curated answers; None where no model writes."""
        return FaqDrafter(self.main, self._settings.llm_timeout, self.prompts) if self.main is not None else None

    def build_judges(self, tenant: str) -> tuple[PassageReader | None, QuestionWriter | None]:
        """Builds the judge of passages and the writer of questions about them, for a tenant."""
        own = self.for_tenant(tenant)
        return own.build_reader(), own.build_question_writer()

    def build_question_writer(self) -> QuestionWriter | None:
        """Builds the writer of questions about passages; None where there is no model."""
        writer = self.main or self.judge
        return QuestionWriter(writer, self._settings.llm_timeout, self.prompts) if writer is not None else None

    def build_verifier(self, trusted: Callable[[], bool] = lambda: True) -> Verifier | None:
        """Builds what reads once more what a model wrote; None where no model writes. trusted: whether what a model
        says of it counts.
        """
        if self.small is None:
            return None
        settings = self._settings
        policy = VerifierPolicy(settings.min_quality, settings.min_relevance)
        return Verifier(self.build_critic() if settings.verify_enabled else None, policy, trusted)

    @property
    def _reader_options(self) -> ReaderOptions:
        settings = self._settings
        return ReaderOptions(settings.reader_passages, settings.reader_timeout, settings.max_chunk_chars)

    @property
    def _patience(self) -> Patience:
        """With one answer. Nobody is asked beside a local model: it is slow by nature, and what it reads stays here."""
        settings, further = self._settings, self._settings.llm_providers
        first = (settings.llm_first_token_timeout, *(one.first_token_timeout or 0.0 for one in further))
        total = (settings.llm_timeout, *(one.timeout or 0.0 for one in further))
        hedge = 0.0 if settings.llm_provider == "gguf" else settings.llm_hedge_seconds
        return Patience(hedge, max(first), max(total))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the connections, or lets a local model go; one that fails at it keeps none of the others open."""
        await self._opened.aclose()

    def _build_first(self) -> list[ChatModel]:
        """Builds the model of the provider that has settings of its own, if it is set."""
        settings = self._settings
        key = settings.llm_api_key.get_secret_value()
        if settings.llm_provider == "gguf":  # waits and tries again by itself
            return [self._get_local(settings.llm_local_model)]
        if not key:
            return []
        alone = not (self._elsewhere or settings.llm_providers)
        retries = settings.llm_retries if alone else 0
        return [
            self._build_guarded(
                FIRST, self._build_first_options(settings.llm_model, settings.llm_address, key, retries)
            )
        ]

    def _build_small(self) -> ChatModel | None:
        """Builds the small model, which reads; without a key or name of its own it is the first writer's endpoint."""
        settings = self._settings
        key = settings.small_llm_api_key.get_secret_value()
        if not key and (settings.llm_provider == "gguf" or not settings.llm_api_key):
            return None
        key = key or settings.llm_api_key.get_secret_value()
        address = settings.small_llm_base_url or settings.llm_address
        name = settings.small_llm_model or settings.llm_model
        return self._build_guarded(SMALL, self._build_first_options(name, address, key))

    def _build_judge(self) -> ModelFleet | None:
        """Builds the judge of passages: the model that READER_MODEL names, where the small one is asked or in a file;
        else the small one.
        """
        settings = self._settings
        if not settings.reader_enabled:
            return None
        if not settings.reader_model:
            return self.small
        if settings.reader_model.endswith(GGUF):
            return ModelFleet([self._get_local(settings.reader_model)])
        key = (settings.small_llm_api_key or settings.llm_api_key).get_secret_value()
        address = settings.small_llm_base_url or settings.llm_address
        return (
            ModelFleet([self._build_guarded(READING, self._build_first_options(settings.reader_model, address, key))])
            if key
            else None
        )

    @property
    def _elsewhere(self) -> bool:
        """Whether what reads could also write when the first writer fails."""
        settings = self._settings
        if settings.llm_provider == "gguf":
            return bool(settings.small_llm_api_key)
        return bool(settings.llm_api_key) and settings.small_llm_base_url not in ("", settings.llm_address)

    def _build_further(self, provider: LlmProvider) -> ChatModel:
        """Builds one of the models that follow the first."""
        options = self._build_options(
            provider.model,
            base_url=provider.address,
            api_key=provider.api_key.get_secret_value(),
            silence=provider.first_token_timeout or self._settings.llm_first_token_timeout,
            total=provider.timeout or self._settings.llm_timeout,
            max_tokens=provider.max_tokens or self._settings.llm_max_tokens,
            profile=provider.profile_name,
            parameters=provider.parameters,
            thinks=parse_thinks(provider.thinks),
        )
        return self._build_guarded(provider.title, options)

    def _build_first_options(self, name: str, address: str, key: str, retries: int = 0) -> ModelOptions:
        """Builds the options of a model at the first provider's address, with that provider's habits."""
        settings = self._settings
        options: dict[str, Any] = {"base_url": address, "api_key": key, "retries": retries}
        if address != settings.llm_address:
            return self._build_options(name, **options)
        return self._build_options(
            name,
            profile=settings.llm_profile_name,
            parameters=settings.llm_parameters,
            thinks=parse_thinks(settings.llm_thinks),
            **options,
        )

    def _build_options(self, name: str, **options: Any) -> ModelOptions:
        settings = self._settings
        common = ModelOptions(
            name,
            silence=settings.llm_first_token_timeout,
            total=settings.llm_timeout,
            max_tokens=settings.llm_max_tokens,
            queue=settings.llm_local_queue,
            threads=settings.llm_local_threads,
        )
        return replace(common, **options)

    def _get_local(self, path: str) -> ChatModel:
        """Returns the local model of a file: one process for it, whoever asks."""
        if path not in self._local_models:
            self._local_models[path] = self._open_model("gguf", self._build_options(path))
        return self._local_models[path]

    def _build_guarded(self, name: str, options: ModelOptions) -> ChatModel:
        settings = self._settings
        rules = BreakerOptions(settings.llm_breaker_failures, settings.llm_breaker_seconds)
        breaker = self.breakers[name] = CircuitBreaker(name, options.name, rules)
        slow = min(settings.llm_hedge_seconds or math.inf, _SLOW * options.silence)
        return GuardedModel(self._open_model("openai", options), breaker, options.silence, slow)

    def _open_model(self, provider: str, options: ModelOptions) -> ChatModel:
        model = StructuredModel(get_model(provider, options))
        self._opened.push_async_callback(model.close)
        whose = options.profile or find_profile(options.base_url) if options.base_url else provider
        price = self._settings.llm_prices.get(options.name)
        return RecordedModel(model, whose, price.compute_cost if price is not None else _return_no_cost)


def _return_no_cost(_: Usage) -> float:
    """Returns the cost of a model without a price."""
    return 0.0
