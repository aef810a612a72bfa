"""Recommends the threshold of the gate from labelled questions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.settings import Settings
from app.tuner.ranges import RANGES
from knowledge.evaluation.significance import compare_pair

STEP = 0.01
RESAMPLES = 300
_SEED = 20260301


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A labelled question with the probability that decides whether it passes the gate, 0 where nothing was found."""

    answerable: bool
    probability: float


def calibrate_threshold(scored: Sequence[ScoredQuestion], settings: Settings, refusal: float | None) -> dict[str, Any]:
    """Computes the curve over all thresholds in the range, and recommends one of them.

    Args:
        scored: The labelled questions, of both kinds.
        settings: In force now.
        refusal: The least share of unanswerable questions that has to be refused; of the thresholds that reach it, the
            lowest answers most. None: the mean of both shares decides.

    Returns:
        The result of the report, as JSON.
    """
    probabilities = np.array([item.probability for item in scored])
    answerable = np.array([item.answerable for item in scored])
    thresholds = np.round(np.arange(RANGES["similarity_threshold"].low, RANGES["similarity_threshold"].high, STEP), 2)
    current = settings.similarity_threshold
    chosen = _choose_threshold(thresholds, current, probabilities, answerable, refusal)
    low, high = _estimate_interval(thresholds, current, probabilities, answerable, refusal)
    right, now = (_flag_right_decisions(threshold, probabilities, answerable) for threshold in (chosen, current))
    # Both kinds weigh the same, as they do in the choice: of 210 and 35 questions the few would count for nothing.
    halves = np.where(answerable, 1 / answerable.mean(), 1 / (~answerable).mean()) / 2
    difference = compare_pair(now, right, halves)
    return {
        "answerable": int(answerable.sum()),
        "unanswerable": int((~answerable).sum()),
        "curve": [_build_point(float(threshold), probabilities, answerable) for threshold in thresholds],
        "current": _build_point(current, probabilities, answerable),
        "recommended": _build_point(chosen, probabilities, answerable),
        "interval": {"low": low, "high": high},
        "refusal": refusal,
        "reached": refusal is None or _build_point(chosen, probabilities, answerable)["refused"] >= refusal,
        "difference": difference.to_json(),
        "values": _build_values(chosen, settings) if chosen != current else {},
    }


def _choose_threshold(
    thresholds: NDArray[np.float64],
    current: float,
    probabilities: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    refusal: float | None,
) -> float:
    """Returns the current threshold where no other does better, since what makes no difference to these questions is no
    reason to change what customers get; otherwise the middle of the first run of thresholds that do best, so that not
    a single question decides.
    """
    *merits, now = _score_thresholds(np.append(thresholds, current), probabilities, answerable, refusal)
    merit = np.array(merits)
    if now >= merit.max() - 1e-9:
        return current
    best = np.flatnonzero(merit >= merit.max() - 1e-9)
    end = 0
    while end + 1 < len(best) and best[end + 1] == best[end] + 1:
        end += 1
    return float(thresholds[best[end // 2]])


def _score_thresholds(
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


def _estimate_interval(
    thresholds: NDArray[np.float64],
    current: float,
    probabilities: NDArray[np.float64],
    answerable: NDArray[np.bool_],
    refusal: float | None,
) -> tuple[float, float]:
    """Returns the 95 % interval of the recommendation, by resampling either kind of question by itself."""
    generator = np.random.default_rng(_SEED)
    kinds = [np.flatnonzero(answerable), np.flatnonzero(~answerable)]
    found = []
    for _ in range(RESAMPLES):
        rows = np.concatenate([generator.choice(kind, len(kind)) for kind in kinds])
        found.append(_choose_threshold(thresholds, current, probabilities[rows], answerable[rows], refusal))
    low, high = np.percentile(found, (2.5, 97.5))
    return round(float(low), 2), round(float(high), 2)


def _flag_right_decisions(
    threshold: float, probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    return np.equal(probabilities >= threshold, answerable)


def _build_point(
    threshold: float, probabilities: NDArray[np.float64], answerable: NDArray[np.bool_]
) -> dict[str, float]:
    passing = probabilities >= threshold
    return {
        "threshold": threshold,
        "answered": round(float(passing[answerable].mean()), 4),
        "refused": round(float((~passing[~answerable]).mean()), 4),
    }


def _build_values(threshold: float, settings: Settings) -> dict[str, float]:
    """Returns the parameters to set: the other two thresholds move too where they would be out of order."""
    values = {"similarity_threshold": threshold}
    if settings.confident_threshold < threshold:
        values["confident_threshold"] = threshold
    if settings.clarify_threshold > threshold:
        values["clarify_threshold"] = threshold
    return values
