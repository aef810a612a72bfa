"""Strict reading of what a model replies that was asked for JSON: one object of the agreed shape, or nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from agents.llm.chat import ChatMessage
from agents.types import Usage

_FENCE = "```"


class Completer(Protocol):
    """A chat model that replies as a whole: `agents.llm.chat.ChatModel`."""

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """Raises GenerationUnavailable, GenerationRejected."""


class UnreadableReply(ValueError):
    """The reply is not what was asked for."""


def read_object(reply: str, **fields: type | tuple[type, ...]) -> dict[str, Any]:
    """The JSON object of a reply, alone or in a code fence, with exactly these fields. Raises UnreadableReply."""
    try:
        value = json.loads(_unfenced(reply.strip()))
    except (ValueError, RecursionError) as error:
        raise UnreadableReply("no JSON") from error
    return read_fields(value, **fields)


def _unfenced(reply: str) -> str:
    """What stands in a code fence, where the whole reply is one."""
    opening, _, rest = reply.partition("\n")
    fenced = opening in (_FENCE, f"{_FENCE}json") and rest.endswith(_FENCE)
    return rest.removesuffix(_FENCE) if fenced else reply


def read_fields(value: object, **fields: type | tuple[type, ...]) -> dict[str, Any]:
    """An object with exactly these fields; true is no number. Raises UnreadableReply."""
    if not isinstance(value, dict) or value.keys() != fields.keys():
        raise UnreadableReply(f"not an object with {', '.join(fields)}")
    for name, kind in fields.items():
        if not isinstance(value[name], kind) or (isinstance(value[name], bool) and kind is not bool):
            raise UnreadableReply(f"{name} is {value[name]!r}")
    return value


def numbers_within(value: Sequence[object], allowed: Sequence[int]) -> tuple[int, ...]:
    """Different numbers, all of them allowed. Raises UnreadableReply."""
    numbers = tuple(number for number in value if type(number) is int and number in allowed)
    if len(numbers) < len(value) or len(set(numbers)) < len(numbers):
        raise UnreadableReply(f"numbers {value!r}")
    return numbers
