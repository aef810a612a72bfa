"""Writes the reference of the HTTP interface, from its OpenAPI document: `python scripts/api_docs.py`.

That is `docs/api-reference.md` and its English sibling, between their marks. Titles of endpoints and meanings of
outcomes are those of the tables in `docs/api.md`; other words stand in `scripts/reference_words.yaml`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from agents.types import Outcome
from app.http.routes import list_roles
from app.main import create_app
from app.settings import Settings
from scripts.marked_pages import ROOT, replace_between, write_files
from scripts.openapi_text import UNTRANSLATED, Schema, Writer, build_anchor

PAGES = {"zh": Path("docs/api-reference.md"), "en": Path("docs/api-reference.en.md")}
GUIDES = {"zh": Path("docs/api.md"), "en": Path("docs/api.en.md")}
WORDS = Path("scripts/reference_words.yaml")
_TITLE = re.compile(r"^\| `([A-Z]+ /[^`]*)` \| (.+) \|$", re.MULTILINE)
_OUTCOME = re.compile(r"^\| `(\w+)` \| ([^|]+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reference:
    """One language of the reference. titles: of endpoints; outcomes: their meanings."""

    writer: Writer
    document: Mapping[str, Any]
    roles: Mapping[str, str]
    titles: Mapping[str, str]
    outcomes: Mapping[str, str]

    def render(self) -> str:
        """Returns the whole text: outcomes, endpoints by tag, schemas."""
        return "\n".join([*self._render_outcomes(), *self._render_endpoints(), *self._render_schemas()])

    def _render_outcomes(self) -> Iterator[str]:
        yield from (
            f"## {self.writer.get_head('outcomes')} {{ #outcomes }}",
            "",
            *self._render_table_head("outcome"),
        )
        yield from (f"| `{item}` | {self.outcomes.get(item.value, UNTRANSLATED)} |" for item in Outcome)
        yield ""

    def _render_endpoints(self) -> Iterator[str]:
        tags: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                tag = (operation.get("tags") or ["health"])[0]
                tags.setdefault(tag, []).append((f"{method.upper()} {path}", operation))
        for number, (tag, operations) in enumerate(tags.items(), 1):
            known = tag in self.writer.words["tags"]
            name = self.writer.get_words("tags", tag) if known else self.writer.translate_description(tag)
            yield from (f"## {name} {{ #tag-{number} }}", "")
            for endpoint, operation in operations:
                yield from self._render_endpoint(endpoint, operation)

    def _render_endpoint(self, endpoint: str, operation: Mapping[str, Any]) -> Iterator[str]:
        slug = re.sub(r"\W+", "-", endpoint.lower()).strip("-")
        title = self.titles.get(endpoint, UNTRANSLATED).replace("](#", f"]({GUIDES['zh'].name}#")
        yield from (f"### `{endpoint}` {{ #{slug} }}", "", title, "")
        who = self.roles[endpoint] or self.writer.get_head("anybody")
        yield from (f"{self.writer.get_head('who')}{self.writer.get_head('colon')}{who}", "")
        if parameters := [self._resolve_reference(parameter) for parameter in operation.get("parameters", ())]:
            yield from self._render_table_head("parameters")
            for found in parameters:
                needed, described = found.get("required", False), found.get("description", "")
                schema = found["schema"]
                yield self.writer.render_row(found["name"], schema, described, needed=needed, place=found["in"])
            yield ""
        for kind, body in operation.get("requestBody", {}).get("content", {}).items():
            opened, closed = self.writer.get_head("open"), self.writer.get_head("close")
            yield from (f"{self.writer.get_head('body')}{opened}`{kind}`{closed}", "")
            yield from self._render_body(body["schema"])
        yield from self._render_table_head("statuses")
        yield from (
            self._render_response(status, response) for status, response in sorted(operation["responses"].items())
        )
        yield ""

    def _render_body(self, schema: Schema) -> Iterator[str]:
        if "properties" in schema:
            yield from (*self._render_table_head("fields"), *self.writer.render_fields(schema), "")
        else:
            yield from (self.writer.describe_type(schema), "")

    def _render_response(self, status: str, response: Mapping[str, Any]) -> str:
        content = self._resolve_reference(response).get("content", {})
        bodies = [
            self.writer.describe_type(schema) if (schema := _find_schema(body)) else f"`{kind}`"
            for kind, body in content.items()
        ]
        return f"| {status} | {self.writer.get_words('statuses', int(status))} | {' / '.join(bodies) or '—'} |"

    def _render_schemas(self) -> Iterator[str]:
        yield from (f"## {self.writer.get_head('schemas')} {{ #schemas }}", "")
        for name, schema in self.document["components"]["schemas"].items():
            yield from (f"### {name} {{ #{build_anchor(name)} }}", "")
            if rows := list(self.writer.render_fields(schema)):
                yield from (*self._render_table_head("fields"), *rows)
            else:
                values = f"{self.writer.get_head('values')}{self.writer.get_head('colon')}"
                yield values + self.writer.describe_type(schema)
            yield ""

    def _render_table_head(self, head: str) -> tuple[str, str]:
        row = self.writer.get_head(head)
        return row, "| " + " | ".join("---" for _ in range(row.count("|") - 1)) + " |"

    def _resolve_reference(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Any = self.document
        if "$ref" not in item:
            return item
        for part in item["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)


def _find_schema(told: Mapping[str, Any]) -> Schema | None:
    """The schema of a body, or of the data of each event of a stream; None where it has none."""
    if item := told.get("itemSchema"):
        data = item["properties"]["data"]
        return dict(data.get("anyOf", [data])[-1]["contentSchema"])
    return told.get("schema") or None


def render_files() -> dict[Path, str]:
    """What the pages should hold: path from the root -> text."""
    app = create_app(Settings(_env_file=None))  # the same pages whatever the .env of who writes them says
    document = app.openapi()
    roles = {endpoint: " ".join(f"`{role}`" for role in allowed) for endpoint, allowed in list_roles(app).items()}
    words = yaml.safe_load(ROOT.joinpath(WORDS).read_text("utf-8"))
    found = {}
    for language, page in PAGES.items():
        guide = ROOT.joinpath(GUIDES[language]).read_text("utf-8")
        titles, outcomes = dict(_TITLE.findall(guide)), dict(_OUTCOME.findall(guide))
        text = Reference(Writer(language, words), document, roles, titles, outcomes).render()
        held = ROOT.joinpath(page).read_text("utf-8")
        found[page] = replace_between(held, "reference", text)
    return found


if __name__ == "__main__":
    write_files(render_files())
