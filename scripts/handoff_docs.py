"""Writes the states of the human desk into its pages, from the table of the code: `python scripts/handoff_docs.py`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.desk.diagram import CHINESE, mermaid, table
from app.desk.types import Actor, Event

ROOT = Path(__file__).resolve().parents[1]
_MARKED = re.compile(r"(<!-- states -->\n)(.*?)(<!-- /states -->)", re.DOTALL)
_PAGES: Mapping[Path, tuple[str, Mapping[Event | Actor, str] | None]] = {
    Path("docs/handoff.md"): ("事件 | 从 | 到 | 由谁", CHINESE),
    Path("docs/handoff.en.md"): ("event | from | to | by", None),
}


def rendered(root: Path = ROOT) -> dict[Path, str]:
    """What the pages should hold: path from the root -> text."""
    pages = {}
    for path, (head, labels) in _PAGES.items():
        body = f"\n```mermaid\n{mermaid(labels)}```\n\n{table(head, labels)}\n"
        pages[path] = _MARKED.sub(rf"\g<1>{body}\g<3>", root.joinpath(path).read_text("utf-8"))
    return pages


def main() -> int:
    """Writes the files."""
    for path, text in rendered().items():
        ROOT.joinpath(path).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
