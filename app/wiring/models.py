"""The language models of one process, and what is built on them. Without a key everything works without them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Self

from agents.answering.meaning import Meaning
from agents.generator import Generator
from agents.llm.chat import ChatModel, ModelOptions
from agents.llm.critique import Critic
from agents.llm.fallback import FallbackGenerator
from agents.llm.registry import get_generator, get_model
from agents.model_reading import ModelUnderstanding
from agents.profile import TenantProfile
from agents.verifier import Verifier, VerifierPolicy
from app.configuration.models import told
from app.retrieval import generator_options
from app.settings import Settings
from knowledge.text import Analyzer


class LanguageModels:
    """`main` writes the answers, `small` reads messages and replies; at another endpoint it stands in for `main` too.

    A turn costs three requests at most: one to understand the question, then one for the answer and one to read it
    again, or two attempts at the answer.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._opened = settings, AsyncExitStack()
        key = settings.llm_api_key.get_secret_value()
        local = settings.llm_provider == "local"
        small_key = settings.small_llm_api_key.get_secret_value() or ("" if local else key)
        address = settings.llm_address
        small_url = settings.small_llm_base_url or address
        small_name = settings.small_llm_model or settings.llm_model
        self.main: ChatModel | None = None
        self.small: ChatModel | None = None
        if local:
            self._elsewhere = bool(small_key)
            self.main = self.small = self._model("local", settings.llm_local_model)
        else:
            self._elsewhere = bool(key) and small_url != address
            retries = 0 if self._elsewhere else settings.llm_retries
            if key:
                self.main = self._model("openai", settings.llm_model, address, key, retries)
        if small_key:
            self.small = self._model("openai", small_name, small_url, small_key)

    @property
    def present(self) -> bool:
        """Whether anything is sent to a model at all."""
        return self.main is not None or self.small is not None

    def generator(self, analyzer: Analyzer, profile: TenantProfile, meaning: Meaning | None = None) -> Generator:
        """Models in order of preference, quotes from the knowledge base in the end; meaning: of what is quoted."""
        quotes = get_generator("extractive", generator_options(self._settings, analyzer, profile, meaning=meaning))
        if self.main is None:
            return quotes

        def writer(model: ChatModel) -> Generator:
            return get_generator("model", generator_options(self._settings, analyzer, profile, model))

        standby = [writer(self.small)] if self.small is not None and self._elsewhere else []
        return FallbackGenerator([writer(self.main), *standby, quotes])

    def understanding(self, analyzer: Analyzer) -> ModelUnderstanding | None:
        """Reads messages in their conversation, and leaves the tenant's names as they are; None where no model does."""
        if not self._settings.rewrite_enabled or self.small is None:
            return None
        return ModelUnderstanding(self.small, self._settings.rewrite_timeout, analyzer.protected_in)

    def critic(self) -> Critic | None:
        """Judges replies; None where there is no model."""
        if self.small is None:
            return None
        return Critic(self.small, self._settings.verify_timeout, self._settings.max_chunk_chars)

    def verifier(self) -> Verifier | None:
        """Reads once more what a model wrote; None where no model writes."""
        if self.small is None:
            return None
        settings = self._settings
        policy = VerifierPolicy(settings.min_quality, settings.min_relevance)
        return Verifier(self.critic() if settings.verify_enabled else None, policy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the connections, or lets a local model go; one that fails at it keeps none of the others open."""
        await self._opened.aclose()

    def _model(self, provider: str, name: str, base_url: str = "", api_key: str = "", retries: int = 0) -> ChatModel:
        settings = self._settings
        first = base_url == settings.llm_address
        options = ModelOptions(
            name,
            base_url,
            api_key,
            silence=settings.llm_first_token_timeout,
            total=settings.llm_timeout,
            retries=retries,
            max_tokens=settings.llm_max_tokens,
            queue=settings.llm_local_queue,
            profile=settings.llm_profile_name if first else "",
            parameters=settings.llm_parameters if first else {},
            thinks=told(settings.llm_thinks) if first else None,
        )
        model = get_model(provider, options)
        self._opened.push_async_callback(model.close)
        return model
