"""Danger to a person and fraud under way, which come before whatever else a message may mean.

Its meaning is judged by a head fitted on `agents/examples/safety.yaml`. Words that are danger by themselves (smoke, a
pretended employee) raise the probability, and speak alone while there is no vector; where they only stand in a
question about a product or a rule (会不会鼓包, 烫伤险赔多少) they say nothing.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

import numpy as np
import yaml

from agents.emotion_head import emotion_examples
from agents.routing.head import Head
from agents.understanding.linear import Linear, fit
from knowledge.embeddings.base import Embedder
from knowledge.text import fold
from knowledge.types import Vector

ENDANGERED = 0.5
"""The chance from which a person is taken to be in danger."""
NOTHING = 0.2
"""Below it nothing is said of a message."""
STEEPNESS, MIDDLE = 3.0, -0.25
"""From the head's score to the logarithm of the odds. With e5, of examples left out of the fit, 87 % of the dangers are
found, and 3 % of the router's harmless examples and 22 % of the look-alikes here taken for one; with -0.4 it is 92, 7
and 32 %."""
BOUND = 3.0
"""Of what the head says: it is never certain."""
UNHEARD, CUE, ASKED = -1.5, 2.5, -2.5
"""Odds that stand for the head where there is none; what a cue adds; and a question about a rule."""
ALIKE = 8.0
"""How much more the error of a shipped look-alike counts than that of the router's examples."""
_CLAUSE = re.compile(r"[^,，。;；!！\n]+")


class Danger(StrEnum):
    """Of what: injury to a person or thing, or the loss of money or data to somebody who deceives."""

    HARM = "harm"
    FRAUD = "fraud"


@dataclass(frozen=True, slots=True)
class Safety:
    """chance: in [0, 1], that somebody is in this danger, now or since a short while."""

    kind: Danger
    chance: float


@dataclass(frozen=True, slots=True)
class SafetyHead:
    """Fitted on an embedder's vectors, a column for each kind; safe to share."""

    linear: Linear

    def odds(self, vector: Vector) -> dict[Danger, float]:
        """The logarithm of the odds of each kind, in [-3, 3]."""
        scores = self.linear.scores(vector)
        bounded = [min(max(STEEPNESS * (score - MIDDLE), -BOUND), BOUND) for score in scores]
        return dict(zip(Danger, bounded, strict=True))


def read_safety(text: str, vector: Vector | None, head: SafetyHead | None) -> Safety | None:
    """The likelier danger, or None where nothing speaks for one. vector: of the text, as `Embedder.query` gives it."""
    told = _told(text)
    cued = _cued(told)
    odds = dict.fromkeys(Danger, UNHEARD) if head is None or vector is None else head.odds(vector)
    odds = {kind: odds[kind] + CUE * (kind in cued) + ASKED * (not told) for kind in Danger}
    kind = max(odds, key=odds.__getitem__)
    chance = round(1 / (1 + math.exp(-odds[kind])), 3)
    return Safety(kind, chance) if chance >= NOTHING else None


async def fit_safety_head(embedder: Embedder, head: Head) -> SafetyHead:
    """head: the router's, whose examples, as those of feelings, are of no danger but where a cue says so.

    Raises EmbeddingUnavailable.
    """
    examples = _shipped().examples
    vectors = await embedder.queries(safety_examples())
    feelings = [text for text in emotion_examples() if not _cued(_told(text))]
    routed = head.vectors[[not _cued(_told(anchor.text)) for anchor in head.anchors.sentences]]
    harmless = np.vstack([routed, await embedder.queries(feelings)])
    labels = [kind for kind, sentences in examples.items() for _ in sentences] + [None] * len(harmless)
    weights = [1.0 if kind else ALIKE for kind in labels[: len(vectors)]] + [1.0] * len(harmless)
    holds = np.array([[label is kind for kind in Danger] for label in labels])
    return SafetyHead(await asyncio.to_thread(fit, np.vstack([vectors, harmless]), holds, np.array(weights)))


def safety_examples() -> list[str]:
    """All that is embedded to fit the head: of each danger in turn, and of neither."""
    return [sentence for sentences in _shipped().examples.values() for sentence in sentences]


@dataclass(frozen=True, slots=True)
class _Shipped:
    """The sentences of each danger and, under None, of neither; and patterns of folded text.

    `asking`: what makes a clause a question about a rule, unless by `happened` it tells what came about.
    """

    examples: Mapping[Danger | None, list[str]]
    cues: Mapping[Danger, re.Pattern[str]]
    asking: re.Pattern[str]
    happened: re.Pattern[str]


@cache
def _shipped() -> _Shipped:
    data = yaml.safe_load((files("agents") / "examples" / "safety.yaml").read_text(encoding="utf-8"))
    cues = data["cues"]
    return _Shipped(
        {**{kind: data[kind] for kind in Danger}, None: data["neither"]},
        {kind: re.compile(f"(?:{cues[kind]})(?!{cues['product']})") for kind in Danger},
        re.compile(cues["asking"]),
        re.compile(cues["happened"]),
    )


def _told(text: str) -> list[str]:
    """The clauses, folded, that are no question about a rule."""
    shipped = _shipped()
    clauses = _CLAUSE.findall(fold(text))
    return [clause for clause in clauses if shipped.happened.search(clause) or not shipped.asking.search(clause)]


def _cued(told: Sequence[str]) -> frozenset[Danger]:
    """The dangers that have a word in one of the clauses."""
    return frozenset(kind for kind, cue in _shipped().cues.items() if any(map(cue.search, told)))
