"""What the diagrams and generated tables say in each language: see words.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CHINESE, ENGLISH = "zh-CN", "en"


@dataclass(frozen=True, slots=True)
class AgentWords:
    """The words of the way through the agents."""

    language: str
    title: str
    start: str
    steps: Mapping[str, Sequence[str]]
    exits: Mapping[str, str]
    evidence: Sequence[str]
    tiers: Mapping[str, str]
    beside: Mapping[str, str]
    decision: Sequence[str]
    ranks: Mapping[str, str]
    on_topic: str
    off_topic: str
    intents: Mapping[str, str]
    agents: Mapping[str, str]
    merge: Sequence[str]
    ends: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DeskWords:
    """The words of the states of a session."""

    language: str
    title: str
    states: Mapping[str, str]
    events: Mapping[str, str]
    actors: Mapping[str, str]
    brackets: Sequence[str]
    silent: str
    fresh: str
    table: Sequence[str]


@dataclass(frozen=True, slots=True)
class WeightWords:
    """The words of what decides which passage a message means."""

    language: str
    table: Sequence[str]
    features: Mapping[str, str]
    odds: str
    gate: Sequence[str]
    no_code: str


def load_agent_words(language: str) -> AgentWords:
    """Loads the words of one language, CHINESE or ENGLISH."""
    return AgentWords(language, **_load_words()["agents"][language])


def load_desk_words(language: str) -> DeskWords:
    """See `load_agent_words`."""
    return DeskWords(language, **_load_words()["desk"][language])


def load_weight_words(language: str) -> WeightWords:
    """See `load_agent_words`."""
    return WeightWords(language, **_load_words()["weights"][language])


@cache
def _load_words() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    words: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
    return words
