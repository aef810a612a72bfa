from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.desk.states import RULES, TransitionRule
from app.desk.types import Actor, Event, State
from knowledge.continuity import FEATURES, WEIGHTS
from scripts.diagram_docs import CHINESE, ENGLISH, build_states_table, load_words, render_files
from scripts.marked_pages import ROOT


@pytest.mark.parametrize("path", list(render_files()), ids=str)
def test_the_documents_show_what_the_code_says(path: Path) -> None:
    assert ROOT.joinpath(path).read_text("utf-8") == render_files()[path], "run: make diagram-docs"


def test_every_page_with_a_table_of_states_gets_it() -> None:
    for path in (Path("docs/handoff.md"), Path("docs/handoff.en.md")):
        assert f"| `{State.OUT_OF_HOURS}` | `{State.QUEUED}` |" in render_files()[path]


def test_every_page_with_weights_gets_them() -> None:
    for path in (Path("docs/dialogue.md"), Path("docs/dialogue.en.md")):
        for name, weight in zip(FEATURES, WEIGHTS, strict=True):
            assert re.search(rf"^\| `{name}` \| .+ \| {weight:.2f} \|$", render_files()[path], re.MULTILINE)


@pytest.mark.parametrize("language", [CHINESE, ENGLISH])
def test_every_event_and_actor_of_the_desk_is_said_in_words(language: str) -> None:
    words = load_words()["desk"][language]
    assert (set(words["events"]), set(words["actors"])) == (set(Event), set(Actor))
    assert len(set(words["events"].values())) == len(Event)


def test_a_changed_rule_changes_the_table() -> None:
    rules = {**RULES, Event.OPEN: TransitionRule(frozenset({State.CLOSED}), State.ASSIGNED, frozenset({Actor.BOT}))}
    assert "| `open` | `closed` | `assigned` | bot |" in build_states_table(load_words()["desk"][ENGLISH], rules)
