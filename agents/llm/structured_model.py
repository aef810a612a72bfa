"""Asks for a reply of a shape in the best way that an endpoint knows, and once more where it cannot be read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from loguru import logger

from agents.errors import UnreadableReply
from agents.llm.chat import ChatMessage
from agents.llm.model_wrapper import ModelWrapper
from agents.prompt_library import PromptedMessages, load_shipped_prompts
from agents.shapes import Shape
from agents.types import Usage

# Characters of an unreadable reply that a model sees again.
SHOWN = 600
# Fields of a request that ask for a shape.
FORMAT, TOOLS = "response_format", ("tools", "tool_choice")


class Mode(StrEnum):
    """How an endpoint is asked for a shape, the best first."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TOOL = "tools"
    PLAIN = "plain"


def build_request_fields(mode: Mode, shape: Shape) -> dict[str, Any]:
    """Returns the fields of a request that ask for the shape, besides the prompt."""
    match mode:
        case Mode.SCHEMA:
            declared = {"name": shape.name, "strict": True, "schema": shape.schema}
            return {FORMAT: {"type": mode.value, mode.value: declared}}
        case Mode.OBJECT:
            return {FORMAT: {"type": mode.value}}
        case Mode.TOOL:
            function = {"name": shape.name, "parameters": shape.schema}
            choice = {"type": "function", "function": {"name": shape.name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case Mode.PLAIN:
            return {}


def get_shape(messages: Sequence[ChatMessage]) -> Shape | None:
    """Returns the shape of the wanted reply; None for any text."""
    return messages.shape if isinstance(messages, PromptedMessages) else None


class StructuredModel(ModelWrapper):
    """A chat model whose replies have the shape that is asked for, or are errors."""

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`. An unreadable reply is asked for once more, where as much time is left as it took.

        Raises UnreadableReply.
        """
        started = time.monotonic()
        reply, usage = await self._model.complete(messages, seconds)
        shape = get_shape(messages)
        if shape is None:
            return reply, usage
        try:
            return shape.write(shape.read(reply)), usage
        except UnreadableReply as error:
            taken = time.monotonic() - started
            if seconds - taken < taken:
                raise UnreadableReply(str(error), usage) from error
            logger.bind(model=self.name).info("asked once more: {}", error)
        again, more = await self._model.complete(_build_repair_messages(messages, reply, shape), seconds - taken)
        try:
            return shape.write(shape.read(again)), usage + more
        except UnreadableReply as error:
            raise UnreadableReply(str(error), usage + more) from error


def _build_repair_messages(messages: Sequence[ChatMessage], reply: str, shape: Shape) -> PromptedMessages:
    text = load_shipped_prompts().fill("repair", fields="、".join(shape.fields))
    further = [{"role": "assistant", "content": reply[:SHOWN] or "…"}, {"role": "user", "content": text}]
    prompts = messages.prompts if isinstance(messages, PromptedMessages) else {}
    return PromptedMessages([*messages, *further], prompts, shape)
