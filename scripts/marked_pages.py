"""Pages of the documentation of which a part is generated: it stands between marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def replace_between(page: str, mark: str, text: str) -> str:
    """The page with the text between `<!-- mark -->` and `<!-- /mark -->`."""
    marks = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", re.DOTALL)
    return marks.sub(lambda match: f"{match[1]}\n{text}\n{match[2]}", page)


def write_files(files: Mapping[Path, str]) -> None:
    """files: path from the root of the project -> text."""
    for path, text in files.items():
        ROOT.joinpath(path).write_text(text, "utf-8")
