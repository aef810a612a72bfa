"""Which passage a message means that comes in the middle of a conversation. Pure.

Nobody decides by its words whether a message leans on what was said before. It is searched as it stands and behind the
questions before it; every passage then has a score in either reading, and may come from what was cited last. A linear
head over these few features orders the passages. Its weights were fitted by `scripts/fit_continuity.py`, as a softmax
over the candidates of a turn, on the conversations of tests/evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.types import Chunk, Context

QUESTIONS = 2
"""Questions that a message is read behind: one loses the subject more often, three bring in an older one."""
SHORT_CHARS, SHORT_WIDTH = 10, 3.0
"""那运费呢 leans on what was said before more often than a message of twenty characters."""
BOUND = 1.0
"""Of a turn's own advantage, on the calibration's scale."""
FEATURES = (
    "alone",
    "told",
    "same document",
    "earlier document",
    "same section",
    "coverage",
    "same document, short",
    "told, short",
    "alone, short",
    "same document, advantage of others",
    "alone, advantage of others",
)
WEIGHTS: NDArray[np.float64] = np.array([3.94, 1.76, 1.96, 0.69, 1.07, 1.10, 1.47, 1.01, -0.47, -0.56, 1.21])


@dataclass(frozen=True, slots=True)
class Readings:
    """Scores of a turn's candidates, shape (candidates,) each: of the message alone, and behind the questions before
    it, as multiples of the distance from unrelated to typical questions above the cutoff; and how much of the message's
    words a candidate covers, in [0, 1].
    """

    alone: NDArray[np.float64]
    told: NDArray[np.float64]
    coverage: NDArray[np.float64]


def told(message: str, context: Context) -> str:
    """The message behind the questions before it; itself when there are none."""
    return " ".join((*context.questions[-QUESTIONS:], message))


def features(message: str, chunks: Sequence[Chunk], readings: Readings, context: Context) -> NDArray[np.float64]:
    """Shape (candidates, len(FEATURES)).

    Curated entries share a file and not a subject: that two stand in one document says nothing.
    """
    article = np.array([chunk.question is None for chunk in chunks])
    document = np.array([chunk.document.id for chunk in chunks])
    same = (np.isin(document, list(context.documents)) & article).astype(float)
    earlier = (np.isin(document, list(context.earlier - context.documents)) & article).astype(float)
    section = np.array([chunk.section in context.sections for chunk in chunks], dtype=float)
    short = 1 / (1 + math.exp((len(message) - SHORT_CHARS) / SHORT_WIDTH))
    advantage = _advantage(readings.alone, same > 0)
    return np.stack(
        [
            readings.alone,
            readings.told,
            same,
            earlier,
            section,
            readings.coverage,
            same * short,
            readings.told * short,
            readings.alone * short,
            same * advantage,
            readings.alone * advantage,
        ],
        axis=1,
    )


def order(message: str, chunks: Sequence[Chunk], readings: Readings, context: Context) -> list[int]:
    """Rows of the candidates, best first."""
    scores = features(message, chunks, readings, context) @ WEIGHTS
    best_first: list[int] = np.argsort(-scores, kind="stable").tolist()
    return best_first


def _advantage(alone: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """How much better the message by itself fits other documents than the one that was cited."""
    inside = float(alone[same].max()) if same.any() else -BOUND
    outside = float(alone[~same].max()) if not same.all() else -BOUND
    return min(max(outside - inside, -BOUND), BOUND)
