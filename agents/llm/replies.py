"""Reads JSON from the reply of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from agents.errors import UnreadableReply as UnreadableReply
from agents.llm.chat import ChatMessage
from agents.shapes import parse_object
from agents.types import Usage


class Completer(Protocol):
    """A chat model that replies as a whole: `agents.llm.chat.ChatModel`."""

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """Raises GenerationError."""


def read_object(reply: str, **fields: type | tuple[type, ...]) -> dict[str, Any]:
    """Returns the JSON object in a reply, with fields of the given types. Raises UnreadableReply."""
    value = parse_object(reply)
    for name, kind in fields.items():
        if name not in value or not isinstance(value[name], kind):
            raise UnreadableReply(f"no {name}")
    return value


def check_numbers(value: Sequence[int], allowed: Sequence[int]) -> tuple[int, ...]:
    """Returns the numbers, which have to be different and allowed. Raises UnreadableReply."""
    numbers = tuple(number for number in value if number in allowed)
    if len(numbers) < len(value) or len(set(numbers)) < len(numbers):
        raise UnreadableReply(f"numbers {value!r}")
    return numbers
