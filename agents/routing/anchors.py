"""Example sentences by intent, which the router learns from: `agents/anchors/*.yaml` and a tenant's own.

A file has the `intent`, `examples` of it alone, `with` other intents at once, and sentences that look like it but are
`not`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from agents.routing.contrasts import generate_contrasts
from agents.routing.types import Intent
from knowledge.errors import InvalidConfiguration
from knowledge.yaml_files import load_yaml


@dataclass(frozen=True, slots=True)
class Anchor:
    """A sentence and all that it asks for."""

    text: str
    intents: frozenset[str]
    # Its error counts so many times as much.
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Anchors:
    """The sentences that a head is fitted on."""

    sentences: tuple[Anchor, ...]
    # All intents, those of agents that are not shipped last.
    labels: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        own = {intent for anchor in self.sentences for intent in anchor.intents}
        object.__setattr__(self, "labels", (*Intent, *sorted(own.difference(Intent))))

    def extend(self, own: Iterable[Anchor]) -> Anchors:
        """Returns the anchors with a tenant's own sentences, which replace shipped ones of the same text."""
        merged = {anchor.text: anchor for anchor in (*self.sentences, *own)}
        return Anchors(tuple(merged.values()))


@cache
def load_shipped_anchors() -> Anchors:
    """Returns the sentences that come with the project."""
    folder = files("agents") / "anchors"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".yaml"))
    written = read_anchors([(folder / name).read_text(encoding="utf-8") for name in names])
    made = Anchors(tuple(Anchor(text, frozenset({intent})) for text, intent in generate_contrasts()))
    return made.extend(written.sentences)


def read_anchors(documents: Iterable[str]) -> Anchors:
    """Reads YAML texts, one for an intent: shipped ones, or those of a company's own agents. Raises
    InvalidConfiguration.
    """
    intents: dict[str, set[str]] = {}
    try:
        texts = [load_yaml(text) for text in documents]
        known = {*Intent, *(str(data["intent"]) for data in texts)}
        for data in texts:
            for sentence, found in _read_labels(data):
                if unknown := found - known:
                    raise ValueError(f"不认识的意图 {sorted(unknown)}")
                intents.setdefault(sentence, set()).update(found)
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidConfiguration(f"意图例句读不懂：{error}") from error
    return Anchors(tuple(Anchor(text, frozenset(found)) for text, found in intents.items()))


def _read_labels(data: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    intent = str(data["intent"])
    if unknown := data.keys() - {"intent", "examples", "with", "not"}:
        raise ValueError(f"不认识的键 {sorted(unknown)}")
    for sentence in data["examples"]:
        yield str(sentence), {intent}
    for other, sentences in data.get("with", {}).items():
        for sentence in sentences:
            yield str(sentence), {intent, str(other)}
    for other, sentences in data.get("not", {}).items():
        for sentence in sentences:
            yield str(sentence), {str(other)}
