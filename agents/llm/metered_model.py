"""A chat model whose usage is recorded, and that is not asked once a budget is used up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from agents.errors import CircuitOpen, GenerationError, UnreadableReply
from agents.llm.chat import ChatMessage, ChatModel, Part, Reply, StreamWatch
from agents.llm.model_wrapper import AskWhole, ModelWrapper
from agents.types import Usage


class Meter(Protocol):
    """The budget of one tenant."""

    async def allow(self) -> None:
        """Raises BudgetExhausted where nothing more may be asked."""

    def record_usage(self, model: str, usage: Usage) -> None:
        """Records what was used, at once or soon."""

    def count_unreadable(self, provider: str, model: str) -> None:
        """Counts a reply that could not be read, whether it is asked for again or not."""


class MeteredModel(ModelWrapper):
    """Asks the meter before every request, and records its cost, of failed requests too. All requests raise
    BudgetExhausted where nothing more may be asked.
    """

    def __init__(self, model: ChatModel, meter: Meter) -> None:
        super().__init__(model)
        self._meter = meter

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
        return self._model.stream(messages, *watches, self._watch_stream())

    @asynccontextmanager
    async def _watch_stream(self) -> AsyncIterator[Callable[[Part], None]]:
        await self._meter.allow()

        def record_part(part: Part) -> None:
            if isinstance(part, Usage):
                self._meter.record_usage(self.name, part)

        yield record_part

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        await self._meter.allow()
        try:
            reply, usage = await ask(self._model, seconds)
        except CircuitOpen:
            raise
        except GenerationError as error:
            used = None
            if isinstance(error, UnreadableReply):
                used = error.usage
                self._meter.count_unreadable(error.provider, self.name)
            self._meter.record_usage(self.name, used or Usage(calls=1))
            raise
        self._meter.record_usage(self.name, usage)
        return reply, usage
