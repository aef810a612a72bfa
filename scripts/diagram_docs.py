"""Writes tables of the documents from the code: `python scripts/diagram_docs.py`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from app.desk.states import RULES, TransitionRule
from app.desk.types import Actor, Event, State
from knowledge import continuity
from scripts.marked_pages import ROOT, replace_between, write_files

CHINESE, ENGLISH = "zh-CN", "en"
# Language -> what follows the name of a page.
_ENDS = {CHINESE: "", ENGLISH: ".en"}
Words = Mapping[str, Any]


def load_words() -> Mapping[str, Mapping[str, Words]]:
    """diagram_words.yaml: table -> language -> its words."""
    words: Mapping[str, Mapping[str, Words]] = yaml.safe_load(
        Path(__file__).with_name("diagram_words.yaml").read_text("utf-8")
    )
    return words


def build_states_table(words: Words, rules: Mapping[Event, TransitionRule] = RULES) -> str:
    """Markdown: a row for each event of a session at the human desk."""
    lines = [f"| {' | '.join(words['table'])} |", "| --- | --- | --- | --- |"]
    for event, rule in rules.items():
        label = words["events"][event.value]
        named = f"`{event}`" if label == event.value else f"{label} `{event}`"
        sources = " ".join(f"`{state}`" for state in State if state in rule.sources)
        actors = words["between"].join(words["actors"][actor.value] for actor in Actor if actor in rule.actors)
        lines.append(f"| {named} | {sources} | `{rule.target}` | {actors} |")
    return "\n".join(lines) + "\n"


def build_weights_table(words: Words) -> str:
    """Markdown: what decides which passage a message means, a row for each feature; then how the probability at the
    gate is made.
    """
    lines = [f"| {' | '.join(words['table'])} |", "| --- | --- | --- |"]
    for name, weight in zip(continuity.FEATURES, continuity.WEIGHTS, strict=True):
        lines.append(f"| `{name}` | {words['features'][name]} | {weight:.2f} |")
    weights = continuity.ALONE, continuity.TOLD, continuity.BEST_ALONE, continuity.SHARE
    terms = [f"{weight:.2f} × {name}" for weight, name in zip(weights, words["gate"], strict=True)]
    formula = ("\n" + " " * 4 + "+ ").join([*terms, f"{continuity.BIAS:.2f}"])
    block = [f"<!-- not run: {words['no_code']} -->", "```text", f"{words['odds']} =", f"    {formula}", "```"]
    return "\n".join([*lines, "", *block]) + "\n"


def render_files() -> dict[Path, str]:
    """What all these pages should hold: path from the root -> text."""
    files = {}
    for language, end in _ENDS.items():
        for name, mark, table in (
            ("handoff", "states", build_states_table(load_words()["desk"][language])),
            ("dialogue", "weights", build_weights_table(load_words()["weights"][language])),
        ):
            page = Path("docs", f"{name}{end}.md")
            files[page] = replace_between(ROOT.joinpath(page).read_text("utf-8"), mark, table)
    return files


if __name__ == "__main__":
    write_files(render_files())
