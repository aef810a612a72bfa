"""A JSON schema of the OpenAPI document as text for tables: types, bounds, rows of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.http.fields import VISIBLE
from app.openapi.document import NO_NULL

Schema = Mapping[str, Any]
_REF = "#/components/schemas/"
_FORMATS = {"binary": "file", "date-time": "datetime", "date": "date"}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes in one language.

    Args:
        words: those of tables, by key.
        semicolon, comma: what stands between the parts of a meaning, and between bounds.
        translated: gives a description of the document in this language.
        known: what fields of a name are that have no description.
    """

    words: Mapping[str, str]
    semicolon: str
    comma: str
    translated: Callable[[str], str]
    known: Mapping[str, str]

    def describe_type(self, schema: Schema) -> str:
        """The type of a value; other schemas of the document are links."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_REF)
            return f"[{name}](#{build_anchor(name)})"
        if "const" in schema or "enum" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            return r" \| ".join(f"`{value}`" for value in values)
        if members := schema.get("anyOf") or schema.get("oneOf"):
            return r" \| ".join(dict.fromkeys(self.describe_type(member) for member in members))
        if schema.get("type") == "array":
            return f"{self.words['list']}<{self.describe_type(schema.get('items', {}))}>".replace("<", "&lt;")
        if isinstance(inner := schema.get("additionalProperties"), Mapping):
            return f"{self.words['map']}<{self.describe_type(inner)}>".replace("<", "&lt;")
        return _FORMATS.get(schema.get("format", ""), str(schema.get("type", "any")))

    def render_fields(self, schema: Schema) -> Iterator[str]:
        """Yields the rows of a table: name, type, whether it has to be there, meaning."""
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            yield self.render_row(name, field, field.get("description", ""), needed=name in required)

    def render_row(self, name: str, schema: Schema, description: str, *, needed: bool, place: str = "") -> str:
        """A row of a table. place: of a parameter, in a column of its own."""
        meaning = self.translated(description) if description else self.known.get(name, "")
        told = [meaning] if meaning else []
        told += [bounds] if (bounds := self.comma.join(self._describe_bounds(schema))) else []
        cells = [
            f"`{name}`",
            *([place] if place else []),
            self.describe_type(schema),
            self.words["yes" if needed else "no"],
        ]
        return f"| {' | '.join(cells)} | {self.semicolon.join(told)} |"

    def _describe_bounds(self, schema: Schema) -> Iterator[str]:
        for member in (schema, *schema.get("anyOf", ())):
            for low, high, unit in (
                ("minimum", "maximum", ""),
                ("minLength", "maxLength", f" {self.words['chars']}"),
                ("minItems", "maxItems", f" {self.words['items']}"),
            ):
                least, most = member.get(low), member.get(high)
                if least is not None and most is not None:
                    yield f"{least:.15g}–{most:.15g}{unit}"
                elif least is not None or most is not None:
                    yield f"≥ {least:.15g}{unit}" if most is None else f"≤ {most:.15g}{unit}"
            if member.get("pattern", VISIBLE) not in (VISIBLE, NO_NULL):
                yield "`" + member["pattern"].replace("|", r"\|") + "`"
        if (default := schema.get("default")) not in (None, "", [], {}):
            yield f"{self.words['default']} `{str(default).lower() if isinstance(default, bool) else default}`"


def build_anchor(name: str) -> str:
    """The anchor of the section that describes a schema."""
    return f"schema-{name.lower()}"
