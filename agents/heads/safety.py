"""Danger to a person and fraud under way, which come before whatever else a message may mean.

Its meaning is judged by a head fitted on `agents/examples/safety.yaml`. Words that are danger by themselves (smoke, a
pretended employee) raise the probability, and speak alone while there is no vector; where they only stand in a
question about a product or a rule (会不会鼓包, 烫伤险赔多少) they say nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from agents.heads.feeling import emotion_examples
from agents.linear import Linear, fit
from agents.routing.head import IntentHead
from agents.understanding.reading import Reading
from agents.understanding.safety import Danger, cued, told
from knowledge.embeddings.base import Embedder
from knowledge.types import Vector
from knowledge.yaml_files import load_yaml

ENDANGERED = 0.5
"""The chance from which a person is taken to be in danger, where the turn is one of distress anyway."""
DANGER = 0.85
"""From which it comes before all else, an answer included: of 872 turns 10 of the 11 above it were in danger, of the 40
between .6 and .85 one in four."""
UNWORDED_DANGER = 0.8
"""From which it is taken up where nothing was found that answers, without a word of danger: of six calmer ones in
conversations four were none. Lower than DANGER, since nothing better is there to be said."""
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


def read_safety(reading: Reading, vector: Vector | None, head: SafetyHead | None) -> Safety | None:
    """The likelier danger, or None where nothing speaks for one. vector: of the message, as `Embedder.query` gives."""
    odds = dict.fromkeys(Danger, UNHEARD) if head is None or vector is None else head.odds(vector)
    odds = {kind: odds[kind] + CUE * (kind in reading.dangers) + ASKED * (not reading.told) for kind in Danger}
    kind = max(odds, key=odds.__getitem__)
    chance = round(1 / (1 + math.exp(-odds[kind])), 3)
    return Safety(kind, chance) if chance >= NOTHING else None


async def fit_safety_head(embedder: Embedder, head: IntentHead) -> SafetyHead:
    """head: the router's, whose examples, as those of feelings, are of no danger but where a cue says so.

    Raises EmbeddingUnavailable.
    """
    examples = _examples()
    vectors = await embedder.queries(safety_examples())
    feelings = [text for text in emotion_examples() if not cued(told(text))]
    routed = head.vectors[[not cued(told(anchor.text)) for anchor in head.anchors.sentences]]
    harmless = np.vstack([routed, await embedder.queries(feelings)])
    labels = [kind for kind, sentences in examples.items() for _ in sentences] + [None] * len(harmless)
    weights = [1.0 if kind else ALIKE for kind in labels[: len(vectors)]] + [1.0] * len(harmless)
    holds = np.array([[label is kind for kind in Danger] for label in labels])
    return SafetyHead(await asyncio.to_thread(fit, np.vstack([vectors, harmless]), holds, np.array(weights)))


def safety_examples() -> list[str]:
    """All that is embedded to fit the head: of each danger in turn, and of neither."""
    return [sentence for sentences in _examples().values() for sentence in sentences]


@cache
def _examples() -> Mapping[Danger | None, list[str]]:
    """The sentences of each danger and, under None, of neither."""
    data = load_yaml((files("agents") / "examples" / "safety.yaml").read_text(encoding="utf-8"))
    return {**{kind: data[kind] for kind in Danger}, None: data["neither"]}
