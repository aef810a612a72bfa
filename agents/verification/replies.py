"""Strict reading of what a judging model replies: one JSON object of the agreed shape, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

from agents.llm.model import ChatMessage
from agents.llm.openai import prompt_text
from agents.llm.quotable import safe_text
from agents.prompting import one_line
from agents.types import Usage
from knowledge.types import Chunk

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", re.DOTALL)


class Completer(Protocol):
    """A chat model that replies as a whole: `agents.llm.model.ChatModel`."""

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """Raises GenerationUnavailable, GenerationRejected."""


class UnreadableReply(ValueError):
    """The reply is not what was asked for."""


def read_object(reply: str, **fields: type | tuple[type, ...]) -> dict[str, Any]:
    """The JSON object of a reply, alone or in a code fence, with exactly these fields. Raises UnreadableReply."""
    fenced = _FENCE.fullmatch(reply)
    try:
        value = json.loads(fenced.group(1) if fenced else reply)
    except (ValueError, RecursionError) as error:
        raise UnreadableReply("no JSON") from error
    return read_fields(value, **fields)


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


def labelled(number: int, chunk: Chunk, max_chars: int) -> str:
    """A fragment under its number, without the sentences that address a model."""
    named = [chunk.context, chunk.question or ""]
    heading = " > ".join(one_line(part) for part in named if part and safe_text(part))
    return f"[{number}] {heading}\n{prompt_text(chunk.text, max_chars)}"
