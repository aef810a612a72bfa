"""Writes what the documents say of the settings, from the settings: `python scripts/settings_docs.py`.

That is the table of `docs/configuration.md`, of its English sibling (translated meanings are kept), and `.env.example`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.settings import Settings
from scripts.marked_pages import ROOT, replace_between, write_files

PAGE, ENGLISH_PAGE, ENV_FILE = Path("docs/configuration.md"), Path("docs/configuration.en.md"), Path(".env.example")
UNTRANSLATED = "(no translation yet)"
_ROW = re.compile(r"^\| `(\w+)` \|.*\| (.+) \|$", re.MULTILINE)
_ENV_HEAD = "# 复制为 .env 后按需修改；不写的都用默认值。各项的说明见 docs/configuration.md\n"


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable. `default` is empty where there is none."""

    name: str
    default: str
    allowed: str
    meaning: str


def list_settings() -> list[Setting]:
    """All settings in the order of the class, then those of the features."""
    properties: Mapping[str, Mapping[str, Any]] = Settings.model_json_schema()["properties"]
    return [
        Setting(name.upper(), _format_default(schema.get("default")), _describe_allowed(schema), schema["description"])
        for name, schema in sorted(properties.items(), key=lambda item: item[0] not in Settings.__annotations__)
    ]


def render_files() -> dict[Path, str]:
    """What the files should hold: path from the root -> text."""
    items = list_settings()
    page, english = (ROOT.joinpath(path).read_text("utf-8") for path in (PAGE, ENGLISH_PAGE))
    # meanings are translated by hand: what the page has is kept, and a test refuses what is UNTRANSLATED
    translations = dict(_ROW.findall(english))
    heads = ("变量 | 默认 | 取值 | 含义", "variable | default | values | meaning")
    return {
        PAGE: replace_between(page, "settings", _render_table(heads[0], items, {})),
        ENGLISH_PAGE: replace_between(english, "settings", _render_table(heads[1], items, translations, UNTRANSLATED)),
        ENV_FILE: _ENV_HEAD + "".join(f"\n# {item.meaning}\n# {item.name}={item.default}\n" for item in items),
    }


def _render_table(head: str, items: list[Setting], meanings: Mapping[str, str], missing: str | None = None) -> str:
    lines = [f"| {head} |", "| --- | --- | --- | --- |"]
    for item in items:
        default = f"`{item.default}`" if item.default else "—"
        meaning = meanings.get(item.name, missing or item.meaning)
        lines.append(f"| `{item.name}` | {default} | {item.allowed} | {meaning} |")
    return "\n".join(lines) + "\n"


def _format_default(default: object) -> str:
    return "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def _describe_allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "boolean":
        return "`true` `false`"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low:.15g}–{high:.15g}"
    return f"≥ {low:.15g}" if low is not None else "—"


if __name__ == "__main__":
    write_files(render_files())
