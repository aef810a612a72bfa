"""Parameters of OpenAI's interface that only one value of can be kept to: any other is refused by name, since a client
that asked for two answers or for JSON would otherwise take what it gets for that.
"""

from __future__ import annotations

from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


class AllowedValues:
    """Of a parameter that may be left out, null or one of `values`. reason: what a client is told otherwise."""

    def __init__(self, reason: str, *values: object) -> None:
        self._reason = reason
        self._values = values

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check_value, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        allowed = [*map(_build_schema, self._values), {"type": "null"}]
        return handler(core) | {"anyOf": allowed, "description": self._reason}

    def _check_value(self, value: object) -> object:
        if value is None or any(_is_same_value(value, allowed) for allowed in self._values):
            return value
        raise ValueError(self._reason)


def _is_same_value(value: object, allowed: object) -> bool:
    """Whether two values are equal as JSON has it: 1.0 is 1, and true is not."""
    return isinstance(value, bool) is isinstance(allowed, bool) and value == allowed


def _build_schema(value: object) -> dict[str, Any]:
    """Builds the schema of exactly this value. It is spelt out, since generators of clients take no `enum` of objects
    and arrays.
    """
    if isinstance(value, dict):
        fields = {name: _build_schema(inner) for name, inner in value.items()}
        return {"type": "object", "properties": fields, "required": list(value), "additionalProperties": False}
    if isinstance(value, list):
        items = {"items": _build_schema(value[0])} if value else {"items": {}}
        return {"type": "array", "minItems": len(value), "maxItems": len(value)} | items
    kind = {bool: "boolean", int: "integer", str: "string"}[type(value)]
    return {"type": kind, "enum": [value]}
