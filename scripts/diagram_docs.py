"""Writes diagrams and tables of the documents from the code: `python scripts/diagram_docs.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.diagrams.agents import agents_diagram
from scripts.diagrams.continuity import CONTINUITY_CHINESE, CONTINUITY_ENGLISH, weights_table
from scripts.diagrams.handoff import states_diagram, states_table
from scripts.diagrams.words import AGENTS_CHINESE, AGENTS_ENGLISH, DESK_CHINESE, DESK_ENGLISH
from scripts.marked import ROOT, between, write

ASSETS = Path("docs/assets")
# Pages -> the mark around the table, and what stands there.
_TABLES = {
    Path("docs/handoff.md"): ("states", states_table(DESK_CHINESE)),
    Path("docs/handoff.en.md"): ("states", states_table(DESK_ENGLISH)),
    Path("docs/dialogue.md"): ("weights", weights_table(CONTINUITY_CHINESE)),
    Path("docs/dialogue.en.md"): ("weights", weights_table(CONTINUITY_ENGLISH)),
}


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
    pages = {path: between(root.joinpath(path).read_text("utf-8"), *table) for path, table in _TABLES.items()}
    return drawn() | pages


def main() -> int:
    """Writes the files."""
    write(rendered())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
