"""Which passage a message means that comes in the middle of a conversation. Pure.

Nobody decides by its words whether a message leans on what was said before. It is searched as it stands and behind the
questions before it; every passage then has a score in either reading, and may come from what was cited last. A linear
head over these few features orders the passages. Its weights were fitted as a softmax over the candidates of a turn
(L2 .003) on 508 later turns of tests/evaluation/property and samples, with first questions put behind other talk as
changes of subject. On turns of other conversations: right passage first .57, .52 by weights of one company alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.english import is_english
from knowledge.types import Chunk, Context

# Questions that a message is read behind: one loses the subject more often, three bring in an older one.
QUESTIONS = 2
# 那运费呢 leans on what was said before more often than a message of twenty characters.
SHORT_CHARS, SHORT_WIDTH = 10, 3.0
# 押金 fits the word 押金 wherever it stands, and says nothing by that.
FEW_CHARS, FEW_WIDTH = 4.5, 0.7
# Letters of English that say about as much as a Chinese character.
ENGLISH_LETTERS = 3
# Of a turn's own advantage, on the calibration's scale.
BOUND = 1.0
# Candidates among which a share says something; those that a small base lacks count as passages about something else,
# else the only passage there is would answer whatever is asked in a conversation.
FIELD = 25
# How much nearer to the message, on the calibration's scale, another article may be while the talk goes on with the
# one that was cited. In tests/evaluation/products it was -.4 to .5 nearer where the talk went on, .8 to 1.5 where it
# turned.
CLOSE = 0.6
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
    "same document, few characters",
    "told, few characters",
    "alone, few characters",
)
WEIGHTS: NDArray[np.float64] = np.array(
    [3.74, 1.99, 0.43, 1.15, 1.10, 0.98, 0.71, 0.93, 0.27, -0.75, 0.31, 0.29, 0.43, -1.35]
)
# Of the probability that a passage answers: log-odds of its two readings, of the best passage for the message alone,
# and of the share of the first among the candidates. The bias puts 0.6 where 5 % of the answerable turns are refused.
ALONE, TOLD, BEST_ALONE, SHARE, BIAS = 0.10, 0.04, 0.52, 0.26, 1.40


@dataclass(frozen=True, slots=True)
class Readings:
    """Scores of a turn's candidates, shape (candidates,) each: of the message alone, and behind the questions before
    it, as multiples of the distance from unrelated to typical questions above the cutoff; and how much of the
    message's words a candidate covers, in [0, 1].
    """

    alone: NDArray[np.float64]
    in_context: NDArray[np.float64]
    coverage: NDArray[np.float64]
    # Such a score of what is about something else.
    unrelated: float = -0.5


@dataclass(frozen=True, slots=True)
class Odds:
    """Log-odds of the calibrated probabilities of both readings, shape (candidates,) each."""

    alone: NDArray[np.float64]
    in_context: NDArray[np.float64]

    @classmethod
    def from_probabilities(cls, alone: Sequence[float], in_context: Sequence[float]) -> Odds:
        return cls(_compute_log_odds(np.array(alone)), _compute_log_odds(np.array(in_context)))


def build_contextual_message(message: str, context: Context) -> str:
    """Returns the message preceded by its subject and the question before it, or without a subject by the questions
    before it.
    """
    before = (context.subject, *context.questions[-1:]) if context.subject else context.questions[-QUESTIONS:]
    return " ".join((*before, context.message or message))


def compute_features(
    message: str, chunks: Sequence[Chunk], readings: Readings, context: Context
) -> NDArray[np.float64]:
    """Returns the features of every candidate, shape (candidates, len(FEATURES)).

    Curated entries share a file and not a subject: that two of them are in one document says nothing.
    """
    article = np.array([chunk.question is None for chunk in chunks])
    document = np.array([chunk.document.id for chunk in chunks])
    same = (np.isin(document, list(context.documents)) & article).astype(float)
    earlier = (np.isin(document, list(context.earlier - context.documents)) & article).astype(float)
    section = np.array([chunk.section in context.sections for chunk in chunks], dtype=float)
    length = _count_characters(message)
    short = 1 / (1 + math.exp((length - SHORT_CHARS) / SHORT_WIDTH))
    few = 1 / (1 + math.exp((length - FEW_CHARS) / FEW_WIDTH))
    advantage = _measure_advantage(readings.alone, same > 0)
    return np.stack(
        [
            readings.alone,
            readings.in_context,
            same,
            earlier,
            section,
            readings.coverage,
            same * short,
            readings.in_context * short,
            readings.alone * short,
            same * advantage,
            readings.alone * advantage,
            same * few,
            readings.in_context * few,
            readings.alone * few,
        ],
        axis=1,
    )


def is_continued(chunks: Sequence[Chunk], readings: Readings, context: Context) -> bool:
    """Returns whether an article that was cited last is about as near to the message, taken alone, as any other
    article.
    """
    article = np.array([chunk.question is None and not chunk.is_in_view for chunk in chunks])
    cited = np.isin([chunk.document.id for chunk in chunks], list(context.documents)) & article
    others = readings.alone[article & ~cited]
    return bool(cited.any() and readings.alone[cited].max() >= others.max(initial=-np.inf) - CLOSE)


def weigh_candidates(
    message: str, chunks: Sequence[Chunk], readings: Readings, context: Context, odds: Odds
) -> tuple[list[int], NDArray[np.float64]]:
    """Orders the candidates of a message in the middle of a conversation.

    Returns:
        Rows of the candidates, best first, and for each row the probability in [0, 1] that it answers.
    """
    described = compute_features(message, chunks, readings, context)
    scores = described @ WEIGHTS
    shares = np.exp(scores - scores.max())
    absent = max(FIELD - len(chunks), 0)
    shares /= shares.sum() + absent * np.exp(readings.unrelated * WEIGHTS[:2].sum() - scores.max())
    best_first: list[int] = np.argsort(-scores, kind="stable").tolist()
    found = np.maximum(odds.alone, odds.in_context)
    found[best_first[:1]] = odds.alone.max()
    log_odds = ALONE * odds.alone + TOLD * odds.in_context + BEST_ALONE * np.minimum(found, odds.alone.max())
    log_odds += SHARE * _compute_log_odds(shares.max(keepdims=True)) + BIAS
    probabilities: NDArray[np.float64] = 1 / (1 + np.exp(-log_odds))
    return best_first, probabilities


def _compute_log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    bounded = np.clip(probabilities, 0.01, 0.99)
    odds: NDArray[np.float64] = np.log(bounded / (1 - bounded))
    return odds


def _count_characters(message: str) -> float:
    """Returns the length of a message in Chinese characters; English letters count less."""
    return len(message) / ENGLISH_LETTERS if is_english(message) else len(message)


def _measure_advantage(alone: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Returns how much better the message alone fits other documents than the one that was cited."""
    inside = float(alone[same].max()) if same.any() else -BOUND
    outside = float(alone[~same].max()) if not same.all() else -BOUND
    return min(max(outside - inside, -BOUND), BOUND)
