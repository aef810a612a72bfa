"""Where the gate should stand, by questions that are labelled. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.settings import Settings
from app.tuner.ranges import RANGES
from app.tuner.statistics import paired

STEP = 0.01
RESAMPLES = 300
_SEED = 20260301


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A labelled question with the probability that decides whether it passes the gate, 0 where nothing was found."""

    answerable: bool
    probability: float


def calibrated(scored: Sequence[ScoredQuestion], settings: Settings, refusal: float | None) -> dict[str, Any]:
    """The curve over all thresholds within the range, and the one that is recommended.

    refusal: the share of unanswerable questions that has to be refused at least; of the thresholds that do, the lowest
    answers most. Without it the mean of both shares decides. settings: in force now.
    """
    probabilities = np.array([item.probability for item in scored])
    answerable = np.array([item.answerable for item in scored])
    thresholds = np.round(np.arange(RANGES["similarity_threshold"].low, RANGES["similarity_threshold"].high, STEP), 2)
    current = settings.similarity_threshold
    chosen = _best(thresholds, current, probabilities, answerable, refusal)
    low, high = _interval(thresholds, current, probabilities, answerable, refusal)
    right, now = (_right(threshold, probabilities, answerable) for threshold in (chosen, current))
    # Both kinds weigh the same, as they do in the choice: of 210 and 35 questions the few would count for nothing.
    halves = np.where(answerable, 1 / answerable.mean(), 1 / (~answerable).mean()) / 2
    difference = paired(now, right, halves)
    return {
        "answerable": int(answerable.sum()),
        "unanswerable": int((~answerable).sum()),
        "curve": [_point(float(threshold), probabilities, answerable) for threshold in thresholds],
        "current": _point(current, probabilities, answerable),
        "recommended": _point(chosen, probabilities, answerable),
        "interval": {"low": low, "high": high},
        "refusal": refusal,
        "reached": refusal is None or _point(chosen, probabilities, answerable)["refused"] >= refusal,
        "difference": difference.to_json(),
        "values": _values(chosen, settings) if chosen != current else {},
    }


def _best(
    thresholds: NDArray[np.float64],
    current: float,
    probabilities: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    refusal: float | None,
) -> float:
    """The current one where it does as well as any: what makes no difference to these questions is no reason to change
    what customers get. Else in the middle of those that do equally well: it is not the last question before a gap that
    decides.
    """
    *merits, now = _merit(np.append(thresholds, current), probabilities, answerable, refusal)
    merit = np.array(merits)
    if now >= merit.max() - 1e-9:
        return current
    best = np.flatnonzero(merit >= merit.max() - 1e-9)
    end = 0
    while end + 1 < len(best) and best[end + 1] == best[end] + 1:
        end += 1
    return float(thresholds[best[end // 2]])


def _merit(
    thresholds: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    refusal: float | None,
) -> NDArray[np.float64]:
    passing = probabilities[np.newaxis] >= thresholds[:, np.newaxis]
    answered = passing[:, answerable].mean(axis=1)
    refused = (~passing[:, ~answerable]).mean(axis=1)
    merit: NDArray[np.float64] = answered + refused
    if refusal is not None:
        merit = np.where(refused >= refusal, 1 + answered, refused)
    return merit


def _interval(
    thresholds: NDArray[np.float64],
    current: float,
    probabilities: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    refusal: float | None,
) -> tuple[float, float]:
    """Where the recommendation lies for 95 of 100 other sets like this one: resampled, either kind by itself."""
    generator = np.random.default_rng(_SEED)
    kinds = [np.flatnonzero(answerable), np.flatnonzero(~answerable)]
    found = []
    for _ in range(RESAMPLES):
        rows = np.concatenate([generator.choice(kind, len(kind)) for kind in kinds])
        found.append(_best(thresholds, current, probabilities[rows], answerable[rows], refusal))
    low, high = np.percentile(found, (2.5, 97.5))
    return round(float(low), 2), round(float(high), 2)


def _right(threshold: float, probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.equal(probabilities >= threshold, answerable)


def _point(threshold: float, probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]) -> dict[str, float]:
    passing = probabilities >= threshold
    return {
        "threshold": threshold,
        "answered": round(float(passing[answerable].mean()), 4),
        "refused": round(float((~passing[~answerable]).mean()), 4),
    }


def _values(threshold: float, settings: Settings) -> dict[str, float]:
    """What would be set: the other two thresholds move where they would stand on the wrong side."""
    values = {"similarity_threshold": threshold}
    if settings.confident_threshold < threshold:
        values["confident_threshold"] = threshold
    if settings.clarify_threshold > threshold:
        values["clarify_threshold"] = threshold
    return values
