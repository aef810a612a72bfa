"""Writes diagrams and tables of the documents from the code: `python scripts/diagram_docs.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.diagrams.agents import draw_agents
from scripts.diagrams.continuity import build_weights_table
from scripts.diagrams.handoff import build_states_table, draw_states
from scripts.diagrams.words import CHINESE, ENGLISH, load_agent_words, load_desk_words, load_weight_words
from scripts.marked_pages import ROOT, replace_between, write_files

DOCS, ASSETS = Path("docs"), Path("docs/assets")
# Language -> what follows the name of a file.
_ENDS = {CHINESE: "", ENGLISH: ".en"}


def draw_diagrams() -> dict[Path, str]:
    """The diagrams: path from the root -> SVG."""
    drawn = {}
    for language, end in _ENDS.items():
        drawn[ASSETS / f"agents{end}.svg"] = draw_agents(load_agent_words(language))
        drawn[ASSETS / f"handoff{end}.svg"] = draw_states(load_desk_words(language))
    return drawn


def render_files(root: Path = ROOT) -> dict[Path, str]:
    """What all these files should hold: path from the root -> text."""
    files = draw_diagrams()
    for language, end in _ENDS.items():
        for name, mark, table in (
            ("handoff", "states", build_states_table(load_desk_words(language))),
            ("dialogue", "weights", build_weights_table(load_weight_words(language))),
        ):
            page = DOCS / f"{name}{end}.md"
            files[page] = replace_between(root.joinpath(page).read_text("utf-8"), mark, table)
    return files


def main() -> int:
    """Writes the files."""
    write_files(render_files())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
