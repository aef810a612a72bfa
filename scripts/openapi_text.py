"""A JSON schema of the OpenAPI document as text for tables: types, bounds, rows of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.http.fields import VISIBLE
from app.openapi.document import NO_NULL

Schema = Mapping[str, Any]
UNTRANSLATED = "(no words yet)"
_REF = "#/components/schemas/"
_FORMATS = {"binary": "file", "date-time": "datetime", "date": "date"}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes in one language.

    Args:
        language: `zh` or `en`.
        words: kind -> key -> the words in Chinese and in English; `english`: description in Chinese -> in English.
    """

    language: str
    words: Mapping[str, Any]

    def get_words(self, kind: str, key: str | int) -> str:
        """What is said for a key, UNTRANSLATED where there is nothing."""
        # a meaning with a comma that nobody quoted is read as two, and is told here rather than cut off
        chinese, english = self.words[kind].get(key) or (UNTRANSLATED, UNTRANSLATED)
        return str(chinese if self.language == "zh" else english)

    def get_head(self, key: str) -> str:
        """What stands above or between parts of the text."""
        return self.get_words("heads", key)

    def translate_description(self, description: str) -> str:
        """A description in one line and in this language; English text stays as it is."""
        text = " ".join(description.split()).replace("|", r"\|")
        if self.language == "zh" or text.isascii():
            return text
        return str(self.words["english"].get(description, UNTRANSLATED)).replace("|", r"\|")

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
            return f"{self.get_words('words', 'list')}&lt;{self.describe_type(schema.get('items', {}))}>"
        if isinstance(inner := schema.get("additionalProperties"), Mapping):
            return f"{self.get_words('words', 'map')}&lt;{self.describe_type(inner)}>"
        return _FORMATS.get(schema.get("format", ""), str(schema.get("type", "any")))

    def render_fields(self, schema: Schema) -> Iterator[str]:
        """Yields the rows of a table: name, type, whether it has to be there, meaning."""
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            yield self.render_row(name, field, field.get("description", ""), needed=name in required)

    def render_row(self, name: str, schema: Schema, description: str, *, needed: bool, place: str = "") -> str:
        """A row of a table. place: of a parameter, in a column of its own."""
        known = self.get_words("fields", name) if name in self.words["fields"] else ""
        meaning = self.translate_description(description) if description else known
        bounds = self.get_head("comma").join(self._describe_bounds(schema))
        cells = [
            f"`{name}`",
            *([place] if place else []),
            self.describe_type(schema),
            self.get_words("words", "yes" if needed else "no"),
        ]
        semicolon = self.get_head("semicolon")
        return f"| {' | '.join(cells)} | {semicolon.join(part for part in (meaning, bounds) if part)} |"

    def _describe_bounds(self, schema: Schema) -> Iterator[str]:
        for member in (schema, *schema.get("anyOf", ())):
            for low, high, unit in (
                ("minimum", "maximum", ""),
                ("minLength", "maxLength", f" {self.get_words('words', 'chars')}"),
                ("minItems", "maxItems", f" {self.get_words('words', 'items')}"),
            ):
                least, most = member.get(low), member.get(high)
                if least is not None and most is not None:
                    yield f"{least:.15g}–{most:.15g}{unit}"
                elif least is not None or most is not None:
                    yield f"≥ {least:.15g}{unit}" if most is None else f"≤ {most:.15g}{unit}"
            # nearly every text has one of these two patterns, which would tell a reader nothing
            if member.get("pattern", VISIBLE) not in (VISIBLE, NO_NULL):
                yield "`" + member["pattern"].replace("|", r"\|") + "`"
        if (default := schema.get("default")) not in (None, "", [], {}):
            shown = str(default).lower() if isinstance(default, bool) else default
            yield f"{self.get_words('words', 'default')} `{shown}`"


def build_anchor(name: str) -> str:
    """The anchor of the section that describes a schema."""
    return f"schema-{name.lower()}"
