"""Several chat models as one: asked in order, those out of order left out."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from agents.errors import CircuitOpen, GenerationError, GenerationUnavailable, UnreadableReply
from agents.llm.breaker import CircuitBreaker
from agents.llm.chat import ChatMessage, ChatModel, Part, Reply, StreamWatch, enter_watches
from agents.llm.model_wrapper import AskWhole, ModelWrapper, WholeReplies
from agents.types import Thinking, Usage


class GuardedModel(ModelWrapper):
    """A chat model behind its circuit breaker. All requests raise CircuitOpen where it failed too often."""

    def __init__(self, model: ChatModel, breaker: CircuitBreaker, patience: float, slow: float | None = None) -> None:
        """Args:
        model: the chat model.
        breaker: its circuit breaker.
        patience: seconds after which silence is an outage; a request with less may well be late.
        slow: seconds of silence after which a request that nobody waits for any more counts as a failure, None
            for never: a model
            that always loses to another one should not be asked first.
        """
        super().__init__(model)
        self.breaker = breaker
        self._patience, self._slow = patience, slow

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
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

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        with self.breaker.watch(patient=seconds >= self._patience):
            return await ask(self._model, seconds)

    def _is_too_slow(self, silent_since: float | None) -> bool:
        waited = time.monotonic() - silent_since if silent_since is not None else 0.0
        return self._slow is not None and waited >= self._slow


class ModelFleet(WholeReplies):
    """The first model that succeeds. One that fails after its first word is left to the caller, who may have passed the
    word on. The seconds for a whole reply are for all of them together.

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

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
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
