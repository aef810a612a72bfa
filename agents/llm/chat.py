"""What a chat model is to those who ask one, wherever it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from agents.llm.tools import Tool, ToolCall
from agents.types import Thinking, Usage

ChatMessage = dict[str, str]
"""`role` and `content`."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """name: of the model at the endpoint, or the file that it lies in; base_url and api_key: of the endpoint;
    silence: seconds until the first token and between two; total: seconds of one reply, retries included;
    retries: of an endpoint, after a failure before the first token; max_tokens: of a reply; queue: requests that wait
    for a local model, beside those that it computes; threads: of a local model, 0 for as many as cores are idle.
    profile: of `agents.llm.profiles`, empty for the one that base_url tells; parameters: further fields of a request,
    which replace the profile's; thinks: whether the text may begin within thoughts that no tag opens, None for what
    profile and name tell.
    """

    name: str
    base_url: str = ""
    api_key: str = ""
    silence: float = 10.0
    total: float = 60.0
    retries: int = 1
    max_tokens: int = 1024
    queue: int = 8
    threads: int = 0
    profile: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    thinks: bool | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The reply ended at the limit of tokens, perhaps within a sentence."""


WordPair = tuple[str, str]
"""Two replies to choose between; their first characters differ."""
CERTAIN = 3.0
"""The log-odds of a choice that was made in words: right about 95 times of 100."""

Reply = TypeVar("Reply")
"""What a model is asked for as a whole: a text, or a choice."""
Part = str | Usage | Cut | Thinking
"""Of a reply that is streamed."""


class ChatModel(Protocol):
    """Serves many requests at once, be it one after the other. Whoever opened it closes it, once."""

    name: str

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Part]:
        """Text as it comes, and what it costs: a Usage for every request made and one for its tokens, where told. The
        thoughts of a reasoning model are left out; that it began to think is said, by a Thinking.

        Closing it ends the work. Raises GenerationUnavailable, GenerationRejected, after the first token too.
        """

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """A short reply as a whole, tried once. Raises GenerationUnavailable, GenerationRejected."""

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """How much likelier the reply begins with the first word than with the second, as log-odds: by the
        probabilities of its first token where the model tells them, else CERTAIN or -CERTAIN by the word it writes.

        Tried once. Raises GenerationUnavailable, GenerationRejected, the latter where it begins with neither too.
        """

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """As `complete`, or the tool that the model calls instead. A model that knows no tools writes; an endpoint that
        knows none may refuse: GenerationRejected.
        """

    async def close(self) -> None:
        """Releases connections, threads and weights."""
