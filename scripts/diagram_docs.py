"""Writes the diagrams of the documents and the table of states, from the code: `python scripts/diagram_docs.py`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.diagrams.agents import agents_diagram
from scripts.diagrams.handoff import states_diagram, states_table
from scripts.diagrams.words import AGENTS_CHINESE, AGENTS_ENGLISH, DESK_CHINESE, DESK_ENGLISH, DeskWords

ROOT = Path(__file__).resolve().parents[1]
ASSETS = Path("docs/assets")
_MARKED = re.compile(r"(<!-- states -->\n)(.*?)(<!-- /states -->)", re.DOTALL)
_PAGES: Mapping[Path, DeskWords] = {Path("docs/handoff.md"): DESK_CHINESE, Path("docs/handoff.en.md"): DESK_ENGLISH}


def drawn() -> dict[Path, str]:
    """The diagrams: path from the root -> SVG."""
    return {
        ASSETS / "agents.svg": agents_diagram(AGENTS_CHINESE),
        ASSETS / "agents.en.svg": agents_diagram(AGENTS_ENGLISH),
        ASSETS / "handoff.svg": states_diagram(DESK_CHINESE),
        ASSETS / "handoff.en.svg": states_diagram(DESK_ENGLISH),
    }


def rendered(root: Path = ROOT) -> dict[Path, str]:
    """What all these files should hold: path from the root -> text."""
    pages = {
        path: _MARKED.sub(rf"\g<1>\n{states_table(words)}\n\g<3>", root.joinpath(path).read_text("utf-8"))
        for path, words in _PAGES.items()
    }
    return drawn() | pages


def main() -> int:
    """Writes the files."""
    for path, text in rendered().items():
        ROOT.joinpath(path).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
