"""Bases of chat models that ask other ones: what is asked for as a whole takes one way through them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from agents.llm.chat import ChatMessage, ChatModel, Part, Reply, StreamWatch, WordPair
from agents.llm.tools import Tool, ToolCall
from agents.types import Usage

# Asks a model for a reply as a whole, within so many seconds.
AskWhole = Callable[[ChatModel, float], Awaitable[tuple[Reply, Usage]]]


class WholeReplies(ABC):
    """A text, a choice and a call of a tool are asked for in the same way, which subclasses give as `_ask_whole`."""

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`."""
        return await self._ask_whole(messages, seconds, lambda model, left: model.complete(messages, left))

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `ChatModel.choose`."""
        return await self._ask_whole(messages, seconds, lambda model, left: model.choose(messages, words, left))

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """See `ChatModel.complete_or_call`."""
        return await self._ask_whole(
            messages, seconds, lambda model, left: model.complete_or_call(messages, tools, left)
        )

    @abstractmethod
    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        """Returns what a model replies. ask: is given the model, and how many of the seconds are left."""


class ModelWrapper(WholeReplies):
    """A chat model around another one. Subclasses add what happens before, during and after a request."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
        return self._model.stream(messages, *watches)

    async def close(self) -> None:
        """Closes the model."""
        await self._model.close()

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        return await ask(self._model, seconds)
