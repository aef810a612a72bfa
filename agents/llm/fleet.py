"""Several chat models as one: asked in order, those out of order left out."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from agents.errors import CircuitOpen, GenerationError, GenerationUnavailable, UnreadableReply
from agents.llm.breaker import CircuitBreaker
from agents.llm.chat import ChatMessage, ChatModel, Part, Reply, StreamWatch, WordPair, enter_watches
from agents.llm.tools import Tool, ToolCall
from agents.types import Thinking, Usage


class GuardedModel:
    """A chat model behind its circuit breaker."""

    def __init__(self, model: ChatModel, breaker: CircuitBreaker, patience: float, slow: float | None = None) -> None:
        """Args:
        model: the chat model.
        breaker: its circuit breaker.
        patience: seconds after which silence is an outage; a request with less may well be late.
        slow: seconds of silence after which a request that nobody waits for any more counts as a failure, None
            for never: a model
            that always loses to another one should not be asked first.
        """
        self.name, self.breaker = model.name, breaker
        self._model, self._patience, self._slow = model, patience, slow

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`. Raises CircuitOpen."""
        return self._model.stream(messages, *watches, self._watch_stream())

    @asynccontextmanager
    async def _watch_stream(self) -> AsyncIterator[Callable[[Part], None]]:
        silent_since: float | None = time.monotonic()

        def end_silence(part: Part) -> None:
            nonlocal silent_since
            if isinstance(part, str | Thinking):
                silent_since = None

        with self.breaker.watch(slow=lambda: self._is_too_slow(silent_since)):
            yield end_silence

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`. Raises CircuitOpen."""
        with self.breaker.watch(patient=seconds >= self._patience):
            return await self._model.complete(messages, seconds)

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `ChatModel.choose`. Raises CircuitOpen."""
        with self.breaker.watch(patient=seconds >= self._patience):
            return await self._model.choose(messages, words, seconds)

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """See `ChatModel.complete_or_call`."""
        with self.breaker.watch(patient=seconds >= self._patience):
            return await self._model.complete_or_call(messages, tools, seconds)

    async def close(self) -> None:
        """Closes the model."""
        await self._model.close()

    def _is_too_slow(self, silent_since: float | None) -> bool:
        waited = time.monotonic() - silent_since if silent_since is not None else 0.0
        return self._slow is not None and waited >= self._slow


class ModelFleet:
    """The first model that succeeds. One that fails after its first word is left to the caller, who may have passed the
    word on.

    The builder of the models closes them; `close` does so for models that nobody else closes.
    """

    def __init__(self, models: Sequence[ChatModel]) -> None:
        """models: the best first."""
        if not models:
            raise ValueError("there has to be a model")
        self.models = tuple(models)
        self.name = self.models[0].name

    async def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
        async with enter_watches(watches) as see:
            for model in self.models:
                started = False
                try:
                    async with aclosing(model.stream(messages)) as parts:
                        async for part in parts:
                            started = started or isinstance(part, str)
                            see(part)
                            yield part
                    return
                except GenerationError:
                    if started or model is self.models[-1]:
                        raise

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`; seconds: for all of them together."""
        return await self._ask_first(lambda model, left: model.complete(messages, left), seconds)

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `ChatModel.choose`; seconds: for all of them together."""
        return await self._ask_first(lambda model, left: model.choose(messages, words, left), seconds)

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """See `ChatModel.complete_or_call`; seconds: for all of them together."""
        return await self._ask_first(lambda model, left: model.complete_or_call(messages, tools, left), seconds)

    async def _ask_first(
        self, ask: Callable[[ChatModel, float], Awaitable[tuple[Reply, Usage]]], seconds: float
    ) -> tuple[Reply, Usage]:
        deadline, spent = time.monotonic() + seconds, Usage()
        for model in self.models:
            try:
                reply, usage = await ask(model, deadline - time.monotonic())
                return reply, spent + usage
            except CircuitOpen:
                if model is self.models[-1]:
                    raise
            except GenerationError as error:
                if model is self.models[-1] or time.monotonic() >= deadline:
                    raise
                used = error.usage if isinstance(error, UnreadableReply) else None
                spent += used or Usage(calls=1)
        raise GenerationUnavailable(f"{self.name}: no model")

    async def close(self) -> None:
        """Closes all of them."""
        for model in self.models:
            await model.close()
