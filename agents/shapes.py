"""The shape of a reply that is asked for as JSON: one object with agreed fields, read whatever text surrounds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import json_repair

from agents.errors import UnreadableReply

# A JSON schema: `type`, and what belongs to it of `items`, `properties`, `required`, `enum`.
Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
NUMBERS: Schema = {"type": "array", "items": {"type": "integer"}}
# Characters of a reply that are looked at.
LONGEST = 20_000
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_HALF_WIDTH = str.maketrans("：，｛｝［］“”＂", ':,{}[]"""')


def build_list_schema(items: Schema) -> Schema:
    """Returns the schema of an array of such values."""
    return {"type": "array", "items": items}


def build_object_schema(fields: Mapping[str, Schema]) -> Schema:
    """Returns the schema of an object with all of these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these fields. `name` is sent to the endpoint, in Latin letters."""

    name: str
    fields: Mapping[str, Schema]
    # Default values of fields that a model may leave out or fill badly.
    lacking: Mapping[str, Any]
    # Enough for a reply, 0 unknown: small models do not stop by themselves.
    tokens: int = 0

    @property
    def schema(self) -> Schema:
        """Of the whole object."""
        return build_object_schema(self.fields)

    def read(self, reply: str) -> dict[str, Any]:
        """Reads the fields of a reply. Raises UnreadableReply.

        Text around the object, fences, single quotes, full-width punctuation and extra commas are accepted.
        """
        values = [parse_object(text) for text in (reply, reply.translate(_HALF_WIDTH))]
        mended = [
            value
            | {name: _repair_value(value.get(name), self.fields[name], least) for name, least in self.lacking.items()}
            for value in values
        ]
        for value in (*values, *mended):
            if all(name in value and _is_of_type(value[name], schema) for name, schema in self.fields.items()):
                return {name: value[name] for name in self.fields}
        raise UnreadableReply(f"not an object with {', '.join(self.fields)}")

    def write(self, fields: Mapping[str, Any]) -> str:
        """Returns a reply that holds these fields."""
        return json.dumps(fields, ensure_ascii=False)


def parse_object(text: str) -> dict[str, Any]:
    """Returns the first object in a text; empty where there is none."""
    rest = text[text.find("{") :][:LONGEST] if "{" in text else ""
    try:
        value = json.JSONDecoder().raw_decode(rest)[0]
    except (ValueError, RecursionError):
        value = _repair_json(rest)
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, dict)), None)
    return value if isinstance(value, dict) else {}


def _repair_json(text: str) -> Any:
    try:
        return json_repair.loads(text)
    except (ValueError, RecursionError):
        return None


def _repair_value(value: object, schema: Schema, least: Any) -> Any:
    """Returns a value as far as it has the schema's type, else `least`."""
    if isinstance(value, dict) and schema["type"] == "object":
        own = schema["properties"].items()
        return {
            **least,
            **{name: value[name] for name, kind in own if name in value and _is_of_type(value[name], kind)},
        }
    return value if _is_of_type(value, schema) else least


def _is_of_type(value: object, schema: Schema) -> bool:
    """Whether a value and all that it holds have the schema's type; true is no number."""
    kind = schema["type"]
    if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, list):
        return all(_is_of_type(item, schema["items"]) for item in value)
    if isinstance(value, dict):
        return all(name in value and _is_of_type(value[name], own) for name, own in schema["properties"].items())
    return True
