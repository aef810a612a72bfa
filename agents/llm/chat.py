"""The interface of a chat model, wherever it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from agents.llm.tools import Tool, ToolCall
from agents.types import Thinking, Usage

# `role` and `content`.
ChatMessage = dict[str, str]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a chat model."""

    # Of the model at the endpoint, or its file.
    name: str
    # base_url and api_key: of the endpoint.
    base_url: str = ""
    api_key: str = ""
    # Seconds until the first token and between two.
    silence: float = 10.0
    # Seconds of one reply, retries included.
    total: float = 60.0
    # After a failure before the first token.
    retries: int = 1
    # Of a reply.
    max_tokens: int = 1024
    # Requests that wait for a local model, besides those that it computes.
    queue: int = 8
    # Of a local model, 0 for as many as cores are idle.
    threads: int = 0
    # Of `agents.llm.profiles`, empty for the one of base_url.
    profile: str = ""
    # Further fields of a request, which replace the profile's.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Whether the text may begin within thoughts that no tag opens, None for what profile and name say.
    thinks: bool | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The reply ended at the limit of tokens, perhaps within a sentence."""


# Two replies to choose between; their first characters differ.
WordPair = tuple[str, str]
# The log-odds of a choice that was made in words: right about 95 times of 100.
CERTAIN = 3.0

# What a model is asked for as a whole: a text, or a choice.
Reply = TypeVar("Reply")
# Of a reply that is streamed.
Part = str | Usage | Cut | Thinking
# Sees every part of one reply without passing it on: entered before anything is asked, and left with the error that
# ended the reply.
StreamWatch = AbstractAsyncContextManager[Callable[[Part], None]]


@asynccontextmanager
async def enter_watches(watches: Sequence[StreamWatch]) -> AsyncIterator[Callable[[Part], None]]:
    """Enters the watches of a reply in their order. Yields what shows a part to all of them."""
    async with AsyncExitStack() as stack:
        watching = [await stack.enter_async_context(watch) for watch in watches]

        def show_part(part: Part) -> None:
            for see in watching:
                see(part)

        yield show_part


class ChatModel(Protocol):
    """Serves many requests at once, perhaps one after the other. It is closed once, by its opener."""

    name: str

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """Yields text as it comes, and its cost: a Usage for every request made, and one for its tokens where they are
        told. watches: see every part before it is yielded; what stands around a model adds its own.

        Thoughts of a reasoning model are left out; a Thinking tells that it began to think. Closing the generator ends
        the work. Raises GenerationUnavailable, GenerationRejected, after the first token too.
        """

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """Returns a short reply as a whole, tried once. Raises GenerationUnavailable, GenerationRejected."""

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """Returns the log-odds that the reply begins with the first word instead of the second.

        They come from the probabilities of the first token where the model tells them, else they are CERTAIN or
        -CERTAIN by the word written. Tried once. Raises GenerationUnavailable, and GenerationRejected, also for a reply
        with neither word.
        """

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """As `complete`, or the tool that the model calls instead.

        A model without tools writes text; an endpoint without tools may refuse: GenerationRejected.
        """

    async def close(self) -> None:
        """Releases connections, threads and weights."""
