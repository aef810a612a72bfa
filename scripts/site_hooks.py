"""What MkDocs asks of us while it builds the site (`hooks` in mkdocs.yml)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Where a page shows the changelog of the project.
MARK = "<!-- CHANGELOG.md -->"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page, with the changelog in its place."""
    return markdown.replace(MARK, read_changelog()) if MARK in markdown else markdown


def read_changelog() -> str:
    """CHANGELOG.md below its title, whose links lead to pages of the site; files that are no page are only named."""

    def follow(link: re.Match[str]) -> str:
        label, target = link.groups()
        if target.startswith("docs/"):
            return f"[{label}]({target.removeprefix('docs/').replace('.en.md', '.md')})"
        return link.group() if "://" in target else label

    text = ROOT.joinpath("CHANGELOG.md").read_text("utf-8")
    return _LINK.sub(follow, text[text.index("## ") :])
