"""Tools that a model may call instead of writing: how they are offered, and what it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool."""

    name: str
    description: str
    # A JSON schema of each, all of them required.
    arguments: Mapping[str, Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Returns the tool as OpenAI-compatible endpoints want it."""
        parameters = {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.arguments.items()},
            "required": list(self.arguments),
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call."""

    name: str
    # JSON as the model wrote it, of any shape.
    arguments: str


def build_tool_fields(tools: Sequence[Tool]) -> dict[str, Any]:
    """Returns the fields of a request that offer the tools."""
    return {"tools": [tool.to_json() for tool in tools], "tool_choice": "auto"}


def read_first_call(message: Mapping[str, Any]) -> ToolCall | None:
    """Returns the first call of a reply; None where it calls nothing."""
    match message.get("tool_calls"):
        case [{"function": {"name": str(name), "arguments": str(arguments)}}, *_]:
            return ToolCall(name, arguments)
    return None
